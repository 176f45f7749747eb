import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { BankCall } from '../../../src/bank/call/call.ts';
import type { Read } from '../../../src/bank/ports/call.ts';
import type { ConsentDetails } from '../../../src/bank/ports/customer.ts';
import type { Context } from '../../../src/commands/context.ts';
import { debitedAccount, looksLikeIban } from '../../../src/commands/open/debited-account.ts';
import { noticingEnds } from '../../../src/commands/open/ended-consent.ts';
import { covers, dropConsent, fundsConsentFor, readKept } from '../../../src/commands/open/kept-customer.ts';
import { withdrawnConsents, withdrawnFunds } from '../../../src/commands/open/withdrawn.ts';
import { withDebtor } from '../../../src/commands/transfer/debtor.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import type { Consent, ConsentEvent } from '../../../src/domain/consent.ts';
import { isAccountId, paymentHolder } from '../../../src/domain/identifiers.ts';
import { type ErrorContext, Psd2Error } from '../../../src/errors.ts';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import type { Customers, KeptConsent } from '../../../src/store/ports/customers.ts';
import { transferOrder } from '../../domain/orders.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { granting } from '../../store/whole-store.ts';
import { storeConsentFlow } from '../access.ts';
import { openCommand } from '../command.ts';
import { callsTo, type Outcome, reading, statusOf } from './calls.ts';

const temporary = temporaryFolder();
const day = (text: string) => parseDate('a day', text);
/** In Rome it is the 22nd already. */
const NOW = '2026-11-21T23:30:00.000Z';
const [A, B] = ['IT89F0999001600000010482620', 'IT31P0999001600000010482638'];

const account = (accountId: string, iban: string | null = null) => ({ accountId, iban });
const LISTED = [account('id-of-a', A)];
const CONSENT: KeptConsent = {
  ...{ flow: 'co-0', consentId: 'c0', accounts: null, reads: ['accounts', 'balances', 'transactions'] },
  ...{ validUntil: null, recurring: true, frequencyPerDay: 4, grantedAt: NOW },
};

async function keptOf(...given: Partial<KeptConsent>[]) {
  const { context, said } = openCommand(newConfigFolder(temporary), NOW);
  const { customers } = await context.store();
  const consents = given.map(
    (each, index): KeptConsent => ({
      ...{ ...CONSENT, flow: `co-${index}`, consentId: `c${index}` },
      // The newest first.
      ...{ grantedAt: `2026-11-0${9 - index}T00:00:00.000Z`, ...each },
    }),
  );
  await customers.change('ada', (before) => ({ ...before, consents }));
  const kept = () => customers.read('ada');
  return { customers, kept, said, consents: (await readKept(context, customers, 'ada')).consents };
}

async function consentsOf(...given: Partial<KeptConsent>[]) {
  return (await keptOf(...given)).consents;
}

const OF_A_LISTED: Partial<KeptConsent> = { accounts: [A], listed: LISTED };
const OF_B = { account: 'id-of-b' };
const LIST: Partial<KeptConsent> = { reads: ['accounts'] };
const BALANCES: Partial<KeptConsent> = { reads: ['accounts', 'balances'] };
it.each<[string, Partial<KeptConsent>[], Read, string]>([
  ['the newest', [{}, {}], 'list', 'c0'],
  ['the one for all accounts, for their list', [{ accounts: [A] }, {}], 'list', 'c1'],
  ['the one that names the account', [{ accounts: [A] }, { accounts: [B] }], { account: B }, 'c1'],
  ['the one for all accounts, for one that none names', [{ accounts: [A] }, {}], { account: B }, 'c1'],
  ['one that reads more than the list', [{ reads: ['accounts'] }, {}], { account: A }, 'c1'],
  ['any, because only the bank knows', [{ accounts: [A] }], { account: 'id-of-a' }, 'c0'],
  ['perhaps the right one, before one that is not', [OF_A_LISTED, { accounts: [B] }], OF_B, 'c1'],
  ['one for all accounts, before perhaps the right one', [{ accounts: [A] }, {}], OF_B, 'c1'],
  ['one that reads more, even if it may cover none', [LIST, { accounts: [A] }], { account: B }, 'c1'],
  ['one that reads what is asked', [BALANCES, {}], { account: A, of: 'transactions' }, 'c1'],
  ['one whose last day is today at the bank', [{ validUntil: day('2026-11-22') }], 'list', 'c0'],
  ['none that ended yesterday at the bank', [{ validUntil: day('2026-11-21') }, {}], 'list', 'c1'],
])('a reading takes %s', async (_, kept, what, consentId) => {
  expect(await (await consentsOf(...kept)).for(what)).toMatchObject({ consentId });
});

