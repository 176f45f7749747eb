import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BankCall } from '../../../../../src/bank/call/call.ts';
import type { BankFile } from '../../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { accountsOf } from '../../../../../src/bank/interfaces/nextgenpsd2/readings/accounts.ts';
import { nextOfPage } from '../../../../../src/bank/interfaces/nextgenpsd2/wire/accounts.ts';
import { pathSegment } from '../../../../../src/bank/interfaces/nextgenpsd2/wire/paths.ts';
import type { Transaction, TransactionPage, TransactionQuery } from '../../../../../src/bank/ports/bank.ts';
import type { ConsentSource, Read } from '../../../../../src/bank/ports/call.ts';
import { parseDate } from '../../../../../src/domain/calendar.ts';
import { Psd2Error } from '../../../../../src/errors.ts';
import { TRANSACTION_ID } from '../client.ts';
import { failureOf, IDS, NOW, noBankHas, refused, type Scripted, said, scriptedCalls } from '../scripted.ts';

// Each reading: what psd2 asks the bank, and what it makes of the answers, without a connection.

type Settings = NonNullable<BankFile['accounts']>;
const IBAN = 'DE89370400440532013000';
const ID = 'a1';
const date = (day: string) => parseDate('--from', day);

interface Consent {
  cards?: 'none';
  reads?: ('accounts' | 'balances' | 'transactions')[];
}

function opened(answers: Scripted[], accounts: Settings = {}, consent: Consent | null = {}) {
  const asked: Read[] = [];
  const listed: unknown[] = [];
  const consents: ConsentSource = {
    async for(what) {
      asked.push(what);
      return { consentId: 'c1', reads: ['accounts', 'balances', 'transactions'], ...consent };
    },
    listed: async (...what) => void listed.push(what),
  };
  const script = scriptedCalls(answers, { accounts }, consent === null ? undefined : consents);
  return { ...script, accounts: accountsOf(script.calls), asked, listed };
}

/** A reading as psd2 sends it. */
const reading = (path: string, reads: Read): BankCall => ({
  ...{ method: 'GET', path, facts: { reads, needsConsent: true, login: false } },
  ...{ transactionId: TRANSACTION_ID, headers: { 'consent-id': 'c1' } },
});
const LIST = reading('/v1/accounts', 'list');
const CARDS = reading('/v1/card-accounts', 'list');

describe('what the bank file says of readings', () => {
  it.each<[Settings, object]>([
    [{}, {}],
    [{ bookingStatuses: ['booked'] }, { lacksPending: true }],
    [{ bookingStatuses: ['booked', 'both'] }, {}],
    [{ delta: 'entryReferenceFrom' }, { readsOn: true }],
  ])('%j', (settings, expected) => {
    const { lacksPending, readsOn, identifiesRows, namesAccounts, isId } = opened([], settings).accounts;
    expect({ lacksPending, readsOn, identifiesRows, namesAccounts }).toEqual({
      ...{ identifiesRows: true, namesAccounts: true, ...expected },
    });
    expect([isId?.('a1'), isId?.('a b')]).toEqual([true, false]);
  });

  it('the first day is as far back as the history of the bank', () => {
    expect(opened([], { historyDays: 30 }).accounts.earliestDay?.()).toBe('2026-10-22');
  });

  it('there are no documents, and no data of the customer', async () => {
    const { accounts } = opened([]);
    const target = { customerId: 'shop', productId: ID };
    const document = { ...target, from: undefined, to: undefined, transactionId: TRANSACTION_ID };
    const asked = (async () => accounts.document(document, 'pdf'))();
    expect(await failureOf(asked)).toEqual(noBankHas('documents of accounts'));
    const customer = accounts.details({ what: 'customer', customerId: 'shop' }, TRANSACTION_ID);
    expect(await failureOf(customer)).toEqual(noBankHas('data of the customer'));
  });

  it('nothing is read without a consent', async () => {
    expect(await failureOf(opened([], {}, null).accounts.list('shop', TRANSACTION_ID))).toEqual({
      code: 'not_logged_in',
      message: 'Readings need the consent of a customer',
      next: [['consent', 'request']],
    });
    const { accounts } = opened([], {}, null);
    for (const reading of [
      accounts.balance('shop', ID, TRANSACTION_ID),
      accounts.details({ what: 'product', customerId: 'shop', productId: ID }, TRANSACTION_ID),
    ])
      expect(await failureOf(reading)).toMatchObject({ code: 'not_logged_in' });
  });
});

describe('the list of accounts', () => {
  const account = (id: string, more: object = {}) => ({
    ...{ accountId: id, productId: id, iban: null, currency: '', name: null, productCode: null },
    ...{ productDescription: null, ...more },
  });
  const MAIN = { resourceId: 'r1', name: 'Main' };

  it.each<[string, object, object]>([
    ['its id', { resourceId: 'r1', iban: IBAN, bban: '0815' }, account('r1', { iban: IBAN, bban: '0815' })],
    ['its IBAN', { iban: IBAN, bban: '0815' }, account(IBAN, { iban: IBAN, bban: '0815' })],
    [
      'its BBAN',
      { bban: '0815', maskedPan: '5254**41' },
      account('0815', { name: '5254**41', bban: '0815', maskedPan: '5254**41' }),
    ],
    [
      'its card number',
      { maskedPan: '5254**41', msisdn: '39' },
      account('5254**41', { name: '5254**41', maskedPan: '5254**41' }),
    ],
    ['its phone', { msisdn: '39' }, account('39')],
    ['a currency', { resourceId: 'r1', currency: 'EUR' }, account('r1', { currency: 'EUR' })],
    ['two names', { ...MAIN, displayName: 'Mine' }, account('r1', { name: 'Mine' })],
    ['a kind', { resourceId: 'r1', cashAccountType: 'CACC' }, account('r1', { productCode: 'CACC' })],
    ['a product', { ...MAIN, product: 'Giro' }, account('r1', { name: 'Main', productDescription: 'Giro' })],
    ['a name', { ...MAIN, maskedPan: 'x*' }, account('r1', { name: 'Main', maskedPan: 'x*' })],
    ['many currencies', { resourceId: 'r1', currency: 'XXX' }, account('r1')],
    ['a status', { resourceId: 'r1', status: ' Blocked' }, account('r1', { status: 'blocked' })],
  ])('an account with %s', async (_, wire, expected) => {
    const { accounts, sent, asked, listed } = opened([said({ accounts: [wire] })], {}, { cards: 'none' });
    expect(await accounts.list('shop', TRANSACTION_ID)).toEqual([expected]);
    expect(sent).toEqual([LIST]);
    expect(asked).toEqual(['list', 'list']);
    expect(listed).toEqual([['c1', [expected]]]);
  });

  it('an account that nothing names is none', async () => {
    const { accounts } = opened([said({ accounts: [{ name: 'Main' }] })]);
    expect(await failureOf(accounts.list('shop', TRANSACTION_ID))).toEqual({
      code: 'bank_answer',
      message:
        "The bank's answer to GET /v1/accounts has no usable accounts.0: expected an account with an id",
      ...{ httpStatus: 200, ...IDS },
    });
  });

  it('has cards, and one with the id of an account is another account', async () => {
    const cardAccounts = [{ resourceId: 'r1' }, { resourceId: 'k1' }];
    const script = opened([said({ accounts: [{ resourceId: 'r1' }] }), said({ cardAccounts })]);
    expect(await script.accounts.list('shop', TRANSACTION_ID)).toEqual([
      account('r1'),
      account('card:r1', { card: true }),
      account('k1', { card: true }),
    ]);
    expect(script.sent).toEqual([LIST, CARDS]);
    expect(script.asked).toEqual(['list', 'list', 'list']);
    expect([...script.calls.cards]).toEqual(['card:r1', 'k1']);
    const cards = [account('card:r1', { kind: 'card' }), account('k1', { kind: 'card' })];
    expect(script.listed).toEqual([['c1', [account('r1'), ...cards]]]);
  });

  it('has an account once that the bank lists twice, and each that shares an IBAN', async () => {
    const twice = [MAIN, { resourceId: 'r1' }];
    const eur = { iban: IBAN, currency: 'EUR' };
    const usd = { iban: IBAN, currency: 'USD' };
    const cardAccounts = [{ resourceId: 'k1' }, { resourceId: 'k1' }];
    const script = opened([said({ accounts: [...twice, eur, usd] }), said({ cardAccounts })]);
    expect(await script.accounts.list('shop', TRANSACTION_ID)).toEqual([
      ...[
        account('r1', { name: 'Main' }),
        account(IBAN, eur),
        account(IBAN, usd),
        account('k1', { card: true }),
      ],
    ]);
  });

  it('has no cards where the bank file says so', async () => {
    const answer = said({ accounts: [{ resourceId: 'r1', product: 'Giro' }] });
    const { accounts, sent, listed } = opened([answer], { cards: 'never' });
    expect(await accounts.list('shop', TRANSACTION_ID)).toEqual([
      account('r1', { productDescription: 'Giro' }),
    ]);
    expect(sent).toEqual([LIST]);
    // Who chooses an account sees a name of it, where there is one.
    expect(listed).toEqual([['c1', [account('r1', { name: 'Giro', productDescription: 'Giro' })]]]);
  });

  it('is noted by its IBANs and currencies, also where an account has none', async () => {
    const answers = [
      said({ accounts: [{ resourceId: 'r1', iban: IBAN, currency: 'EUR' }, { resourceId: 'r2' }] }),
      said({ cardAccounts: [{ resourceId: 'k1', currency: 'USD' }] }),
    ];
    const { accounts, calls } = opened(answers);
    await accounts.list('shop', TRANSACTION_ID);
    expect(Object.fromEntries(calls.ibans)).toEqual({ r1: IBAN, r2: null, k1: null });
    expect(Object.fromEntries(calls.currencies)).toEqual({ r1: 'EUR', r2: '', k1: 'USD' });
  });

  it('is not whole after a fault that is no answer of the bank', async () => {
    const { accounts } = opened([said({ accounts: [] })]);
    await expect(accounts.list('shop', TRANSACTION_ID)).rejects.toBeInstanceOf(TypeError);
  });

  it.each([
    ...[{ status: 403 }, { status: 404 }, { status: 405 }, { status: 501 }],
    ...[refused('CONSENT_INVALID', 401), refused('SERVICE_INVALID', 400)],
  ])('has no cards if the bank says %j', async (answer) => {
    const { accounts, listed } = opened([
      said({ accounts: [{ resourceId: 'r1', product: 'Giro' }] }),
      answer,
    ]);
    expect(await accounts.list('shop', TRANSACTION_ID)).toEqual([
      account('r1', { productDescription: 'Giro' }),
    ]);
    const noted = account('r1', { name: 'Giro', productDescription: 'Giro' });
    expect(listed).toEqual([['c1', [noted], 'none']]);
  });

  it.each([{ status: 400 }, { status: 503 }, refused('CONSENT_EXPIRED', 401)])(
    'is not whole if the bank says %j of the cards',
    async (answer) => {
      const { accounts } = opened([said({ accounts: [] }), answer]);
      expect(await failureOf(accounts.list('shop', TRANSACTION_ID))).toMatchObject({
        httpStatus: answer.status,
      });
    },
  );
});

