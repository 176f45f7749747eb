import { describe, expect, it } from 'vitest';
import { coverageOf, lackingIn, namesInAccess } from '../../../src/commands/consent/coverage.ts';
import {
  givenTerms,
  readFundsTerms,
  readTerms,
  type TermsOptions,
} from '../../../src/commands/consent/linked-terms.ts';
import type { Consent } from '../../../src/domain/consent.ts';
import { Psd2Error } from '../../../src/errors.ts';

const NONE: TermsOptions = {
  ...{ account: [], allAccounts: false, listOnly: false, balances: false, transactions: false },
  ...{ once: false, paste: false },
};
/** What comes from standard input, and the time. */
const CONTEXT = {
  readStdin: async () => '5254 1200-0000 3241\n',
  world: { now: () => new Date('2026-11-27T10:00:00Z') },
};
const [ONE, OTHER] = ['DE89370400440532013000', 'FR1420041010050500013M02606'];

/** Terms for these accounts, of which balances and transactions may be read of all by default. */
const dedicated = (accounts: string[], balances = accounts, transactions = accounts) => ({
  access: { type: 'dedicated' as const, accounts, balances, transactions },
});
const chosen = (balances: boolean, transactions: boolean) => ({
  access: { type: 'bank-offered' as const, balances, transactions },
});
const CARDS = ['maskedPan:525412******3241', `${ONE}:EUR`];

describe('the terms that the operator chooses', () => {
  it.each<[Partial<TermsOptions>, object]>([
    [{}, {}],
    [{ allAccounts: true }, { access: { type: 'all-accounts' } }],
    [{ listOnly: true }, { access: { type: 'list-only' } }],
    [{ balances: true }, chosen(true, false)],
    [{ transactions: true }, chosen(false, true)],
    [{ balances: true, transactions: true }, chosen(true, true)],
    [{ account: [ONE, 'DE89 3704 0044 0532 0130 00', OTHER] }, dedicated([ONE, OTHER])],
    [{ account: [ONE], balances: true }, dedicated([ONE], [ONE], [])],
    [{ account: [ONE], transactions: true }, dedicated([ONE], [], [ONE])],
    [{ validUntil: '2027-03-31' }, { validUntil: '2027-03-31' }],
    [{ frequency: '4' }, { frequencyPerDay: 4 }],
    [{ frequency: '9999' }, { frequencyPerDay: 9999 }],
    [{ account: ['maskedPan:525412******3241', `${ONE}:eur`] }, dedicated(CARDS)],
    [{ account: ['pan:-:eur'] }, dedicated(['pan:5254120000003241:EUR'])],
    [{ once: true }, { recurring: false }],
  ])('%j means %j', async (options, terms) => {
    expect(await readTerms(CONTEXT, { ...NONE, ...options })).toEqual(terms);
  });

  const CHOOSE = { hint: 'Choose one.' };
  const BANK_DECIDES = { hint: 'The bank decides what such a consent covers.' };
  const WITH_READINGS = 'cannot be used with --balances or --transactions';
  const TWO = '--all-accounts and --list-only cannot be used together';
  const ALL_AND_LIST = { allAccounts: true, listOnly: true };
  it.each<[Partial<TermsOptions>, string, object]>([
    [{ account: [ONE], allAccounts: true }, '--account and --all-accounts cannot be used together', CHOOSE],
    [ALL_AND_LIST, TWO, CHOOSE],
    [{ account: [ONE], ...ALL_AND_LIST }, `--account and ${TWO}`, CHOOSE],
    [{ allAccounts: true, balances: true }, `--all-accounts ${WITH_READINGS}`, BANK_DECIDES],
    [{ listOnly: true, transactions: true }, `--list-only ${WITH_READINGS}`, BANK_DECIDES],
    [{ once: true, frequency: '1' }, '--once is for one reading, so it cannot be used with --frequency', {}],
  ])('%j is refused: %s', async (options, message, advice) => {
    await expect(readTerms(CONTEXT, { ...NONE, ...options })).rejects.toThrow(
      new Psd2Error('usage', message, advice),
    );
  });

  it.each(['0', '', '01', '-1', '1.5', 'x4', '4x', '10000'])('%j a day is no number', async (frequency) => {
    await expect(readTerms(CONTEXT, { ...NONE, frequency })).rejects.toThrow(
      new Psd2Error('usage', `--frequency ${JSON.stringify(frequency)} is not a number of readings a day`, {
        hint: 'Give a whole number from 1. Most banks allow 4.',
      }),
    );
  });

  it.each<[Partial<TermsOptions>, string]>([
    [{ account: ['DE00'] }, 'invalid_iban'],
    [{ validUntil: '2027-02-30' }, 'invalid_date'],
  ])('%j is refused', async (options, code) => {
    await expect(readTerms(CONTEXT, { ...NONE, ...options })).rejects.toMatchObject({ code });
  });
});