it('a list tells which consent covers an account', async () => {
  const consents = await consentsOf({ accounts: [A] }, { accounts: [B] });
  await consents.listed?.('c0', LISTED);
  await consents.listed?.('c1', [account('id-of-b', B), account('card')]);
  const of = async (id: string) => (await consents.for({ account: id })).consentId;
  expect([await of('id-of-a'), await of('id-of-b'), await of('card')]).toEqual(['c0', 'c1', 'c1']);
});

it.each<[string, readonly string[] | null, boolean]>([
  ['names another account', [A], true],
  ['names one of its parts', [`${A}:EUR`], true],
  ['names all of them', [A, B], false],
  ['is for all accounts', null, false],
  ['names accounts otherwise', [A, 'bban:123'], false],
])('accounts that a consent does not name are told once: it %s', async (_, accounts, isTold) => {
  const { consents, said } = await keptOf({ accounts });
  const listed = [A, B, null].map((iban, index) => ({ accountId: `id-${index}`, iban }));
  for (const _ of ['once', 'again']) await consents.listed?.('c0', listed);
  const told = said().split(`The bank lists accounts that the consent c0 does not name: ${B}.`);
  expect(told).toHaveLength(isTold ? 2 : 1);
});

it('a consent to which the bank refuses cards is noted, and which ids are cards', async () => {
  const { consents, kept } = await keptOf({});
  const listed = [account('a', A), { ...account('k'), kind: 'card' as const }];
  await consents.listed?.('c0', listed);
  expect(await consents.for('list')).not.toHaveProperty('cards');
  expect(['a', 'k', 'x'].map((id) => consents.isCard?.(id))).toEqual([false, true, false]);
  await consents.listed?.('c0', listed, 'none');
  expect(await consents.for('list')).toMatchObject({ cards: 'none' });
  expect((await kept())?.consents[0]).toMatchObject({ cards: 'none', listed });
});

it('what a list had is kept once, and stays with the customer when the consent has gone', async () => {
  const { context } = openCommand(newConfigFolder(temporary), NOW);
  const { customers } = await context.store();
  await customers.change('ada', (before) => ({ ...before, consents: [{ ...CONSENT, accounts: [A] }] }));
  const change = vi.spyOn(customers, 'change');
  for (const _ of ['first', 'second']) {
    const { consents } = await readKept(context, customers, 'ada');
    for (const __ of ['first', 'second']) await consents.listed?.('c0', [account('a', A)]);
  }
  expect(change).toHaveBeenCalledTimes(1);
  await customers.change('ada', (before) => ({ ...before, consents: [] }));
  expect(await customers.read('ada')).toMatchObject({ accounts: [account('a', A)] });
});

it.each<[string, Partial<KeptConsent>, string, boolean | undefined]>([
  ['one that it names', { accounts: [A] }, 'IT89 F099 9001 6000 0001 0482 620', true],
  ['one whose IBAN it names', { accounts: [A] }, 'id-of-a', true],
  ['one whose IBAN it does not name', { accounts: [A] }, 'id-of-b', false],
  ['an IBAN that it does not name', { accounts: [A] }, B, false],
  ['one that no list had', { accounts: [A] }, 'id-of-c', undefined],
  ['one that its own list lacks', { accounts: [A], listed: LISTED }, 'id-of-c', false],
  ['one without an IBAN in its list', { accounts: [A], listed: [...LISTED, account('card')] }, 'card', true],
  ['no IBAN that one of its list has another of', { accounts: [A], listed: LISTED }, B, false],
  ['no IBAN of a country without known accounts', { accounts: [A] }, 'DE89370400440532013000', false],
  ['no IBAN of the shortest kind', { accounts: [A] }, 'NO9386011117947', false],
  ['perhaps an id that begins like an IBAN', { accounts: [A] }, 'NO938601111794', undefined],
  ['perhaps an id that ends like an IBAN', { accounts: [A] }, '1NO9386011117947', undefined],
  ['perhaps an id with more than an IBAN', { accounts: [A] }, 'NO9386011117947-1', undefined],
  ['perhaps an id with one digit only', { accounts: [A] }, 'NO9X86011117947', undefined],
  ['any, if it names none', { accounts: null, listed: LISTED }, 'id-of-c', undefined],
])('a consent covers %s', (_, given, id, expected) => {
  const consent = { ...CONSENT, ...given };
  const psu = { id: null, idType: null, corporateId: null, corporateIdType: null };
  const accounts = [...LISTED, account('id-of-b', B)];
  expect(covers(consent, id, { psu, consents: [consent], accounts })).toBe(expected);
});