describe('the balance of an account', () => {
  const money = (words: string) => {
    const [amount, currency = 'EUR'] = words.split(' ');
    return { amount, currency };
  };
  const of = (balanceType: string, amount: string, more: object = {}) => ({
    ...{ balanceType, balanceAmount: money(amount), ...more },
  });
  const TODAY = '2026-11-21';
  const day = (referenceDate: string) => ({ referenceDate });
  const changed = (lastChangeDateTime: string) => ({ lastChangeDateTime });
  const typed = (type: string, words: string, more: object = {}) => ({
    ...{ type, ...money(words), date: null, at: null, ...more },
  });
  const shown = (
    booked: string | null,
    available: string | null,
    asOf: string | null,
    bookedDay?: unknown,
  ) => ({
    ...{ accountBalance: booked && money(booked), availableBalance: available && money(available) },
    ...{ asOf, bookedDay },
  });
  const SETTINGS: Settings = {
    balances: { booked: ['closingBooked', 'expected', 'openingBooked'], available: ['interimAvailable'] },
  };
  const balanceOf = async (balances: unknown, settings: Settings = {}, account?: object) => {
    const script = opened([said({ balances, ...(account && { account }) })], settings);
    return { ...script, balance: await script.accounts.balance('shop', ID, TRANSACTION_ID) };
  };

  /** A balance as the bank sends it, and as psd2 shows it. */
  const both = (type: string, words: string, date: string | null = null, at: string | null = null) => ({
    sent: of(type, words, { ...(date && day(date)), ...(at && changed(at)) }),
    read: typed(type, words, { date, at }),
  });
  const [D18, D19, D20, TIME] = ['2026-11-18', '2026-11-19', '2026-11-20', '2026-11-20T10:00:00Z'];
  const NO_FIRST = [both('expected', '1'), both('other', '2')];
  const CLOSED = both('closingBooked', '2');
  const CLOSED_18 = both('closingBooked', '1', D18);
  const CLOSED_19 = both('closingBooked', '2', D19);
  const TIMED = both('closingBooked', '1', D19, TIME);
  /** Times that are earlier, and texts that are greater. */
  const LATE_TIME = '2026-11-20T10:00:00.5Z';
  const LATE = both('closingBooked', '2', null, LATE_TIME);
  const EARLY_ELSEWHERE = both('closingBooked', '1', null, '2026-11-20T11:00:00+02:00');
  const EARLY_WHOLE = both('closingBooked', '1', null, TIME);
  const OPENED = both('openingBooked', '1', D20);
  const CLOSED_NOW = both('closingBooked', '2', TODAY);
  const [NOW_TIME, COMING] = ['2026-11-21T08:00:00Z', '2026-11-25'];
  const TIMED_NOW = both('expected', '2', null, NOW_TIME);
  const ALL = [both('expected', '1'), both('closingBooked', '2'), both('interimAvailable', '3')];
  const ODD_TIME = {
    sent: of('interimAvailable', '1', { ...day(D19), ...changed('yesterday') }),
    read: typed('interimAvailable', '1', { date: D19 }),
  };
  const IN_BOTH = [CLOSED, both('closingBooked', '2 USD')];
  const NO_TYPE = { sent: { balanceAmount: money('1'), referenceDate: 'today' }, read: typed('', '1') };
  const NO_AMOUNT = { sent: of('closingBooked', '1e5'), read: null };
  const USD = { currency: 'USD' };

  it.each<[string, { sent: object; read: object | null }[], object, object?]>([
    ['the balance of now before one of an unknown day', ALL, shown('1', '3', null, TODAY)],
    ['the second type, if the first is missing', NO_FIRST, shown('1', null, null, TODAY)],
    ['the beginning of a day, with the rows up to the day before', [OPENED], shown('1', null, D20, D19)],
    ['the currency of the account', IN_BOTH, shown('2 USD', null, null, null), USD],
    ['none in another currency, if that is missing', [CLOSED], shown(null, null, null), USD],
    [
      'none, if there are several currencies and nobody says that of the account',
      IN_BOTH,
      shown(null, null, null),
    ],
    ['the time of the balance', [TIMED], shown('1', null, TIME, D19)],
    ['the newest of one type, whatever their order', [CLOSED_18, CLOSED_19], shown('2', null, D19, D19)],
    ['the newest of one type, the other way round', [CLOSED_19, CLOSED_18], shown('2', null, D19, D19)],
    ...[EARLY_ELSEWHERE, EARLY_WHOLE].flatMap((early): [string, (typeof LATE)[], object][] => {
      const late = shown('2', null, LATE_TIME, D20);
      return [
        [`the newest of one day, and not ${early.read.at}`, [early, LATE], late],
        [`the newest of one day, and not ${early.read.at}, the other way round`, [LATE, early], late],
      ];
    }),
    ['the first type of one day', [both('expected', '1'), CLOSED_NOW], shown('2', null, TODAY, TODAY)],
    [
      'the first type of one day, in any order',
      [CLOSED_NOW, both('expected', '1')],
      shown('2', null, TODAY, TODAY),
    ],
    [
      'the one with a time, of one day',
      [both('expected', '1'), TIMED_NOW],
      shown('2', null, NOW_TIME, TODAY),
    ],
    [
      'the one with a time, the other way round',
      [TIMED_NOW, both('expected', '1')],
      shown('2', null, NOW_TIME, TODAY),
    ],
    ['a balance of a day before', [both('expected', '1', D19)], shown('1', null, D19, D19)],
    ['a balance of today', [both('expected', '1', TODAY)], shown('1', null, TODAY, TODAY)],
    ['a balance of a day to come', [both('expected', '1', COMING)], shown('1', null, COMING, TODAY)],
    ['those that can be read', [NO_AMOUNT, CLOSED_19], shown('2', null, D19, D19)],
    ['the day of what is available', [ODD_TIME], shown(null, '1', D19)],
    ['a balance without a type, and an odd day', [NO_TYPE], shown(null, null, null)],
  ])('%s', async (_, balances, expected, account) => {
    const given = balances.map((each) => each.sent);
    const { balance, sent, asked } = await balanceOf(given, SETTINGS, account);
    expect(balance).toEqual({
      ...{ accountId: 'a1', productId: 'a1', accountAvailability: null, accountAvailableCredit: null },
      ...{ ...expected, balances: balances.map(({ read }) => read).filter((read) => read !== null) },
    });
    expect(sent).toEqual([reading('/v1/accounts/a1/balances', { account: 'a1', of: 'balances' })]);
    expect(asked).toEqual([{ account: 'a1', of: 'balances' }]);
  });

  it('is of the types that psd2 calls booked and available, with all digits', async () => {
    const amount = '12345678901234567890.123456789';
    const { balance } = await balanceOf([
      of('expected', '900.10', changed('2026-11-20T15:30:35.035Z')),
      of('interimBooked', amount, day('2026-11-21')),
      of('closingBooked', '500.00', day('2026-11-19')),
    ]);
    expect(balance).toMatchObject({
      ...shown(amount, '900.10', '2026-11-21', '2026-11-21'),
      balances: [
        typed('expected', '900.10', { at: '2026-11-20T15:30:35.035Z' }),
        typed('interimBooked', amount, { date: '2026-11-21' }),
        typed('closingBooked', '500.00', { date: '2026-11-19' }),
      ],
    });
    const body =
      '{"balances":[{"balanceType":"closingBooked","balanceAmount":{"currency":"EUR","amount":12345678901234567.10}}]}';
    expect(await opened([{ body }]).accounts.balance('shop', ID, TRANSACTION_ID)).toMatchObject({
      accountBalance: money('12345678901234567.10'),
    });
  });

  const limit = (creditLimitIncluded: unknown) => ({ creditLimitIncluded });
  it.each<[object, object, object | undefined]>([
    [limit(true), limit('false'), { accountBalance: true, availableBalance: false }],
    [{}, limit(true), { availableBalance: true }],
    [limit(false), {}, { accountBalance: false }],
    [{}, {}, undefined],
  ])('says whether a credit line is in it: %j, %j', async (booked, available, said) => {
    const { balance } = await balanceOf([
      of('interimBooked', '1.00', booked),
      of('interimAvailable', '2.00', available),
    ]);
    expect(balance.creditLimitIncluded).toEqual(said);
    expect(balance.balances?.map(({ creditLimitIncluded }) => creditLimitIncluded)).toEqual([
      said && 'accountBalance' in said ? said.accountBalance : undefined,
      said && 'availableBalance' in said ? said.availableBalance : undefined,
    ]);
  });

  const CLOSING = of('closingBooked', '1.00');
  const INTERIM = of('interimBooked', '1.00');
  const OF_DOLLARS = {
    ...of('interimBooked', 'n/a'),
    balanceAmount: { amount: 'n/a', currency: 'usd' },
  };
  const withLine = of('interimBooked', '1001.00', limit(true));
  it.each([[[withLine, INTERIM]], [[INTERIM, withLine]]])(
    'is the one without a credit line of two that are else the same: %j',
    async (balances) => {
      const { balance } = await balanceOf(balances);
      expect(balance).toMatchObject({ accountBalance: money('1.00') });
    },
  );

  it.each<[string, object[], string, string]>([
    ['a type in capitals', [of(' INTERIMBOOKED ', '1.00')], '1.00', 'interimBooked'],
    ['an amount with a plus sign', [of('closingBooked', '+5.00')], '5.00', 'closingBooked'],
    ['an odd available one', [of('interimAvailable', 'n/a'), CLOSING], '1.00', 'closingBooked'],
    ['an odd older one', [of('closingBooked', 'n/a', day('2026-11-18')), INTERIM], '1.00', 'interimBooked'],
    ['an odd one in another currency', [OF_DOLLARS, CLOSING], '1.00', 'closingBooked'],
    ['an odd one without a type', [{ amount: '1.00' }, INTERIM], '1.00', 'interimBooked'],
    [
      'an odd one of another type, of a later day',
      [of('openingBooked', 'n/a', day('2026-11-22')), INTERIM],
      '1.00',
      'interimBooked',
    ],
    [
      'an odd older one without an amount',
      [{ balanceType: 'closingBooked', ...day(D18) }, INTERIM],
      '1.00',
      'interimBooked',
    ],
    [
      'an odd older one without a currency',
      [{ ...of('closingBooked', 'n/a', day(D18)), balanceAmount: { amount: 'n/a' } }, INTERIM],
      '1.00',
      'interimBooked',
    ],
  ])('can be known with %s', async (_, balances, booked, type) => {
    const { balance } = await balanceOf(balances);
    expect([balance.accountBalance, balance.availableBalance]).toEqual([money(booked), null]);
    expect(balance.balances).toEqual([typed(type, booked)]);
  });

  const inCurrency = (currency: string | undefined) => ({
    ...{ balanceType: 'interimBooked', balanceAmount: { amount: 'n/a', currency } },
  });
  const UNREADABLE = "The bank's answer to the balances of a1 has a booked balance that cannot be read";
  const NO_BALANCE =
    "The bank's answer to GET /v1/accounts/a1/balances has no usable balances: expected a balance";
  it.each<[string, object[], string]>([
    ['booked one', [of('closingBooked', 'n/a'), of('interimAvailable', '2.00')], UNREADABLE],
    ['newest one', [of('interimBooked', 'abc'), of('closingBooked', '9.00', day('2026-11-18'))], UNREADABLE],
    ['one of two of a day', [of('interimBooked', '9.00'), of('interimBooked', 'abc')], UNREADABLE],
    ['one without a type', [{ amount: '1.00' }, of('interimAvailable', '2.00')], UNREADABLE],
    ['one of its first type', [of('closingBooked', 'n/a'), of('interimAvailable', '2.00')], UNREADABLE],
    ['one of its second type', [of('interimBooked', 'n/a'), of('interimAvailable', '2.00')], UNREADABLE],
    ['one in a currency', [inCurrency('XUSD'), CLOSING], UNREADABLE],
    ['one in a currency of three letters', [inCurrency('USDX'), CLOSING], UNREADABLE],
    ['one with a currency', [inCurrency(undefined), CLOSING], UNREADABLE],
    ['one in its own currency', [inCurrency('eur'), CLOSING], UNREADABLE],
    ['only one', [of('interimAvailable', '1e5')], NO_BALANCE],
    ['balance, because there is none', [], NO_BALANCE],
  ])('is unknown if the bank has no %s that psd2 can read', async (_, balances, message) => {
    expect(await failureOf(balanceOf(balances))).toMatchObject({
      ...{ code: 'bank_answer', message, transactionId: TRANSACTION_ID },
    });
  });

  it('can be known with an odd one of a later type and of the same day, and not of the first one', async () => {
    const [interim, closing] = [of('interimBooked', '1.00'), of('closingBooked', '1.00', day(TODAY))];
    const odd = (balance: object) => ({ ...balance, balanceAmount: money('n/a') });
    expect((await balanceOf([odd(interim), closing])).balance.accountBalance).toEqual(money('1.00'));
    expect(await failureOf(balanceOf([odd(closing), interim]))).toMatchObject({ message: UNREADABLE });
  });

  it('is unknown, and the available one known, if no booked one is there or odd', async () => {
    const { balance, calls } = await balanceOf([of('interimAvailable', '2.00'), of('other', 'n/a')]);
    expect([balance.accountBalance, balance.availableBalance]).toEqual([null, money('2.00')]);
    expect(balance).not.toHaveProperty('bookedDay');
    expect(Object.fromEntries(calls.odd.unread)).toEqual({ balances: 1 });
  });

  it('has what cannot be read of it counted', async () => {
    const odd = [of('other', 'n/a'), of('other', 'n/a')];
    const script = opened([
      said({ balances: [CLOSING, ...odd] }),
      said({ balances: [CLOSING] }),
      said({ balances: [CLOSING, ...odd] }),
    ]);
    const counts: unknown[] = [];
    for (let times = 0; times < 3; times += 1) {
      await script.accounts.balance('shop', ID, TRANSACTION_ID);
      counts.push(script.calls.odd.unread.get('balances'));
    }
    expect(counts).toEqual([2, 2, 4]);
    const { calls } = await balanceOf([CLOSING]);
    expect([...calls.odd.unread]).toEqual([]);
  });

  it.each([{ status: 404 }, refused('RESOURCE_UNKNOWN', 403)])(
    'may be that of a card, at its own path: %j',
    async (unknown) => {
      const balances = said({ balances: [of('closingBooked', '1')] });
      const { accounts, sent } = opened([unknown, balances, balances]);
      for (let times = 0; times < 2; times += 1)
        expect(await accounts.balance('shop', ID, TRANSACTION_ID)).toMatchObject({
          accountBalance: money('1'),
        });
      expect(sent.map(({ path }) => path)).toEqual([
        ...['/v1/accounts/a1/balances', '/v1/card-accounts/a1/balances', '/v1/card-accounts/a1/balances'],
      ]);
    },
  );

  it('of a card is at its own path, by the list or by its name', async () => {
    const list = [said({ accounts: [] }), said({ cardAccounts: [{ resourceId: 'k1' }] })];
    const balances = said({ balances: [of('closingBooked', '1')] });
    const { accounts, sent } = opened([...list, balances, balances]);
    await accounts.list('shop', TRANSACTION_ID);
    for (const [accountId, at] of [
      ['k1', 3],
      ['card:a1', 4],
    ] as const) {
      expect(await accounts.balance('shop', accountId, TRANSACTION_ID)).toMatchObject({ accountId });
      expect(sent).toHaveLength(at);
    }
    expect(sent.slice(2).map(({ path }) => path)).toEqual([
      ...['/v1/card-accounts/k1/balances', '/v1/card-accounts/a1/balances'],
    ]);
  });

  it('of a card that a consent knows is at its own path at once', async () => {
    const consents: ConsentSource = {
      for: async () => ({ consentId: 'c1', reads: ['balances'] }),
      isCard: (id) => id === 'k1',
    };
    const answers = ['k1', 'a1'].map(() => said({ balances: [CLOSING] }));
    const { calls, sent } = scriptedCalls(answers, {}, consents);
    for (const id of ['k1', 'a1']) await accountsOf(calls).balance('shop', id, TRANSACTION_ID);
    expect(sent.map(({ path }) => path)).toEqual([
      ...['/v1/card-accounts/k1/balances', '/v1/accounts/a1/balances'],
    ]);
  });

  it('is not looked for among the cards of a bank that has none', async () => {
    const { accounts, sent } = opened([{ status: 404 }], { cards: 'never' });
    expect(await failureOf(accounts.balance('shop', ID, TRANSACTION_ID))).toMatchObject({ httpStatus: 404 });
    expect(sent).toHaveLength(1);
  });

  it('is not that of the account if the search among the cards fails by a fault of psd2', async () => {
    const { accounts } = opened([{ status: 404 }]);
    await expect(accounts.balance('shop', ID, TRANSACTION_ID)).rejects.toBeInstanceOf(TypeError);
  });

  it('that is neither has the error of the account', async () => {
    const { accounts, calls } = opened([refused('RESOURCE_UNKNOWN', 404), { status: 503 }]);
    expect(await failureOf(accounts.balance('shop', ID, TRANSACTION_ID))).toMatchObject({
      bankCode: 'RESOURCE_UNKNOWN',
    });
    expect(calls.cards.size).toBe(0);
  });

  it('is not looked for among the cards after another failure', async () => {
    const { accounts, sent } = opened([{ status: 403 }]);
    expect(await failureOf(accounts.balance('shop', ID, TRANSACTION_ID))).toMatchObject({
      code: 'forbidden',
    });
    expect(sent).toHaveLength(1);
  });
});