it.each<[Partial<TermsOptions>, string[]]>([
  [{}, []],
  [{ paste: true }, []],
  [{ account: [ONE] }, ['--account']],
  [{ listOnly: true, account: [ONE] }, ['--account', '--list-only']],
  [{ allAccounts: true, validUntil: '', once: true }, ['--all-accounts', '--once', '--valid-until']],
  [{ frequency: '4' }, ['--frequency']],
  [{ cardExpiryDate: '2027-01-31' }, ['--card-expiry-date']],
])('the options %j were given as %j', (options, given) => {
  expect(givenTerms({ ...NONE, ...options }).toSorted()).toEqual(given);
});

describe('a consent for confirmations of funds', () => {
  it.each<[Partial<TermsOptions>, object]>([
    [{ account: [ONE] }, {}],
    [{ account: ['pan:-'] }, { account: 'pan:5254120000003241' }],
    [
      {
        ...{ account: [ONE], cardNumber: '-', cardExpiryDate: '2026-11-27' },
        ...{ cardInformation: ' Gold ', registrationInformation: '5254120000003017' },
      },
      {
        ...{ cardNumber: '5254120000003241', cardExpiryDate: '2026-11-27' },
        ...{ cardInformation: 'Gold', registrationInformation: '5254120000003017' },
      },
    ],
    [{ account: [ONE], cardNumber: '525412******3241' }, { cardNumber: '525412******3241' }],
    [{ account: [ONE], cardNumber: 'X'.repeat(35) }, { cardNumber: 'X'.repeat(35) }],
    [{ account: [ONE], cardNumber: '7' }, { cardNumber: '7' }],
    [
      { account: [ONE], cardInformation: '\u{1F4B3}'.repeat(140) },
      { cardInformation: '\u{1F4B3}'.repeat(140) },
    ],
    [{ account: [ONE], cardInformation: 'x' }, { cardInformation: 'x' }],
    // A contract may have a number as long as that of a card.
    [
      { account: [ONE], registrationInformation: '525412120000' },
      { registrationInformation: '525412120000' },
    ],
  ])('%j is for %j', async (options, access) => {
    expect(await readFundsTerms(CONTEXT, { ...NONE, ...options })).toEqual({
      access: { type: 'funds', account: ONE, ...access },
    });
  });

  const FULL = '5254121234563241';
  const ONE_ACCOUNT =
    'A consent for confirmations of funds is for one account. Name it with --account. Ask for one consent for each account.';
  const TWICE = 'Only one number can come from standard input. Give the others in files: @file.';
  const NO_CARD =
    '--card-number is not the number of a card. It has 1 to 35 digits or letters. "*" stands for those that are not shown.';
  const EXPIRED =
    'The card has expired on 2026-11-26. Give the last day of the card that the customer has now.';
  const whole = (option: string) =>
    `${option} seems to contain a full card number. psd2 would keep it. Leave it out, or mask it: 525412******3241. --card-number @file gives it to the bank.`;
  const noText = (option: string) =>
    `${option} is empty, longer than 140 characters, or has control characters`;
  it.each<[Partial<TermsOptions>, string]>([
    [{ account: [] }, ONE_ACCOUNT],
    [{ account: [ONE, OTHER] }, ONE_ACCOUNT],
    [{ account: ['pan:-'], cardNumber: '-' }, TWICE],
    [{ account: [' PAN:-:eur'], cardNumber: '-' }, TWICE],
    [
      { cardNumber: '5254 1200 0000 3241' },
      'psd2 does not take a full card number from an argument. Give it in a file (--card-number @file) or on standard input (--card-number -), or masked: 525412******3241.',
    ],
    [{ cardNumber: '' }, NO_CARD],
    [{ cardNumber: 'X'.repeat(36) }, NO_CARD],
    [{ cardNumber: '3241_' }, NO_CARD],
    [{ cardNumber: '_3241' }, NO_CARD],
    [{ cardExpiryDate: '2026-11-26' }, EXPIRED],
    [{ cardInformation: '5254-1200.0000 3241' }, whole('--card-information')],
    [{ cardInformation: '525412120000' }, whole('--card-information')],
    [{ cardInformation: 'Gold 5254121234563241' }, whole('--card-information')],
    [{ registrationInformation: FULL }, whole('--registration-information')],
    [{ cardInformation: 'x'.repeat(141) }, noText('--card-information')],
    [{ cardInformation: 'a\tb' }, noText('--card-information')],
    [{ registrationInformation: 'a\ud83d' }, noText('--registration-information')],
    [{ registrationInformation: ' ' }, noText('--registration-information')],
  ])('%j is refused: %s', async (options, expected) => {
    const refusal = await readFundsTerms(CONTEXT, { ...NONE, account: [ONE], ...options }).catch(
      (error: unknown) => error,
    );
    if (!(refusal instanceof Psd2Error)) throw refusal;
    const { message, hint } = refusal;
    expect([message, ...(hint === undefined ? [] : [hint])].join('. ')).toBe(expected);
    expect(message).not.toMatch(/5254 ?1200/);
  });

  it.each<[Partial<TermsOptions>, string]>([
    [{ allAccounts: true }, '--all-accounts'],
    [{ listOnly: true }, '--list-only'],
    [{ balances: true }, '--balances'],
    [{ transactions: true }, '--transactions'],
    [{ validUntil: '2027-01-01' }, '--valid-until'],
    [{ frequency: '4' }, '--frequency'],
    [{ once: true }, '--once'],
  ])('has no %j, which is for readings', async (options, option) => {
    await expect(readFundsTerms(CONTEXT, { ...NONE, account: [ONE], ...options })).rejects.toThrow(
      new Psd2Error('usage', `A consent for confirmations of funds has no ${option}`),
    );
  });

  it.each<[Partial<TermsOptions>, string]>([
    [{ cardNumber: '3241' }, '--card-number'],
    [{ cardExpiryDate: '2027-01-31' }, '--card-expiry-date'],
    [{ cardInformation: 'Gold' }, '--card-information'],
    [{ registrationInformation: '7' }, '--registration-information'],
  ])('alone has %j', async (options, option) => {
    await expect(readTerms(CONTEXT, { ...NONE, ...options })).rejects.toThrow(
      new Psd2Error('usage', `A consent for the account information of a customer has no ${option}`),
    );
  });
});