const ASK = { hint: 'Ask the customer for one:', next: [['consent', 'request', '--customer', 'ada']] };
const NO_VALID_ONE = {
  ...{ code: 'not_logged_in', ...ASK },
  message: 'The customer ada has no valid consent, so psd2 cannot read accounts',
};
const noneFor = (what: string) => ({
  ...{ code: 'not_logged_in', ...ASK, refusal: 'other' },
  message: `The consent of the customer ada does not cover ${what}`,
});
it.each<[string, Partial<KeptConsent>[], Read, object]>([
  ['who has none left', [], 'list', NO_VALID_ONE],
  ['who has none left', [], { account: A, of: 'balances' }, NO_VALID_ONE],
  ['whose consent is over', [{ validUntil: day('2026-11-21') }], 'list', NO_VALID_ONE],
  ['with one for the list', [LIST], { account: A, of: 'balances' }, noneFor('balances')],
  ['with one for the list', [LIST], { account: A, of: 'transactions' }, noneFor('transactions')],
])('a customer %s (%j) is asked for another one for the reading %j', async (_, kept, what, failure) => {
  await expect((await consentsOf(...kept)).for(what)).rejects.toMatchObject(failure);
});

it('a customer who is new is asked for the first one, and the refusal names those that psd2 knows', async () => {
  const { context } = openCommand(newConfigFolder(temporary), NOW);
  const { customers } = await context.store();
  const { consents } = await readKept(context, customers, 'default');
  const next = [['consent', 'request', '--customer', 'default']];
  await expect(consents.for('list')).rejects.toMatchObject({
    ...{ code: 'not_logged_in', hint: 'Ask the customer for one:', next },
    message: expect.stringContaining('has given no consent,'),
  });
  await customers.change('bob', (kept) => kept);
  await expect(consents.for('list')).rejects.toMatchObject({
    code: 'not_logged_in',
    hint: 'Other customers: bob. Name one with --customer, or ask default for a consent:',
    next,
  });
});

const ONCE: Partial<KeptConsent> = { recurring: false };
it('a consent for one reading that is used up gives way to another one that may read the same', async () => {
  const consents = await consentsOf(ONCE, { accounts: [B] });
  const used = async (what: Read) => (await consents.for(what)).consentId;
  expect(await used({ account: A })).toBe('c0');
  expect(await consents.instead('c0', { account: A })).toBeUndefined();
  expect(await consents.instead('c0', { account: B, of: 'balances' })).toMatchObject({ consentId: 'c1' });
  // Nothing else covers A: only the bank knows what is left of the first.
  const now = [await used('list'), await used({ account: B }), await used({ account: A })];
  expect(now).toEqual(['c1', 'c1', 'c0']);
});

it.each<[string, Partial<KeptConsent>[], string, Read, string?]>([
  ['a recurring consent by none', [{}, ONCE, {}], 'c0', 'list'],
  ['a consent that psd2 does not keep by none', [{}, ONCE, {}], 'no-such-consent', 'list'],
  ['a consent for one reading by a recurring one', [{}, ONCE, {}], 'c1', 'list', 'c0'],
  ['a consent for one reading by none for the list alone', [ONCE, LIST], 'c0', { account: A }],
  ['a consent for one reading by one that reads more', [ONCE, BALANCES], 'c0', { account: A }, 'c1'],
])('if it is used up, psd2 replaces %s', async (_, kept, used, what, other) => {
  expect((await (await consentsOf(...kept)).instead(used, what))?.consentId).toBe(other);
});

it('at most 1000 accounts of a customer are kept, and no list with more', async () => {
  const { customers, consents, kept } = await keptOf({ accounts: [A] });
  const many = (count: number, from = 0) =>
    Array.from({ length: count }, (_, index) => account(`id-${from + index}`));
  await consents.listed?.('c0', many(1001));
  expect((await kept())?.accounts).toBeUndefined();
  await consents.listed?.('c0', many(1000));
  expect((await kept())?.accounts).toHaveLength(1000);
  await consents.listed?.('c0', many(3, 2000));
  const accounts = (await kept())?.accounts ?? [];
  expect(accounts.slice(0, 4)).toEqual([...many(3, 2000), ...many(1)]);
  expect([accounts.length, (await kept())?.consents[0]?.listed]).toEqual([1000, many(3, 2000)]);
  expect(await customers.list()).toEqual(['ada']);
});

it.each([
  ['another IBAN', [account('a', B), account('b')]],
  ['one account more', [account('a', A), account('b'), account('c', B)]],
  ['one account less', [account('a', A)]],
  ['another id', [account('a', A), account('c')]],
])('a list with %s than before is kept', async (_, later) => {
  const { consents, kept } = await keptOf({ accounts: [A] }, { accounts: [B] });
  const other = [account('x', B)];
  await consents.listed?.('c1', other);
  await consents.listed?.('c0', [account('a', A), account('b')]);
  await consents.listed?.('c0', later);
  expect((await kept())?.consents.map(({ listed }) => listed)).toEqual([later, other]);
  const ids = (await kept())?.accounts?.map(({ accountId }) => accountId) ?? [];
  expect(ids.slice(0, later.length)).toEqual(later.map(({ accountId }) => accountId));
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toContain('x');
});