describe('the details of an account', () => {
  const PRODUCT = { what: 'product', customerId: 'shop', productId: ID } as const;
  it.each<[Settings, Consent, string]>([
    [{ withBalance: true }, {}, '/v1/accounts/a1?withBalance=true'],
    [{ withBalance: false }, {}, '/v1/accounts/a1'],
    [{ withBalance: true }, { reads: ['accounts'] }, '/v1/accounts/a1'],
  ])('with %j and %j', async (settings, consent, path) => {
    const account = { resourceId: 'a1', own: { x: 1 } };
    const { accounts, sent, asked } = opened([said({ account })], settings, consent);
    expect(await accounts.details(PRODUCT, TRANSACTION_ID)).toEqual(account);
    expect(sent).toEqual([reading(path, { account: 'a1' })]);
    expect(asked).toEqual([{ account: 'a1' }, { account: 'a1' }]);
  });

  it.each([
    { resourceId: 'a1', iban: IBAN, currency: 'EUR' },
    { resourceId: 7, iban: 7, currency: 7 },
  ])('are those of an account of which no list is read: %j', async (account) => {
    const { accounts, sent } = opened([said({ account })]);
    expect(await accounts.details(PRODUCT, TRANSACTION_ID)).toEqual(account);
    expect(sent).toHaveLength(1);
  });

  it('of a card are at its own path, without its balance', async () => {
    const answers = [{ status: 404 }, said({ cardAccount: { resourceId: 'a1' } })];
    const { accounts, sent } = opened(answers, { withBalance: true });
    expect(await accounts.details(PRODUCT, TRANSACTION_ID)).toEqual({ resourceId: 'a1' });
    expect(sent[1]).toEqual(reading('/v1/card-accounts/a1', { account: 'a1' }));
  });

  it('that the bank gives in another form are shown without it, and those of another account not at all', async () => {
    expect(await opened([said({ other: 1 })]).accounts.details(PRODUCT, TRANSACTION_ID)).toEqual({});
    const other = opened([said({ account: { resourceId: 'a2' } })]);
    expect(await failureOf(other.accounts.details(PRODUCT, TRANSACTION_ID))).toMatchObject({
      code: 'bank_answer',
      message: "The bank's answer is about the account a2, not about a1",
    });
  });

  it('of all accounts are the list as the bank has it', async () => {
    const { accounts, sent } = opened([said({ accounts: [{ resourceId: 'a1' }] })]);
    const all = { what: 'products', customerId: 'shop' } as const;
    expect(await accounts.details(all, TRANSACTION_ID)).toMatchObject({ accounts: [{ resourceId: 'a1' }] });
    expect(sent).toEqual([LIST]);
  });
});