describe('what a consent covers', () => {
  type Asked = Pick<Consent, 'terms'>;
  const CARD = '525412******3241';
  const all = ['accounts', 'balances', 'transactions'];

  /** A consent for which the operator asked for this. */
  const asking = (terms: NonNullable<Consent['terms']> = {}): Asked => ({ terms });
  const BALANCES = ['accounts', 'balances'];
  const TRANSACTIONS = ['accounts', 'transactions'];
  const covers = (accounts: string[] | null, reads = all) => ({ accounts, reads });
  const noCards = (accounts: string[], reads = all) => ({ accounts, reads, cards: 'none' });

  it.each<[string, Asked, object]>([
    ['nothing said', asking(), covers(null)],
    ['the list alone', asking({ access: { type: 'list-only' } }), covers(null, ['accounts'])],
    ['all accounts', asking({ access: { type: 'all-accounts' } }), covers(null)],
    ['balances of what the customer chooses', asking(chosen(true, false)), covers(null, BALANCES)],
    ['transactions of what the customer chooses', asking(chosen(false, true)), covers(null, TRANSACTIONS)],
    ['accounts', asking(dedicated([ONE, OTHER])), noCards([ONE, OTHER])],
    ['balances of an account', asking(dedicated([ONE], [ONE, OTHER], [])), noCards([ONE, OTHER], BALANCES)],
    ['transactions of an account', asking(dedicated([ONE], [], [ONE])), noCards([ONE], TRANSACTIONS)],
    ['a card', asking(dedicated([ONE, CARD])), covers([ONE, CARD])],
    ['an account in two currencies', asking(dedicated([`${ONE}:USD`, `${ONE}:EUR`])), noCards([ONE])],
    ['confirmations of funds', asking({ access: { type: 'funds', account: ONE } }), covers(null)],
  ])('without an answer of the bank, a consent covers what was asked for: %s', (_, consent, coverage) => {
    for (const access of [null, { accounts: 'all' }, { accounts: [{ maskedPan: CARD }] }, {}])
      expect(coverageOf(consent, { access })).toEqual(coverage);
  });

  const one = [{ iban: ONE }];
  const withCard = [...one, { maskedPan: CARD }];
  const ALL_OF_ONE = { accounts: one, balances: one, transactions: one };
  const [ofOne, balancesOfOne] = [asking(dedicated([ONE])), asking(dedicated([ONE], [ONE], []))];
  const REPEATED = { accounts: [...one, { iban: OTHER }, ...one] };
  it.each<[string, Asked, Record<string, unknown>, object]>([
    ['an account for all readings', asking(dedicated([ONE, OTHER])), ALL_OF_ONE, noCards([ONE])],
    ['balances alone', ofOne, { balances: one }, noCards([ONE], BALANCES)],
    ['transactions', ofOne, { transactions: [{ iban: OTHER }] }, noCards([OTHER], TRANSACTIONS)],
    ['accounts, without a word on what may be read', ofOne, REPEATED, noCards([ONE, OTHER])],
    ['what was not asked for is not read', balancesOfOne, ALL_OF_ONE, noCards([ONE], BALANCES)],
    ['a card beside an account', ofOne, { accounts: withCard }, covers([ONE, CARD])],
    ['a card, of what the customer chose', asking(), { accounts: withCard }, covers([ONE, CARD])],
    ['an account of what the customer chose', asking(), { accounts: one }, covers([ONE])],
    ['a card under the name of an IBAN', ofOne, { accounts: [...one, { iban: CARD }] }, covers([ONE, CARD])],
  ])('a consent covers what the bank says that was granted: %s', (_, consent, access, coverage) => {
    expect(coverageOf(consent, { access })).toEqual(coverage);
  });

  const TWO = { ...ALL_OF_ONE, accounts: REPEATED.accounts };
  const inEuro = (iban: string) => [{ iban, currency: 'EUR' }];
  it.each<[string, Asked, Record<string, unknown> | null, string[]]>([
    ['nothing, if all was granted', asking(dedicated([ONE])), ALL_OF_ONE, []],
    ['nothing, if the bank does not say', asking(dedicated([ONE, OTHER])), null, []],
    ['nothing, if the bank has other names', asking(dedicated([CARD])), { accounts: [{ pan: CARD }] }, []],
    [
      'nothing, if the bank names an account in another way',
      asking(dedicated([ONE])),
      { accounts: [{ iban: ONE.toLowerCase().replace(/(.{4})/g, '$1 ') }] },
      [],
    ],
    ['an account', asking(dedicated([ONE, OTHER])), ALL_OF_ONE, [OTHER]],
    ['the transactions of all', ofOne, { accounts: one, balances: one }, ['transactions']],
    [
      'a part of an account',
      asking(dedicated([ONE, OTHER], [ONE, OTHER], [ONE])),
      TWO,
      [`balances of ${OTHER}`],
    ],
    [
      'what the customer chose less',
      asking(chosen(true, true)),
      { accounts: one, transactions: one },
      ['balances'],
    ],
    [
      'an account in a currency',
      asking(dedicated([`${ONE}:USD`, `${ONE}:EUR`])),
      { accounts: inEuro(ONE) },
      [`${ONE}:USD`],
    ],
    ['nothing, if the bank says no currency', asking(dedicated([`${ONE}:EUR`])), { accounts: one }, []],
    [
      'nothing, in small letters',
      asking(dedicated([`${ONE}:EUR`])),
      { accounts: [{ iban: ONE, currency: 'eur' }] },
      [],
    ],
    ['nothing, if nothing was asked for', asking(), ALL_OF_ONE, []],
    ['nothing, if there were no terms', { terms: null }, ALL_OF_ONE, []],
    ['nothing, if the readings name the accounts', ofOne, { balances: one, transactions: one }, []],
    [
      'the transactions of all, of which the bank names none',
      asking(dedicated([ONE], [ONE], [ONE, OTHER])),
      { balances: one },
      ['transactions'],
    ],
    [
      'an account, two parts of others, and no more of the first',
      asking(dedicated([ONE, OTHER, CARD])),
      { accounts: REPEATED.accounts, balances: one, transactions: [{ iban: OTHER }] },
      [CARD, `balances of ${OTHER}`, `transactions of ${ONE}`],
    ],
  ])('a granted consent lacks %s', (_, consent, access, lacking) => {
    const granted = { ...consent, access, grantedAt: '2026-11-21T10:00:00.000Z' };
    expect(lackingIn(granted)).toEqual(lacking);
    expect(lackingIn({ ...granted, grantedAt: null })).toEqual([]);
  });

  it.each(['iban', 'maskedPan', 'pan', 'bban', 'msisdn', 'currency'])(
    'a bank that names accounts by a %s that is no text says nothing',
    (kind) => {
      const access = { accounts: [{ iban: OTHER, [kind]: 7 }] };
      expect(coverageOf(ofOne, { access })).toEqual(noCards([ONE]));
      expect(namesInAccess(access)).toEqual([]);
      expect(lackingIn({ ...ofOne, access, grantedAt: '2026-11-21T10:00:00.000Z' })).toEqual([]);
    },
  );

  it.each(['maskedPan', 'pan', 'bban', 'msisdn'])('a granted consent names an account by its %s', (kind) => {
    const asked = asking(dedicated([ONE, `${kind}:525412XXXXXX3241`]));
    const lacks = (id: string) =>
      lackingIn({
        ...asked,
        access: { accounts: [...one, { [kind]: id }] },
        grantedAt: '2026-11-21T10:00:00.000Z',
      });
    expect(lacks('5254 12xx xxxx 3241')).toEqual([]);
    expect(lacks('5254 12xx xxxx 3242')).toEqual([`${kind}:525412XXXXXX3241`]);
  });

  const PAN = { pan: 'p', bban: 'b' };
  it.each<[Record<string, unknown> | null, string[]]>([
    [null, []],
    [{}, []],
    [{ accounts: [{}] }, []],
    [{ accounts: [{ iban: ONE, maskedPan: CARD }], balances: one }, [ONE]],
    [{ transactions: [{ maskedPan: CARD, pan: 'p' }, PAN] }, [CARD, 'p']],
    [{ balances: [{ bban: 'b', msisdn: 'm' }, { msisdn: 'm' }] }, ['b', 'm']],
  ])('the bank names in %j the accounts %j', (access, names) => {
    expect(namesInAccess(access)).toEqual(names);
  });
});