it('a list that another consent of the customer had, too, is kept with its own', async () => {
  const { consents, kept } = await keptOf({ accounts: [A] }, { accounts: [A] });
  const list = [account('a', A)];
  await consents.listed?.('c0', list);
  await consents.listed?.('c1', list);
  expect((await kept())?.consents.map(({ listed }) => listed)).toEqual([list, list]);
});

it('if a list cannot be kept, the reading goes on; an interruption and a fault of psd2 do not pass', async () => {
  const { customers, consents } = await keptOf({ accounts: [A] });
  const change = vi.spyOn(customers, 'change');
  const listed = async (error: Error) => {
    change.mockRejectedValueOnce(error);
    await consents.listed?.('c0', [account(error.message, A)]);
  };
  await listed(new Psd2Error('config', 'the record is damaged'));
  await expect(listed(new Psd2Error('interrupted', 'Ctrl-C'))).rejects.toThrow('Ctrl-C');
  await expect(listed(new TypeError('a fault'))).rejects.toThrow('a fault');
});

it('a consent that has ended is dropped, and no other; without it, nothing is written', async () => {
  const { customers, kept } = await keptOf({}, {}, {});
  const change = vi.spyOn(customers, 'change');
  const erase = vi.fn(async () => {});
  const drop = (customerId: string, resourceId: string, terms: Consent['terms'] = null) =>
    dropConsent({ customers, tokens: { erase } }, { customerId, resourceId, transactionId: 'a', terms });
  await drop('bob', 'c1');
  await drop('ada', 'no-such-consent');
  expect(change).not.toHaveBeenCalled();
  await drop('ada', 'c1');
  expect((await kept())?.consents.map(({ consentId }) => consentId)).toEqual(['c0', 'c2']);
  expect(erase).not.toHaveBeenCalled();
  // One for confirmations of funds may have tokens of its own.
  await drop('ada', 'f1', { access: { type: 'funds', account: A } });
  expect(erase).toHaveBeenCalledWith(paymentHolder('a'));
});

it.each<[asked: string, kept: string[], found: string | null]>([
  [A, [A], A],
  [A, [B], null],
  [A, [], null],
  [`${A}:EUR`, [A, `${A}:EUR`], `${A}:EUR`],
  [`${A}:EUR`, [`${A}:USD`, A], A],
  [`${A}:EUR`, [`${A}:USD`], null],
  [A, [`${A}:EUR`, A], A],
  [A, [`${B}:EUR`, `${A}:EUR`], `${A}:EUR`],
  [A, [`${A}:EUR`, `${A}:USD`], `${A}:EUR`],
  ['bban:7', [A, 'msisdn:7', 'bban:7'], 'bban:7'],
])('the consent for confirmations of funds of %s among %j is that of %s', async (asked, accounts, found) => {
  const { context } = openCommand(newConfigFolder(temporary), NOW);
  const { customers } = await context.store();
  const funds = accounts.map((each, index) => ({
    ...{ flow: `co-${index}`, consentId: `f${index}`, transactionId: 't', account: each, validUntil: null },
    // The newest first.
    grantedAt: `2026-11-0${9 - index}T00:00:00.000Z`,
  }));
  await customers.change('ada', (before) => ({ ...before, funds }));
  const kept = await customers.read('ada');
  expect(fundsConsentFor(kept, asked)?.account ?? null).toBe(found);
  expect(fundsConsentFor(undefined, asked)).toBeUndefined();
});