const QUERY: TransactionQuery = {
  ...{ customerId: 'shop', productId: 'a1', from: undefined, to: undefined, status: undefined },
  transactionId: TRANSACTION_ID,
};
const AT = '/v1/accounts/a1/transactions';
const row = (id: string, more: object = {}) => ({
  ...{ transactionId: id, transactionAmount: { amount: '-1.00', currency: 'EUR' }, ...more },
});
const page = (booked: object[] | undefined, more: object = {}, headers: Record<string, string> = {}) =>
  said({ transactions: { ...(booked && { booked }), ...more } }, 200, headers);
const next = (href: string) => ({ _links: { next: { href } } });

async function pagesOf(script: ReturnType<typeof opened>, query: Partial<TransactionQuery> = {}) {
  const pages: TransactionPage[] = [];
  for await (const each of script.accounts.pages({ ...QUERY, ...query })) pages.push(each);
  return pages;
}
const refusedParameter = (text: string): Scripted =>
  said({ tppMessages: [{ category: 'ERROR', code: 'PARAMETER_NOT_SUPPORTED', text }] }, 400);
const read = (answers: Scripted[], settings: Settings = {}, query: Partial<TransactionQuery> = {}) =>
  pagesOf(opened(answers, settings), query);
const idsOf = (pages: TransactionPage[]) =>
  pages.map(({ booked, pending }) =>
    [...(booked?.rows ?? []), ...(pending?.rows ?? [])].map(({ transactionId }) => transactionId).join(),
  );

const unusable = (message: string, hint?: string) => ({
  ...{ code: 'bank_answer', message, ...(hint && { hint }), transactionId: TRANSACTION_ID },
});

describe('the transactions of an account', () => {
  const asked = async (settings: Settings, query: Partial<TransactionQuery>) => {
    const script = opened([page([]), page([])], settings);
    await pagesOf(script, query);
    return script.sent.map(({ path }) => path.replace(`${AT}?`, ''));
  };
  const SINCE = 'dateFrom=2026-08-23';
  const BOTH = `bookingStatus=both&${SINCE}`;
  const PENDING = `bookingStatus=pending&${SINCE}`;
  const DELTA: Settings = { delta: 'entryReferenceFrom' };
  const TWICE: Settings = { bookingStatuses: ['booked', 'pending'] };
  const RANGE = { from: date('2026-11-01'), to: date('2026-11-02') };
  it.each<[Settings, Partial<TransactionQuery>, string[]]>([
    [{}, {}, [BOTH]],
    [{}, { status: 'booked' }, [`bookingStatus=booked&${SINCE}`]],
    [{}, RANGE, ['bookingStatus=both&dateFrom=2026-11-01&dateTo=2026-11-02']],
    [{}, { from: date('2026-08-23') }, [BOTH]],
    [{}, { from: date('2026-08-22') }, [BOTH]],
    [{}, { to: date('2026-08-23') }, [`${BOTH}&dateTo=2026-08-23`]],
    [{}, { to: date('2026-08-22') }, []],
    [TWICE, {}, [`bookingStatus=booked&${SINCE}`, PENDING]],
    [{ bookingStatuses: ['pending'] }, {}, [PENDING]],
    [{ bookingStatuses: ['booked'] }, {}, [`bookingStatus=booked&${SINCE}`]],
    [DELTA, {}, [BOTH]],
    [DELTA, { after: 'e1', status: 'pending' }, [PENDING]],
    [DELTA, { after: 'e1', ...RANGE, status: 'booked' }, ['bookingStatus=booked&entryReferenceFrom=e1']],
    [{ bookingStatuses: ['both'] }, { status: 'pending' }, [BOTH]],
    [{ bookingStatuses: ['booked'] }, { status: 'pending' }, []],
    [{}, { after: 'e1' }, [BOTH]],
    [DELTA, { after: 'e 1' }, ['bookingStatus=both&entryReferenceFrom=e+1']],
    [{ ...DELTA, ...TWICE }, { after: 'e1' }, ['bookingStatus=booked&entryReferenceFrom=e1', PENDING]],
    [{ paging: 'page-index' }, {}, [`${BOTH}&pageIndex=0&itemsPerPage=100`]],
  ])('are asked for: %j %j', async (settings, query, paths) => {
    expect(await asked(settings, query)).toEqual(paths);
  });

  it('are one reading, with the consent for transactions', async () => {
    const script = opened([page([row('t1')], next('?page=2')), page([row('t2')])]);
    expect(idsOf(await pagesOf(script))).toEqual(['t1', 't2']);
    const reads = { account: 'a1', of: 'transactions' } as const;
    expect(script.sent).toEqual([
      reading(`${AT}?bookingStatus=both&${SINCE}`, reads),
      reading(`${AT}?page=2`, reads),
    ]);
    expect(script.asked).toEqual([reads]);
  });

  const NONE = { rows: [], total: null, hasMore: false };
  it.each<[Partial<TransactionQuery>, object]>([
    [{}, { booked: NONE, pending: NONE }],
    [{ status: 'booked' }, { booked: NONE }],
  ])('before the history of the bank are none: %j', async (query, expected) => {
    expect(await read([], {}, { to: date('2020-01-01'), ...query })).toEqual([expected]);
  });

  it('are numbered through both lists and all pages', async () => {
    const pages = await read([
      page([row('b1'), row('b2')], { pending: [row('p1')], ...next('?page=2') }),
      page(undefined, { pending: [row('p2')] }),
    ]);
    const numbered = (rows: readonly Transaction[] = []) =>
      rows.map(({ transactionId, index, status }) => `${index} ${transactionId} ${status}`);
    expect(pages.map(({ booked, pending }) => [numbered(booked?.rows), numbered(pending?.rows)])).toEqual([
      [['1 b1 booked', '2 b2 booked'], ['3 p1 pending']],
      [[], ['4 p2 pending']],
    ]);
    expect(pages.map(({ booked }) => booked?.hasMore)).toEqual([true, false]);
  });

  const NO_BOTH = refusedParameter("bookingStatus 'both' is not supported");
  const NO_PENDING = refusedParameter('Booking status pending is not supported');

  it.each<[string, Scripted[], string[], string[] | undefined]>([
    [
      'asks for each',
      [NO_BOTH, page([row('b1')]), said({ transactions: { pending: [row('p1')] } })],
      ['b1', 'p1'],
      ['booked', 'pending'],
    ],
    ['does without pending ones', [NO_BOTH, page([row('b1')]), NO_PENDING], ['b1'], ['booked']],
    [
      'does so after another status',
      [refused('SERVICE_INVALID', 405, 'Booking status is not available'), page([row('b1')]), NO_PENDING],
      ['b1'],
      ['booked'],
    ],
    ['does so after 403', [NO_BOTH, page([row('b1')]), refused('SERVICE_INVALID', 403)], ['b1'], ['booked']],
    ['does so after 405', [NO_BOTH, page([row('b1')]), { status: 405 }], ['b1'], ['booked']],
    [
      'does so after 404',
      [NO_BOTH, page([row('b1')]), refused('RESOURCE_UNKNOWN', 404), { status: 404 }],
      ['b1'],
      ['booked'],
    ],
    [
      'does so after a parameter is refused',
      [NO_BOTH, page([row('b1')]), refused('PARAMETER_NOT_SUPPORTED', 400, 'only booked')],
      ['b1'],
      ['booked'],
    ],
    ['reads nothing from 204', [NO_BOTH, page([row('b1')]), { status: 204 }], ['b1'], ['booked', 'pending']],
  ])('where a bank refuses both lists at once, psd2 %s, and remembers it', async (_, answers, ids, lists) => {
    const taken: unknown[] = [];
    const consents: ConsentSource = {
      for: async () => ({ consentId: 'c1', reads: ['transactions'] }),
      tookLists: async (...what) => void taken.push(what),
    };
    const { calls } = scriptedCalls(answers, {}, consents);
    const query = { customerId: 'shop', productId: ID, from: undefined, to: undefined, status: undefined };
    const rows: (string | null | undefined)[] = [];
    for await (const { booked, pending } of accountsOf(calls).pages({
      ...query,
      transactionId: TRANSACTION_ID,
    }))
      rows.push(...[...(booked?.rows ?? []), ...(pending?.rows ?? [])].map((each) => each.transactionId));
    expect([rows, taken]).toEqual([ids, [['c1', lists]]]);
  });

  const knowing = (lists: ('booked' | 'pending')[]) => {
    const taken: unknown[] = [];
    const consents: ConsentSource = {
      for: async () => ({ consentId: 'c1', reads: ['transactions'] }),
      listsOf: () => lists,
      tookLists: async (...what) => void taken.push(what),
    };
    return { consents, taken };
  };
  it.each<[string, Scripted[], ('booked' | 'pending')[], 'pending' | undefined]>([
    ['if they are refused later', [page([row('b1')]), NO_PENDING], ['booked', 'pending'], undefined],
    ['to who asks for them alone', [], ['booked'], 'pending'],
  ])('that there are no pending ones is noted again %s', async (_, answers, lists, status) => {
    const { consents, taken } = knowing(lists);
    const { calls, sent } = scriptedCalls(answers, {}, consents);
    const of = { customerId: 'shop', productId: ID, from: undefined, to: undefined, status };
    const pages = [];
    for await (const each of accountsOf(calls).pages({ ...of, transactionId: TRANSACTION_ID }))
      pages.push(each);
    expect([sent.length, pages.at(-1), taken]).toEqual([
      ...[answers.length, { pending: { rows: [], total: null, hasMore: false } }],
      [['c1', ['booked']]],
    ]);
  });

  it('404 for pending rows alone does not say that there are none: the account may be unknown', async () => {
    const { consents, taken } = knowing(['booked', 'pending']);
    const { calls } = scriptedCalls(
      [refused('RESOURCE_UNKNOWN', 404)],
      { accounts: { cards: 'never' } },
      consents,
    );
    const of = {
      customerId: 'shop',
      productId: ID,
      from: undefined,
      to: undefined,
      status: 'pending' as const,
    };
    const first = accountsOf(calls)
      .pages({ ...of, transactionId: TRANSACTION_ID })
      .next();
    expect(await failureOf(first)).toMatchObject({ httpStatus: 404 });
    expect(taken).toEqual([]);
  });

  it.each([refusedParameter('dateFrom is too early'), { status: 503 }])(
    'another refusal of both lists stays one',
    async (answer) => {
      expect(await failureOf(read([answer]))).toMatchObject({ httpStatus: answer.status });
    },
  );

  const LINK = { _links: { download: { href: `${AT}/d` } } };

  it.each([LINK, { transactions: LINK }])(
    'are none beside a document that the bank file says is none: %j',
    async (answer) => {
      const { calls } = scriptedCalls(
        [said(answer)],
        { accounts: { download: 'never' } },
        {
          for: async () => ({ consentId: 'c1', reads: ['transactions'] }),
        },
      );
      const of = {
        customerId: 'shop',
        productId: ID,
        from: undefined,
        to: undefined,
        status: 'booked' as const,
      };
      for await (const { booked } of accountsOf(calls).pages({ ...of, transactionId: TRANSACTION_ID }))
        expect(booked?.rows).toEqual([]);
      expect.assertions(1);
    },
  );

  it.each<[string, object]>([
    ['has none', {}],
    ['has no list', { transactions: {} }],
  ])('are unknown if the answer %s', async (_, answer) => {
    for (const settings of [{}, { download: 'never' }] satisfies Settings[])
      expect(await failureOf(read([said(answer)], settings))).toEqual(
        unusable("The bank's answer to the transactions of a1 has none"),
      );
  });

  it.each<[string, object]>([
    ['is a document that is one again', LINK],
    ['has a document in it', { transactions: LINK }],
    ['has no rows beside a document', { transactions: { booked: [], pending: [], ...LINK } }],
  ])('are unknown if the answer %s, and that is no report', async (_, answer) => {
    expect(await failureOf(read([said(answer), said(LINK)]))).toEqual(
      unusable(
        "The document behind the bank's link download is no account report",
        'The list had no transactions, and a link to a document. If that document is never a report, write accounts.download "never" into the bank file.',
      ),
    );
  });

  it('are in the document beside a list without rows, unless the bank file says that none is', async () => {
    const empty = said({ transactions: { booked: [], pending: [], ...LINK } });
    const rowsOf = async (settings: Settings) => {
      const pages = await read([empty, page([row('b1')])], settings);
      return pages.flatMap(({ booked }) => booked?.rows.map(({ transactionId }) => transactionId));
    };
    expect(await rowsOf({})).toEqual(['b1']);
    expect(await rowsOf({ download: 'never' })).toEqual([]);
  });

  const REFUSED_DOCUMENT =
    'The list had no transactions, and a link to a document. If that document is never a report, write accounts.download "never" into the bank file.';

  it.each<[string, Scripted[], string[]]>([
    ['of booked rows', [page([row('b1')], LINK)], ['b1']],
    ['of pending rows', [page([], { pending: [row('p1')], ...LINK })], ['p1']],
    ['of rows, beside the list', [said({ transactions: { booked: [row('b1')] }, ...LINK })], ['b1']],
    [
      'without rows, of which the page before had some',
      [page([row('b1')], next('?page=2')), page([], LINK)],
      ['b1', ''],
    ],
    [
      'without rows, after which another one comes',
      [page([], { _links: { ...LINK._links, ...next('?page=2')._links } }), page([row('b1')])],
      ['', 'b1'],
    ],
    [
      'without rows, beside which is the way to another one',
      [said({ transactions: { booked: [], ...LINK }, ...next('?page=2') }), page([row('b1')])],
      ['', 'b1'],
    ],
  ])('are not looked for in the document beside a list %s', async (_, answers, ids) => {
    expect(idsOf(await read(answers))).toEqual(ids);
  });

  it('in a document may be pending ones alone', async () => {
    expect(idsOf(await read([said(LINK), page(undefined, { pending: [row('p1')] })]))).toEqual(['p1']);
  });

  it.each<[string, Scripted, string | undefined]>([
    ['does not have', { status: 404 }, REFUSED_DOCUMENT],
    [
      'refuses, with advice of its own',
      refused('FORMAT_ERROR', 400),
      `The bank file may say .* ${REFUSED_DOCUMENT}`,
    ],
    ['shows to nobody without a consent', refused('CONSENT_EXPIRED', 401), undefined],
  ])('are unknown if they are in a document that the bank %s', async (_, answer, hint) => {
    const failure = await failureOf(read([said(LINK), answer]));
    if (hint === undefined) expect(JSON.stringify(failure)).not.toContain('accounts.download');
    else expect(failure).toMatchObject({ hint: expect.stringMatching(new RegExp(`^${hint}$`)) });
  });

  it.each(['bank_unreachable', 'interrupted'] as const)(
    'in a document are not given up after an error of the kind %s',
    async (code) => {
      const { calls } = opened([said(LINK)]);
      const failed = new Psd2Error(code, 'It did not work', {});
      let asked = 0;
      const bank: typeof calls.bank = {
        ...calls.bank,
        ask: async (call, answer) => (asked++ === 0 ? calls.bank.ask(call, answer) : Promise.reject(failed)),
      };
      await expect(
        accountsOf({ ...calls, bank })
          .pages(QUERY)
          .next(),
      ).rejects.toBe(failed);
    },
  );

  it('in a document elsewhere are not read', async () => {
    const href = 'https://evil.example/d';
    expect(await failureOf(read([said({ _links: { download: { href } } })]))).toEqual(
      unusable(
        `The bank's link download does not lead to the transactions of a1: ${href}`,
        'psd2 did not follow it. Narrow the range with --from and --to.',
      ),
    );
  });

  it('may be pending ones alone, and none of them', async () => {
    expect(await read([said({ transactions: {} })], {}, { status: 'pending' })).toEqual([{ pending: NONE }]);
  });

  it('of a card are in its own list, at its own path', async () => {
    const script = opened([
      { status: 404 },
      said({ cardTransactions: { booked: [row('k1', { transactionId: null, cardTransactionId: 'k1' })] } }),
    ]);
    expect(idsOf(await pagesOf(script))).toEqual(['k1']);
    expect(script.sent[1]?.path).toBe(`/v1/card-accounts/a1/transactions?bookingStatus=both&${SINCE}`);
  });
});