describe('the account that a payment debits', () => {
  const ACCOUNTS = [account('acc-1', A), account('card-1')];

  async function opened() {
    const { context } = openCommand(newConfigFolder(temporary), NOW);
    const { customers } = await context.store();
    await customers.change('ada', granting('co-1'));
    return { context, customers };
  }

  /** Reads the list as the interface does, which notes it. @param meanwhile what happens while the bank answers */
  function listing(context: Context, customers: Customers, meanwhile = async () => {}) {
    return async () => {
      const { consents } = await readKept(context, customers, 'ada');
      const { consentId } = await consents.for('list');
      await meanwhile();
      await consents.listed?.(consentId, ACCOUNTS);
      return ACCOUNTS;
    };
  }

  it('asks once for what the bank lists with the consent', async () => {
    const { context, customers } = await opened();
    expect(await debitedAccount(context, 'ada', 'acc-1', listing(context, customers))).toEqual(ACCOUNTS[0]);
    const again = () => Promise.reject(new Error('The bank was asked again'));
    expect(await debitedAccount(context, 'ada', A.toLowerCase(), again)).toEqual(ACCOUNTS[0]);
    expect((await customers.read('ada'))?.consents[0]?.listed).toEqual(ACCOUNTS);
    const card = debitedAccount(context, 'ada', 'card-1', again);
    await expect(card).rejects.toThrow('The account card-1 has no IBAN');
  });

  it('does not bring a customer back whom psd2 has forgotten meanwhile, nor a consent that has ended', async () => {
    const { context, customers } = await opened();
    const meanwhile = (work: () => Promise<void>) => listing(context, customers, work);
    const forgotten = meanwhile(() => customers.forget('ada'));
    await debitedAccount(context, 'ada', 'acc-1', forgotten);
    expect(await customers.read('ada')).toBeUndefined();

    await customers.change('ada', granting('co-1'));
    const replaced = () => customers.change('ada', (before) => granting('co-2')({ ...before, consents: [] }));
    await debitedAccount(context, 'ada', 'acc-1', meanwhile(replaced));
    const { consents = [] } = (await customers.read('ada')) ?? {};
    expect(consents).toMatchObject([{ flow: 'co-2' }]);
    expect(consents[0]).not.toHaveProperty('listed');
  });

  it('a customer without a consent, or whose consent lists nothing, has the accounts that the bank lists now', async () => {
    const { context, customers } = await opened();
    const list = async () => ACCOUNTS;
    expect(await debitedAccount(context, 'bob', 'acc-1', list)).toEqual(ACCOUNTS[0]);
    expect(await debitedAccount(context, 'ada', 'acc-1', list)).toEqual(ACCOUNTS[0]);
    expect(await customers.read('bob')).toBeUndefined();
  });

  it('what psd2 has kept of the accounts of an IBAN counts, also with a consent for some accounts', async () => {
    const { context, said } = openCommand(newConfigFolder(temporary), NOW);
    const { customers } = await context.store();
    const accounts = [
      { ...account('eur', A), currency: 'EUR' },
      { ...account('usd', A), currency: 'USD', status: 'blocked' },
      { ...account('old-id-of-usd', A), currency: 'USD' },
    ];
    await customers.change('ada', (before) => ({ ...granting('co-1')(before), accounts }));
    await customers.change('ada', (before) => ({
      ...before,
      consents: before.consents.map((each) => ({ ...each, accounts: [A] })),
    }));
    const never = () => Promise.reject(new Error('The bank was asked'));
    const bank = { payments: { initiation: never }, accounts: { list: never } };
    const from = (text: string) => {
      const order = transferOrder({
        customerId: 'ada',
        from: isAccountId(text) ? text : expect.unreachable(),
      });
      return withDebtor(context, { bank }, order, 't');
    };
    expect(await from(`${A}:EUR`)).toMatchObject({ fromIban: A, fromCurrency: 'EUR' });
    expect(said()).toBe('');
    expect(await from(`${A}:USD`)).toMatchObject({ fromIban: A, fromCurrency: 'USD' });
    expect(said()).toContain(`The bank says that the account ${A}:USD is blocked.`);
    await expect(from(A)).rejects.toMatchObject({ code: 'usage' });
    expect(await from(B)).toMatchObject({ fromIban: B });
  });

  it('one of several accounts of an IBAN is named by its currency, and a blocked one is told', async () => {
    const { context } = await opened();
    const list = async () => [
      { ...account('eur', A), currency: 'EUR' },
      { ...account('usd', A), currency: 'USD', status: 'blocked' },
      { ...account('card', A), currency: 'EUR', card: true as const },
    ];
    const eur = { accountId: 'eur', iban: A, currency: 'EUR' };
    const usd = { accountId: 'usd', iban: A, currency: 'USD', status: 'blocked' };
    expect(await debitedAccount(context, 'bob', `${A}:EUR`, list)).toEqual(eur);
    expect(await debitedAccount(context, 'bob', 'eur', list)).toEqual(eur);
    expect(await debitedAccount(context, 'bob', `${A}:USD`, list)).toEqual(usd);
    await expect(debitedAccount(context, 'bob', A, list)).rejects.toMatchObject({
      code: 'usage',
      hint: `Name the one that pays by its currency: ${A}:EUR, ${A}:USD.`,
    });
    await expect(debitedAccount(context, 'bob', `${A}:CHF`, list)).rejects.toMatchObject({ code: 'usage' });
  });
});