it.each<[string, minutesAgo: number | undefined, days: number, earliest: string]>([
  ['was never given', undefined, 365, '2026-10-22'],
  ['was given now', 0, 365, '2025-11-21'],
  ['was given 59 minutes ago', 59, 365, '2025-11-21'],
  ['was given an hour ago', 60, 365, '2026-10-22'],
  ['was given now, at a bank that looks back less then', 0, 7, '2026-10-22'],
])('the history, if the consent %s', (_, minutesAgo, days, earliest) => {
  const lastGrantedAt = () =>
    minutesAgo === undefined ? undefined : new Date(NOW.getTime() - minutesAgo * 60_000);
  const consents: ConsentSource = {
    for: () => Promise.reject(new TypeError('Nothing is read')),
    lastGrantedAt,
  };
  const history = { afterSca: { minutes: 60, days } };
  const { calls } = scriptedCalls([], { accounts: { historyDays: 30, history } }, consents);
  expect(accountsOf(calls).earliestDay?.()).toBe(earliest);
  const plain = scriptedCalls([], { accounts: { historyDays: 30 } }, consents).calls;
  expect(accountsOf(plain).earliestDay?.()).toBe('2026-10-22');
});

it.each<[string, ConsentSource | undefined]>([
  ['there is none', undefined],
  ['nobody knows when it was given', { for: () => Promise.reject(new TypeError('Nothing is read')) }],
])('the history of a bank that looks back further after SCA, if of the consent %s', (_, consents) => {
  const history = { afterSca: { minutes: 60, days: 365 } };
  const { calls } = scriptedCalls([], { accounts: { historyDays: 30, history } }, consents);
  expect(accountsOf(calls).earliestDay?.()).toBe('2026-10-22');
});

describe('an id in a path', () => {
  it.each([
    ['a1', 'a1'],
    ['a/b?c#d', 'a%2Fb%3Fc%23d'],
    ['é', '%C3%A9'],
    ['.', '%2E'],
    ['..', '%2E%2E'],
    ['...', '...'],
    ['a.b', 'a.b'],
    ['{x}', '%7Bx%7D'],
    // No address can have half of a character.
    ['a\u{D800}b', 'a%EF%BF%BDb'],
    ['\u{1F600}', '%F0%9F%98%80'],
  ])('%s is one part of it: %s', (id, part) => {
    expect(pathSegment(id)).toBe(part);
  });
});

it.each([
  ['a%2Fb', 'a/b'],
  ['%zz', '%zz'],
  ['%E9', '%E9'],
])('the id in a path that somebody has written is read, or stays as it is: %s', (part, id) => {
  const { calls } = scriptedCalls([]);
  expect(calls.paths.find('GET', `/v1/accounts/${part}/balances?x=1`)).toEqual({
    ...{ operation: 'getBalances', template: '/v1/accounts/{account-id}/balances' },
    values: { 'account-id': id },
  });
});