it.each([
  ['IT89F0999001600000010482620', true],
  ['it89f0999001600000010482620', true],
  ['NO93860111179', false],
  ['NO938601111794', true],
  [`IT89${'A'.repeat(30)}`, true],
  [`IT89${'A'.repeat(31)}`, false],
  ['1IT89F0999001600000010482620', false],
  ['I189F0999001600000010482620', false],
  ['IT8XF0999001600000010482620', false],
  ['IT89F0999-01600000010482620', false],
  ['acc-1', false],
  ['IT89F0999001600000010482620:EUR', true],
])('%s looks like an IBAN: %s', (account, expected) => {
  expect(looksLikeIban(account)).toBe(expected);
});

// Consents that end.

const NOON = '2026-11-21T12:00:00.000Z';
let folder: StoreFolder;
beforeEach(() => {
  folder = newConfigFolder(temporary);
});
const open = () => openCommand(folder, NOON).context;

const GRANTED: ConsentEvent = {
  ...{ type: 'granted', bankStatus: 'valid', validUntil: null, frequencyPerDay: 4, recurring: true },
};

/** Stores a consent of a customer, which readings use. Its id is that of the flow's resource. @returns its flow */
async function grant(consentId: string, more: Partial<KeptConsent> = {}): Promise<string> {
  const flow = await storeConsentFlow(
    open(),
    { customerId: 'ada' },
    { type: 'requested', resourceId: consentId, outcomes: [] },
    GRANTED,
  );
  const { customers } = await open().store();
  await customers.change('ada', (before) => ({
    ...before,
    consents: [
      ...before.consents,
      { ...CONSENT, flow, consentId, reads: ['accounts', 'balances'], grantedAt: NOON, ...more },
    ],
  }));
  return flow;
}
const keptIds = async () => {
  const { customers } = await open().store();
  return (await customers.read('ada'))?.consents.map(({ consentId }) => consentId);
};
const stateOf = async (flow: string) => {
  const { flows } = await open().store();
  return (await flows.find('consent', flow)).state;
};

const refusal = (more: ErrorContext = {}) => new Psd2Error('not_logged_in', 'The consent has ended', more);
const ENDED = { endsConsent: true } as const;
const USED_UP = { lasts: true } as const;
const balances = (consentId?: string, account = 'a1') =>
  reading(
    { account, of: 'balances' },
    consentId === undefined ? {} : { headers: { 'consent-id': consentId, 'x-own': 'own' } },
  );

/** Calls of ada with these outcomes, and what the bank says when psd2 asks how a consent is. */
async function calls(outcomes: Outcome[], means: ConsentDetails['means'] | Error = 'revoked') {
  const context = open();
  const { flows, customers } = await context.store();
  const { made, caller } = callsTo(outcomes);
  const asked: string[] = [];
  const detailsOf =
    (service: string) =>
    async (consentId: string): Promise<ConsentDetails> => {
      asked.push(`${service}${consentId}`);
      if (means instanceof Error) throw means;
      const unsaid = { validUntil: null, frequencyPerDay: null, recurring: null, access: null };
      return { consentStatus: 'a word', means, ...unsaid };
    };
  const lacking = () => Promise.reject(new TypeError('The consent is there'));
  const tokens = { erase: async () => {} };
  const consentsOf = (service: string) => ({
    ...{ request: lacking, confirm: lacking, details: detailsOf(service) },
  });
  const ofFunds = { consents: consentsOf('funds '), sca: { start: lacking, status: lacking } };
  const bank = () => ({ consents: consentsOf(''), ofFunds });
  const { consents } = await readKept(context, customers, 'ada');
  const noticing = noticingEnds(caller, { flows, customers, tokens, customerId: 'ada', consents, bank });
  const usedIds = () => made.map(({ headers }) => headers?.['consent-id']);
  return { made, asked, usedIds, ask: (call: BankCall) => noticing.ask(call, statusOf), noticing };
}

/** Stores a consent for one reading, and one for many. */
async function grantOnceAndLasting(lasting: Partial<KeptConsent> = {}): Promise<void> {
  await grant('once', { recurring: false, grantedAt: '2026-11-21T13:00:00.000Z' });
  await grant('lasting', lasting);
}