describe('a row of transactions', () => {
  const ROW = {
    ...{ index: '1', status: 'booked', bookingDate: null, valueDate: null, amount: '-1.00', currency: 'EUR' },
    ...{ description: '', details: '', code: null, transferReference: null, feeCharge: null },
    ...{ transactionId: 't1', entryReference: null, endToEndId: null, counterpartyName: null },
    ...{ counterpartyIban: null, remittance: null, bankTransactionCode: null },
  };
  const received = { transactionAmount: { amount: '1.00', currency: 'EUR' } };
  const both = { creditorName: 'Shop', debtorName: 'Me' };
  const named = (counterpartyName: string) => ({ counterpartyName, description: counterpartyName });
  const text = (words: unknown) => ({ remittanceInformationUnstructured: words });
  const lines = (...words: unknown[]) => ({ remittanceInformationUnstructuredArray: words });
  const structured = (reference: unknown) => ({ remittanceInformationStructured: reference });
  const remitted = (remittance: string) => ({ remittance, description: remittance });
  const referring = (remittanceStructured: string) => ({
    ...{ ...remitted(remittanceStructured), remittanceStructured },
  });
  const DAYS = { bookingDate: '2026-11-01', valueDate: '2026-11-02' };
  const CODE = { bankTransactionCode: 'PMNT' };
  const FEE = { additionalInformation: 'Fee' };
  const RENT = { details: 'Rent', remittance: 'Rent' };
  const REFERENCES = { remittanceInformationStructuredArray: [{ reference: 'A' }, { reference: 'B' }] };
  const TEXTS = { transactionDetails: 'E', ...structured('C'), ...lines('B') };

  it.each<[string, object, object]>([
    ['nothing', {}, {}],
    ['days', DAYS, DAYS],
    ['the day of a card', { transactionDate: '2026-11-03' }, { valueDate: '2026-11-03' }],
    ['both days', { valueDate: '2026-11-02', transactionDate: '2026-11-03' }, { valueDate: '2026-11-02' }],
    ['a day that is a number', { transactionDate: 20261103 }, { valueDate: '2026-11-03' }],
    ['no day of a card', { transactionDate: 7 }, {}],
    ['what was paid', both, named('Shop')],
    ['what was received', { ...both, ...received }, { ...named('Me'), amount: '1.00' }],
    ['one side alone', { debtorName: 'Me' }, named('Me')],
    ['an IBAN alone', { creditorAccount: { iban: IBAN }, debtorName: 'Me' }, { counterpartyIban: IBAN }],
    ['an account without an IBAN', { creditorAccount: { bban: '1' } }, { counterpartyAccount: '1' }],
    ['an account that is a text', { creditorAccount: IBAN }, { counterpartyIban: IBAN }],
    ['an account that is another text', { creditorAccount: 'x' }, { counterpartyAccount: 'x' }],
    ['a name and a text', { creditorName: 'Shop', ...text('Rent') }, { ...named('Shop'), ...RENT }],
    ['a text alone', text('Rent'), remitted('Rent')],
    ['control characters', text('a\u0000b'), remitted('a b')],
    ['an object for a text', text({ reference: 'R' }), remitted('R')],
    ['another object for a text', text({ other: 1 }), {}],
    ['its name again', { creditorName: 'Shop', ...text('Shop') }, { ...named('Shop'), remittance: 'Shop' }],
    ['further information', FEE, { ...FEE, description: 'Fee' }],
    ['further information and a text', { ...FEE, ...text('Rent') }, { ...FEE, description: 'Fee', ...RENT }],
    ['lines', lines('One', ' ', 2, null, { reference: 'R' }, {}), remitted('One 2 R')],
    ['blanks where lines meet', lines('One ', ' two'), remitted('One two')],
    ['a reference that is a text', structured('RF1'), referring('RF1')],
    ['a reference', structured({ reference: 'RF18' }), referring('RF18')],
    ['references', REFERENCES, referring('A B')],
    ['details of a card', { transactionDetails: 'Bar' }, remitted('Bar')],
    ['the first of all texts', TEXTS, { ...remitted('B'), remittanceStructured: 'C' }],
    ['empty lines', { ...lines('', ' '), transactionDetails: 'E' }, remitted('E')],
    ['a hundred lines', lines(...'x'.repeat(101)), remitted([...'x'.repeat(100)].join(' '))],
    ['an end-to-end id', { endToEndId: 'INV-7' }, { endToEndId: 'INV-7', transferReference: 'INV-7' }],
    ['no end-to-end id', { endToEndId: 'NOTPROVIDED' }, { endToEndId: 'NOTPROVIDED' }],
    ['codes', { ...CODE, proprietaryBankTransactionCode: 'OWN' }, { ...CODE, code: 'OWN' }],
    ['the code of the standard', CODE, { ...CODE, code: 'PMNT' }],
    ['an entry', { entryReference: 'e1' }, { entryReference: 'e1' }],
    ['both ids', { cardTransactionId: 'k1' }, {}],
  ])('with %s', async (_, more, expected) => {
    const [first] = await read([page([row('t1', more)])]);
    expect(first?.booked?.rows).toEqual([{ ...ROW, ...expected }]);
  });

  it.each<[string, object, string, string | null]>([
    ['by its IBAN', { iban: 'de23 1000 0000 1234 5678 90' }, '5', null],
    ['by its number', { bban: '100000001234567890' }, '5', null],
    ['by its number, of what was paid', { bban: '1000 0000 1234 5678 90' }, '-5', null],
    ['by another number', { bban: '100000001234567891' }, '5', 'The customer'],
  ])('never names the account itself as the other side: %s', async (_, account, amount, counterpartyName) => {
    const side = amount.startsWith('-') ? 'debtor' : 'creditor';
    const named = { [`${side}Name`]: 'The customer', [`${side}Account`]: account };
    const answer = page([row('t1', { transactionAmount: { amount, currency: 'EUR' }, ...named })]);
    const [first] = await read([answer], {}, { productId: 'DE23100000001234567890' });
    expect(first?.booked?.rows).toMatchObject([{ counterpartyName, counterpartyIban: null }]);
  });
});