describe('a reading that the bank refuses because its consent has ended', () => {
  it.each([
    ['revoked', 'revoked', 'The customer has revoked the consent c1 at the bank'],
    ['expired', 'expired', 'The consent c1 has expired at the bank'],
    ['rejected', 'rejected', undefined],
    ['ended by us', 'cancelled', undefined],
  ] as const)('records that it is %s, and the consent is not used again', async (means, state, says) => {
    const flow = await grant('c1');
    const other = await grant('c2', { accounts: ['a2'], reads: ['accounts'] });
    const error = refusal(ENDED);
    const { asked, usedIds, ask } = await calls([error], means);
    const { message, code, context } = error;
    const told = { code, context, message: says ?? message };
    await expect(ask(balances('c1'))).rejects.toMatchObject(told);
    // What ends a consent is asked once more.
    expect([asked, usedIds()]).toEqual([['c1', 'c1'], ['c1']]);
    expect(await keptIds()).toEqual(['c2']);
    expect([await stateOf(flow), await stateOf(other)]).toEqual([state, 'confirmed']);
  });

  it('is the consent for confirmations of funds that the call carries, and no other one', async () => {
    const ofReadings = await grant('c1');
    const flows: string[] = [];
    for (const [index, account] of [A, B].entries()) {
      const begin = { customerId: 'ada', terms: { access: { type: 'funds', account } as const } };
      const id = `f${index}`;
      const requested: ConsentEvent = { type: 'requested', resourceId: id, outcomes: [] };
      const flow = await storeConsentFlow(open(), begin, requested, GRANTED);
      flows.push(flow);
      const { customers } = await open().store();
      const kept = { flow, consentId: id, transactionId: id, account, validUntil: null, grantedAt: NOON };
      await customers.change('ada', (before) => ({ ...before, funds: [...(before.funds ?? []), kept] }));
    }
    const { asked, ask } = await calls([refusal(ENDED)]);
    const call = reading(null, { headers: { 'consent-id': 'f1' } });
    await expect(ask(call)).rejects.toMatchObject({
      message: 'The customer has revoked the consent f1 at the bank',
    });
    expect(new Set(asked)).toEqual(new Set(['funds f1']));
    const [first = '', second = ''] = flows;
    const states = await Promise.all([ofReadings, first, second].map(stateOf));
    expect(states).toEqual(['confirmed', 'confirmed', 'revoked']);
    const { customers } = await open().store();
    const { funds = [] } = (await customers.read('ada')) ?? {};
    expect([await keptIds(), funds.map(({ consentId }) => consentId)]).toEqual([['c1'], ['f0']]);
  });

  it.each<[string, ConsentDetails['means'] | Error]>([
    ['is valid', 'valid'],
    ['is none that it tells', new Psd2Error('bank_failing', 'The bank is failing')],
  ])('has its own error, and leaves the consent as it is, if the bank says that it %s', async (_, means) => {
    const flow = await grant('c1');
    const error = refusal(ENDED);
    const { ask } = await calls([error], means);
    await expect(ask(balances('c1'))).rejects.toBe(error);
    expect([await keptIds(), await stateOf(flow)]).toEqual([['c1'], 'confirmed']);
  });

  it.each([new Psd2Error('interrupted', 'Interrupted'), new TypeError('A fault')])(
    'ends with %s, which comes first',
    async (error) => {
      await grant('c1');
      const { ask } = await calls([refusal(ENDED)], error);
      await expect(ask(balances('c1'))).rejects.toBe(error);
    },
  );

  it('asks nothing about a consent that psd2 does not keep, or of a customer without a record', async () => {
    const error = refusal(ENDED);
    const unknown = await calls([error]);
    await expect(unknown.ask(balances('c1'))).rejects.toBe(error);
    await grant('c2');
    const other = await calls([error]);
    await expect(other.ask(balances('c1'))).rejects.toBe(error);
    expect([unknown.asked, other.asked, await keptIds()]).toEqual([[], [], ['c2']]);
  });
});

const ONLY = 'The consent was for one reading, which is used up. Ask the customer for another one:';

describe('a reading with a consent for one reading that is used up', () => {
  it.each([
    ['the bank says that the readings are used up', USED_UP, []],
    ['the bank says that the consent has ended', ENDED, ['once']],
  ])('is made again with another one, if %s', async (_, context, asked) => {
    await grantOnceAndLasting();
    const found = await calls([refusal(context)], 'valid');
    expect(await found.ask(balances('once'))).toEqual({ notices: [], status: 200 });
    expect(found.made.map(({ headers }) => headers)).toEqual([
      { 'consent-id': 'once', 'x-own': 'own' },
      { 'consent-id': 'lasting', 'x-own': 'own' },
    ]);
    expect(found.made[1]).toEqual({ ...balances('lasting') });
    expect(found.asked).toEqual(asked);
  });

  it.each([
    ['a third time', ['accounts', 'balances'], ['once', 'lasting'], 'Read again tomorrow.'],
    [
      'again without another consent that reads the same, and none helps tomorrow',
      ['accounts'],
      ['once'],
      ONLY,
    ],
  ] as const)('is not made %s', async (_, reads, used, hint) => {
    await grantOnceAndLasting({ reads });
    const errors = used.map(() => refusal({ ...USED_UP, hint: 'Read again tomorrow.' }));
    const { ask, usedIds } = await calls([...errors]);
    await expect(ask(balances('once'))).rejects.toMatchObject({ hint });
    expect(usedIds()).toEqual(used);
  });
});

describe('any other call', () => {
  it.each<[string, Error, BankCall]>([
    ['a refusal for another reason', refusal(), balances('once')],
    ['a fault', new TypeError('A fault'), balances('once')],
    ['a call without a consent', refusal({ ...ENDED, ...USED_UP }), balances()],
    ['a call that reads no account', refusal(USED_UP), reading(null, { headers: { 'consent-id': 'once' } })],
  ])('is made once, and has its own error: %s', async (_, error, call) => {
    await grantOnceAndLasting();
    const { ask, asked, made } = await calls([error]);
    await expect(ask(call)).rejects.toBe(error);
    expect([made.length, asked]).toEqual([1, []]);
  });

  it('has its answer', async () => {
    await grant('once');
    const { ask, noticing, made } = await calls([]);
    expect(await ask(balances('once'))).toEqual({ notices: [], status: 200 });
    expect((await noticing.send(balances('once'))).status).toBe(200);
    expect(made).toHaveLength(2);
  });

  it('is the same call if nothing is to be noticed', () => {
    const { caller } = callsTo();
    expect(noticingEnds(caller, null)).toBe(caller);
  });
});

describe('the consents that were withdrawn', () => {
  const at = (day: number) => openCommand(folder, `2026-03-0${day}T00:00:00.000Z`).context;

  type End = 'open' | 'granted' | 'revoked' | 'expired' | 'cancelled' | 'revoked before it was granted';

  /** Stores a consent of a customer, from a day of March on. @returns its flow */
  function consent(customerId: string, day: number, end: End, account?: string): Promise<string> {
    const terms = account === undefined ? {} : { terms: { access: { type: 'funds' as const, account } } };
    const events: ConsentEvent[] = [{ type: 'requested', resourceId: 'FLOW', outcomes: [] }];
    if (end !== 'open' && end !== 'revoked before it was granted') events.push(GRANTED);
    const state = end === 'revoked before it was granted' ? 'revoked' : end;
    if (state !== 'open' && state !== 'granted') events.push({ type: 'ended', state, bankStatus: null });
    return storeConsentFlow(at(day), { customerId, ...terms }, ...events);
  }
  /** A customer with a record, from which the consents have been removed. */
  async function note(...names: string[]): Promise<void> {
    const { customers } = await at(9).store();
    for (const name of names) await customers.change(name, (before) => before);
  }
  const found = async () =>
    (await withdrawnConsents(at(9))).map(({ customerId, flow, state }) => [customerId, flow, state]);

  it.each<[ends: End[], isThere: boolean]>([
    [['granted'], false],
    [['cancelled'], false],
    [['open'], false],
    [['revoked', 'revoked'], true],
    [['revoked', 'expired'], true],
    [['revoked', 'granted'], false],
    [['revoked', 'open'], false],
    [['revoked', 'cancelled'], false],
    [['revoked', 'revoked before it was granted'], false],
  ])('of a customer whose consents were %j, the newest is there: %s', async (ends, isThere) => {
    // Somebody without a record is not there.
    await note('ada', 'bob');
    await consent('nobody', 1, 'revoked');
    const others = await consent('bob', 1, 'expired');
    const flows: string[] = [];
    for (const [index, end] of ends.entries()) flows.push(await consent('ada', 2 + index, end));
    const newest = ['ada', flows.at(-1), ends.at(-1)];
    expect(await found()).toEqual([...(isThere ? [newest] : []), ['bob', others, 'expired']]);
  });

  it('a consent for confirmations of funds is apart from those for readings', async () => {
    await note('ada', 'bob');
    const reading = await consent('ada', 1, 'revoked');
    await consent('ada', 2, 'revoked', 'one');
    const newest = await consent('ada', 3, 'expired', 'one');
    await consent('ada', 4, 'revoked', 'two');
    await consent('ada', 5, 'revoked before it was granted', 'three');
    await consent('ada', 6, 'granted', 'four');
    const anothers = await consent('bob', 7, 'revoked', 'one');
    const { customers } = await at(9).store();
    const two = { flow: 'co-2', transactionId: 't', consentId: 'f', account: 'two', validUntil: null };
    await customers.change('ada', (before) => ({
      ...before,
      funds: [{ ...two, grantedAt: '2026-03-08T00:00:00.000Z' }],
    }));
    expect(await found()).toEqual([['ada', reading, 'revoked']]);
    const withdrawn = (await withdrawnFunds(at(9))).map(({ flow, state }) => [flow, state]);
    expect(withdrawn).toEqual([
      [anothers, 'revoked'],
      [newest, 'expired'],
    ]);
  });
});