describe('the pages of transactions', () => {
  const NARROW = 'Narrow the range with --from and --to.';
  const stuck = unusable("The bank's transaction pages of a1 do not advance", NARROW);
  const NUMBERED: Settings = { paging: 'page-index' };
  const COUNTED: Settings = { paging: { totalPagesHeader: 'X-Total-Pages', pageParameter: 'page' } };
  const rows = (...ids: string[]) => ids.map((id) => row(id));
  const counted = (pages: string, ...ids: string[]) => page(rows(...ids), {}, { 'x-total-pages': pages });
  const OUTSIDE = said({ transactions: { booked: [row('1')] }, ...next('?p=2') });
  const COUNTED_FIRST = page([row('1')], next('?p=2'), { 'x-total-pages': '2' });
  const TWICE_TWO = [page(rows('1', '2')), page(rows('3', '4'))];
  const one = (id: string, href?: string) => page([row(id)], href === undefined ? {} : next(href));
  /** Pages with a row each, by link. */
  const linkedPages = (ids: string) =>
    [...ids].map((id, at) => one(id, at + 1 === ids.length ? undefined : `?p=${at + 2}`));
  const PENDING_ONLY = [...'12345'].map((id) =>
    page([], { pending: rows(id), ...(id !== '5' && next(`?p=${id}`)) }),
  );
  const THREE = page(rows('5', '6', '7'));
  const TEN = Array.from({ length: 10 }, (_, at) => `${at + 1}`);
  const LINKED_OF_3 = page([row('1')], next('?p=2'), { 'x-total-pages': '3' });
  const IN_BOTH_LISTS = page(rows('1'), { pending: rows('p1') });
  const LONGER = ['1,2', '3,4', '5,6,7', '8'];

  it.each<[string, Settings, Scripted[], string[]]>([
    ['by link, to the last', {}, [one('1', '?p=2'), one('2', '?p=3'), one('3')], ['1', '2', '3']],
    ['by a link outside the list', {}, [OUTSIDE, one('2')], ['1', '2']],
    ['by number, to a shorter one', NUMBERED, [...TWICE_TWO, one('5')], ['1,2', '3,4', '5']],
    ['by number, to an empty one', NUMBERED, [one('1'), page([])], ['1', '']],
    ['by number, of which the first is empty', NUMBERED, [page([])], ['']],
    ['by link, at a bank that numbers them', NUMBERED, [one('1', '?p=2'), one('2')], ['1', '2']],
    ['by link, of which the last counts all', {}, [COUNTED_FIRST, counted('2', '2')], ['1', '2']],
    ['by a count', COUNTED, [counted('2', '1'), counted(' 2 ', '2')], ['1', '2']],
    ['by a count of one', COUNTED, [counted('1', '1')], ['1']],
    ['by a count of ten', COUNTED, TEN.map((id) => counted('10', id)), TEN],
    [
      'by a count, after a link',
      COUNTED,
      [LINKED_OF_3, counted('3', '2'), counted('3', '3')],
      ['1', '2', '3'],
    ],
    ['by number, with as many rows in both lists', NUMBERED, [IN_BOTH_LISTS, page([])], ['1,p1', '']],
    ['by a count of none', COUNTED, [counted('0')], ['']],
    ['without a count, if there are no rows', COUNTED, [page([])], ['']],
    ['one of which comes again', {}, [one('1', '?p=2'), one('1', '?p=3'), one('2')], ['1', '1', '2']],
    ['which come again twice, and later twice more', {}, linkedPages('1112113'), [...'1112113']],
    ['of which the last is as the one before', {}, linkedPages('11'), ['1', '1']],
    ['of which only the pending rows differ', {}, PENDING_ONLY, [...'12345']],
    ['by number, of which a later one is longer', NUMBERED, [...TWICE_TWO, THREE, one('8')], LONGER],
    [
      'by a count, of which the last comes again',
      COUNTED,
      [...'122'].map((id) => counted('3', id)),
      [...'122'],
    ],
  ])('%s', async (_, settings, answers, ids) => {
    const script = opened(answers, settings);
    expect(idsOf(await pagesOf(script))).toEqual(ids);
    expect(script.sent).toHaveLength(answers.length);
  });

  it('by number have the number in the query', async () => {
    const script = opened([one('1'), one('2'), page([])], NUMBERED);
    await pagesOf(script);
    const asked = `${AT}?bookingStatus=both&dateFrom=2026-08-23`;
    expect(script.sent.map(({ path }) => path)).toEqual(
      [0, 1, 2].map((index) => `${asked}&pageIndex=${index}&itemsPerPage=100`),
    );
    const other = opened([counted('3', '1'), counted('3', '2'), counted('3', '3')], COUNTED);
    await pagesOf(other);
    expect(other.sent.map(({ path }) => path)).toEqual([asked, `${asked}&page=2`, `${asked}&page=3`]);
  });

  it.each<[string, Settings, Scripted[]]>([
    ['come round again, by number', NUMBERED, ['1', '2', '1', '2', '1'].map((id) => page([row(id)]))],
    ['repeat', {}, [1, 2, 3, 4].map((at) => one('1', `?p=${at}`))],
    ['are the same, whatever the count', COUNTED, [counted('2', '1'), counted('2', '1')]],
    ['are empty without end', {}, Array.from({ length: 101 }, (__, at) => page([], next(`?p=${at}`)))],
  ])('that %s do not advance', async (_, settings, answers) => {
    const script = opened(answers, settings);
    expect(await failureOf(pagesOf(script))).toEqual(stuck);
    expect(script.sent).toHaveLength(answers.length);
  });

  const at = (number: number) =>
    number === 0 ? `${AT}?bookingStatus=both&dateFrom=2026-08-23` : `${AT}/p${number}`;

  it('that lead back to any one before do not advance', async () => {
    const loop = fc.nat({ max: 5 }).chain((last) => fc.tuple(fc.constant(last), fc.nat({ max: last })));
    await fc.assert(
      fc.asyncProperty(loop, async ([last, back]) => {
        const leads = (number: number) => next(at(number === last ? back : number + 1));
        const script = opened(
          Array.from({ length: last + 1 }, (_, each) => page([row(`${each}`)], leads(each))),
        );
        expect(await failureOf(pagesOf(script))).toEqual(stuck);
        expect(script.sent).toHaveLength(last + 1);
      }),
      { numRuns: 30 },
    );
  });

  it('whatever they are, all rows are read once, in the bank’s order', async () => {
    const sizes = fc.record({ booked: fc.nat({ max: 3 }), pending: fc.nat({ max: 2 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(sizes, { minLength: 1, maxLength: 5 }), async (pages) => {
        const ids = (kind: 'booked' | 'pending') =>
          pages.map((counts, number) =>
            Array.from({ length: counts[kind] }, (_, each) => `${kind}-${number}-${each}`),
          );
        const [booked, pending] = [ids('booked'), ids('pending')];
        const answers = pages.map((_, number) =>
          page(rows(...(booked[number] ?? [])), {
            pending: rows(...(pending[number] ?? [])),
            ...(number + 1 < pages.length && next(at(number + 1))),
          }),
        );
        const found = await read(answers);
        const idsIn = (rows: readonly Transaction[] = []) => rows.map(({ transactionId }) => transactionId);
        expect(found.flatMap((each) => idsIn(each.booked?.rows))).toEqual(booked.flat());
        expect(found.flatMap((each) => idsIn(each.pending?.rows))).toEqual(pending.flat());
      }),
      { numRuns: 30 },
    );
  });

  it('of which a hundred are empty go on', async () => {
    const empty = (name: string) => Array.from({ length: 100 }, (_, at) => page([], next(`?${name}=${at}`)));
    expect(await read([...empty('p'), one('1', '?next'), ...empty('q'), one('2')])).toHaveLength(202);
  });

  it.each<[string, Scripted, string]>([
    ['missing', one('1'), 'has no header X-Total-Pages'],
    ['not a number', counted('two', '1'), 'has a header X-Total-Pages that is not a number'],
    ['too large', counted('1234567', '1'), 'has a header X-Total-Pages that is not a number'],
    ['negative', counted('-1'), 'has a header X-Total-Pages that is not a number'],
  ])('cannot be counted if the count is %s', async (_, answer, what) => {
    const hint = 'accounts.paging of the bank file says that this header counts the pages.';
    expect(await failureOf(read([answer], COUNTED))).toEqual(
      unusable(`The bank's answer to the transactions of a1 ${what}`, hint),
    );
  });

  it.each(['x-total-pages', 'total-pages', 'totalpages'])(
    'are more than it links to by its %s',
    async (header) => {
      const hint = `Its header ${header} counts them: set accounts.paging in the bank file.`;
      expect(await failureOf(read([page([row('1')], {}, { [header]: '2' })]))).toEqual(
        unusable('The bank has more pages of transactions of a1 than it links to', hint),
      );
    },
  );

  it('are more than it links to, also after some links', async () => {
    const answers = [page([row('1')], next('?p=2')), page([row('2')], {}, { 'x-total-pages': '3' })];
    expect(await failureOf(read(answers))).toMatchObject({
      message: 'The bank has more pages of transactions of a1 than it links to',
    });
  });

  it.each([
    ['x-total-pages', '1'],
    ['x-total-pages', 'many'],
    ['my-x-total-pages', '2'],
    ['total-pages-of-all', '2'],
  ])('are all of them if its header %s says %s', async (header, count) => {
    expect(await read([page([row('1')], {}, { [header]: count })])).toHaveLength(1);
  });

  it.each([
    'https://evil.example/x?page=2',
    '/v1/accounts/a2/transactions?page=2',
    `${AT}/..%2f..%2fa2%2ftransactions?page=2`,
  ])('of another account, by the link %s, are not read', async (href) => {
    const hint = 'psd2 did not follow it. Narrow the range with --from and --to.';
    const script = opened([one('1', href)]);
    expect(await failureOf(pagesOf(script))).toEqual(
      unusable(`The bank's link next does not lead to the transactions of a1: ${href}`, hint),
    );
    expect(script.sent).toHaveLength(1);
  });

  const ANY = 'application/json, application/xml, text/plain, */*;q=0.1';
  it.each([
    ['next', 'http://xs2a:8080/inner/v1/accounts/a1/transactions/page/2?tenant=%2f', '/page/2?tenant=%2f'],
    ['download', { href: `${AT}/d/` }, '/d/'],
  ])('by the link %s to %j are called at the own address', async (name, link, below) => {
    const first =
      name === 'next' ? page([row('1')], { _links: { next: link } }) : said({ _links: { [name]: link } });
    const script = opened([first, one('2')]);
    await pagesOf(script);
    expect(script.sent[1]).toEqual({
      ...{ ...script.sent[0], path: `${AT}${below}` },
      ...(name === 'download' && { headers: { 'consent-id': 'c1', accept: ANY } }),
    });
    expect([...script.calls.odd.rewritten]).toEqual(name === 'next' ? ['next'] : []);
  });

  it.each<[unknown, string | null]>([
    [{ transactions: next('/a'), cardTransactions: next('/b'), ...next('/c') }, '/a'],
    [{ cardTransactions: next('/b'), ...next('/c') }, '/b'],
    [{ transactions: {}, _links: { next: ' /c ' } }, '/c'],
    [{ transactions: 'none', ...next('/c') }, '/c'],
    [{ _links: { next: { href: 7 } } }, null],
    [{ _links: 'none' }, null],
    [{}, null],
    ['none', null],
  ])('of any list are found: %j', (json, href) => {
    expect(nextOfPage(json)).toBe(href);
  });
});
