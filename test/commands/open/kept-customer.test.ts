import { expect, it, vi } from 'vitest';
import type { Read } from '../../../src/bank/ports/call.ts';
import { covers, dropConsent, readKept } from '../../../src/commands/open/kept-customer.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import { Psd2Error } from '../../../src/errors.ts';
import type { KeptConsent } from '../../../src/store/ports/customers.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();
const day = (text: string) => parseDate('a day', text);
/** In Rome it is the 22nd already. */
const NOW = '2026-11-21T23:30:00.000Z';
const [A, B] = ['IT89F0999001600000010482620', 'IT31P0999001600000010482638'];

const LISTED = [{ accountId: 'id-of-a', iban: 'IT89F0999001600000010482620' }];

async function keptOf(...given: Partial<KeptConsent>[]) {
  const { context, said } = openCommand(newConfigFolder(temporary), NOW);
  const { customers } = await context.store();
  const consents = given.map(
    (each, index): KeptConsent => ({
      flow: `co-${index}`,
      consentId: `c${index}`,
      accounts: null,
      reads: ['accounts', 'balances', 'transactions'],
      validUntil: null,
      recurring: true,
      frequencyPerDay: 4,
      // The newest first.
      grantedAt: `2026-11-0${9 - index}T00:00:00.000Z`,
      ...each,
    }),
  );
  await customers.change('ada', (before) => ({ ...before, consents }));
  const kept = () => customers.read('ada');
  return { customers, kept, said, consents: (await readKept(context, customers, 'ada')).consents };
}

async function consentsOf(...given: Partial<KeptConsent>[]) {
  return (await keptOf(...given)).consents;
}

it.each<[string, Partial<KeptConsent>[], Read, string]>([
  ['the newest', [{}, {}], 'list', 'c0'],
  ['the one for all accounts, for their list', [{ accounts: [A] }, {}], 'list', 'c1'],
  ['the one that names the account', [{ accounts: [A] }, { accounts: [B] }], { account: B }, 'c1'],
  ['the one for all accounts, for one that none names', [{ accounts: [A] }, {}], { account: B }, 'c1'],
  ['one that reads more than the list', [{ reads: ['accounts'] }, {}], { account: A }, 'c1'],
  ['any, because only the bank knows', [{ accounts: [A] }], { account: 'id-of-a' }, 'c0'],
  [
    'one of which only the bank knows, before one that does not cover the account',
    [{ accounts: [A], listed: LISTED }, { accounts: [B] }],
    { account: 'id-of-b' },
    'c1',
  ],
  [
    'one for all accounts, before one of which only the bank knows',
    [{ accounts: [A] }, {}],
    { account: 'id-of-b' },
    'c1',
  ],
  [
    'one that reads more than the list, even if it may not cover the account',
    [{ reads: ['accounts'] }, { accounts: [A] }],
    { account: B },
    'c1',
  ],
  [
    'one that reads what is asked',
    [{ reads: ['accounts', 'balances'] }, {}],
    { account: A, of: 'transactions' },
    'c1',
  ],
  ['one whose last day is today at the bank', [{ validUntil: day('2026-11-22') }], 'list', 'c0'],
  ['none that ended yesterday at the bank', [{ validUntil: day('2026-11-21') }, {}], 'list', 'c1'],
])('a reading takes %s', async (_, kept, what, consentId) => {
  expect(await (await consentsOf(...kept)).for(what)).toMatchObject({ consentId });
});

it('a list tells which consent covers an account', async () => {
  const consents = await consentsOf({ accounts: [A] }, { accounts: [B] });
  await consents.listed?.('c0', [{ accountId: 'id-of-a', iban: A }]);
  await consents.listed?.('c1', [
    { accountId: 'id-of-b', iban: B },
    { accountId: 'card', iban: null },
  ]);
  for (const [account, consentId] of [
    ['id-of-a', 'c0'],
    ['id-of-b', 'c1'],
    ['card', 'c1'],
  ] as const)
    expect(await consents.for({ account })).toMatchObject({ consentId });
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
  expect(said().split(`The bank lists accounts that the consent c0 does not name: ${B}.`)).toHaveLength(
    isTold ? 2 : 1,
  );
});

it('a consent to which the bank refuses cards is noted, and which ids are cards', async () => {
  const { consents, kept } = await keptOf({});
  const listed = [
    { accountId: 'a', iban: A },
    { accountId: 'k', iban: null, kind: 'card' as const },
  ];
  await consents.listed?.('c0', listed);
  expect(await consents.for('list')).not.toHaveProperty('cards');
  expect([consents.isCard?.('a'), consents.isCard?.('k'), consents.isCard?.('x')]).toEqual([
    false,
    true,
    false,
  ]);
  await consents.listed?.('c0', listed, 'none');
  expect(await consents.for('list')).toMatchObject({ cards: 'none' });
  expect((await kept())?.consents[0]).toMatchObject({ cards: 'none', listed });
});

it('what a list had is kept once, and stays with the customer when the consent has gone', async () => {
  const { context } = openCommand(newConfigFolder(temporary), NOW);
  const { customers } = await context.store();
  const granted: KeptConsent = {
    ...{ flow: 'co-1', consentId: 'c1', accounts: [A], reads: ['accounts'], validUntil: null },
    ...{ recurring: true, frequencyPerDay: 4, grantedAt: NOW },
  };
  await customers.change('ada', (before) => ({ ...before, consents: [granted] }));
  const change = vi.spyOn(customers, 'change');
  for (const _ of ['first', 'second']) {
    const { consents } = await readKept(context, customers, 'ada');
    for (const __ of ['first', 'second']) await consents.listed?.('c1', [{ accountId: 'a', iban: A }]);
  }
  expect(change).toHaveBeenCalledTimes(1);
  await customers.change('ada', (before) => ({ ...before, consents: [] }));
  expect(await customers.read('ada')).toMatchObject({ accounts: [{ accountId: 'a', iban: A }] });
});

it.each<[string, Partial<KeptConsent>, string, boolean | undefined]>([
  ['one that it names', { accounts: [A] }, 'IT89 F099 9001 6000 0001 0482 620', true],
  ['one whose IBAN it names', { accounts: [A] }, 'id-of-a', true],
  ['one whose IBAN it does not name', { accounts: [A] }, 'id-of-b', false],
  ['an IBAN that it does not name', { accounts: [A] }, B, false],
  ['one that no list had', { accounts: [A] }, 'id-of-c', undefined],
  ['one that its own list lacks', { accounts: [A], listed: LISTED }, 'id-of-c', false],
  [
    'one without an IBAN in its list',
    { accounts: [A], listed: [...LISTED, { accountId: 'card', iban: null }] },
    'card',
    true,
  ],
  ['no IBAN that one of its list has another of', { accounts: [A], listed: LISTED }, B, false],
  ['no IBAN of a country without known accounts', { accounts: [A] }, 'DE89370400440532013000', false],
  ['no IBAN of the shortest kind', { accounts: [A] }, 'NO9386011117947', false],
  ['perhaps an id that begins like an IBAN', { accounts: [A] }, 'NO938601111794', undefined],
  ['perhaps an id that ends like an IBAN', { accounts: [A] }, '1NO9386011117947', undefined],
  ['perhaps an id with more than an IBAN', { accounts: [A] }, 'NO9386011117947-1', undefined],
  ['perhaps an id with one digit only', { accounts: [A] }, 'NO9X86011117947', undefined],
  ['any, if it names none', { accounts: null, listed: LISTED }, 'id-of-c', undefined],
])('a consent covers %s', (_, given, account, expected) => {
  const consent: KeptConsent = {
    ...{ flow: 'co-1', consentId: 'c1', accounts: null, reads: ['accounts'], validUntil: null },
    ...{ recurring: true, frequencyPerDay: 4, grantedAt: NOW, ...given },
  };
  const psu = { id: null, idType: null, corporateId: null, corporateIdType: null };
  const accounts = [
    { accountId: 'id-of-a', iban: A },
    { accountId: 'id-of-b', iban: B },
  ];
  expect(covers(consent, account, { psu, consents: [consent], accounts })).toBe(expected);
});

it.each([
  ['who has none left', []],
  ['whose consent is over', [{ validUntil: day('2026-11-21') }]],
])('a customer %s is asked for another one', async (_, kept) => {
  await expect((await consentsOf(...kept)).for('list')).rejects.toMatchObject({
    code: 'not_logged_in',
    message: expect.stringContaining('has no valid consent,'),
    next: [['consent', 'request', '--customer', 'ada']],
  });
});

it.each<[Read, string]>([
  [{ account: A, of: 'balances' }, 'balances'],
  [{ account: A, of: 'transactions' }, 'transactions'],
])('a reading that no consent of the customer allows is refused: %j', async (what, named) => {
  const consents = await consentsOf();
  await expect(consents.for(what)).rejects.toMatchObject({
    message: 'The customer ada has no valid consent, so psd2 cannot read accounts',
    hint: 'Ask the customer for one:',
  });
  const others = await consentsOf({ reads: ['accounts'] });
  await expect(others.for(what)).rejects.toMatchObject({
    code: 'not_logged_in',
    message: `The consent of the customer ada does not cover ${named}`,
    hint: 'Ask the customer for one:',
    next: [['consent', 'request', '--customer', 'ada']],
    refusal: 'other',
  });
});

it('a customer who is new is asked for the first one', async () => {
  const { context } = openCommand(newConfigFolder(temporary), NOW);
  const { consents } = await readKept(context, (await context.store()).customers, 'ada');
  await expect(consents.for('list')).rejects.toMatchObject({
    message: expect.stringContaining('has given no consent,'),
    hint: 'Ask the customer for one:',
  });
});

it('if the operator may mean another customer, the refusal names those that psd2 knows', async () => {
  const { context } = openCommand(newConfigFolder(temporary), NOW);
  const { customers } = await context.store();
  await customers.change('bob', (kept) => kept);
  const { consents } = await readKept(context, customers, 'default');
  await expect(consents.for('list')).rejects.toMatchObject({
    code: 'not_logged_in',
    hint: 'Other customers: bob. Name one with --customer, or ask default for a consent:',
    next: [['consent', 'request', '--customer', 'default']],
  });
});

it('a consent for one reading that is used up gives way to another one that may read the same', async () => {
  const once = { recurring: false };
  const consents = await consentsOf(once, { accounts: [B] });
  expect(await consents.for({ account: A })).toMatchObject({ consentId: 'c0' });
  expect(await consents.instead('c0', { account: A })).toBeUndefined();
  expect(await consents.instead('c0', { account: B, of: 'balances' })).toMatchObject({ consentId: 'c1' });
  expect(await consents.for('list')).toMatchObject({ consentId: 'c1' });
  expect(await consents.for({ account: B })).toMatchObject({ consentId: 'c1' });
  // Nothing else covers this account: only the bank knows what is left of the first.
  expect(await consents.for({ account: A })).toMatchObject({ consentId: 'c0' });
});

it('a recurring consent does not give way', async () => {
  const consents = await consentsOf({}, {});
  expect(await consents.instead('c0', 'list')).toBeUndefined();
  expect(await consents.for('list')).toMatchObject({ consentId: 'c0' });
});

it('which consent gave way is told apart from the others', async () => {
  const consents = await consentsOf({}, { recurring: false }, {});
  expect(await consents.instead('c0', 'list')).toBeUndefined();
  expect(await consents.instead('no-such-consent', 'list')).toBeUndefined();
  expect(await consents.instead('c1', 'list')).toMatchObject({ consentId: 'c0' });
});

it('a consent for the list alone does not step in for another one', async () => {
  const once = { recurring: false };
  const consents = await consentsOf(once, { reads: ['accounts'] });
  expect(await consents.instead('c0', { account: A })).toBeUndefined();
  const two = await consentsOf(once, { reads: ['accounts', 'balances'] });
  expect(await two.instead('c0', { account: A })).toMatchObject({ consentId: 'c1' });
});

it('at most 1000 accounts of a customer are kept, and no list with more', async () => {
  const { customers, consents, kept } = await keptOf({ accounts: [A] });
  const many = (count: number, from = 0) =>
    Array.from({ length: count }, (_, index) => ({ accountId: `id-${from + index}`, iban: null }));
  await consents.listed?.('c0', many(1001));
  expect((await kept())?.accounts).toBeUndefined();
  await consents.listed?.('c0', many(1000));
  expect((await kept())?.accounts).toHaveLength(1000);
  await consents.listed?.('c0', many(3, 2000));
  const accounts = (await kept())?.accounts ?? [];
  expect(accounts.map(({ accountId }) => accountId).slice(0, 4)).toEqual([
    'id-2000',
    'id-2001',
    'id-2002',
    'id-0',
  ]);
  expect([accounts.length, (await kept())?.consents[0]?.listed]).toEqual([1000, many(3, 2000)]);
  expect(await customers.list()).toEqual(['ada']);
});

it.each([
  [
    'another IBAN',
    [
      { accountId: 'a', iban: B },
      { accountId: 'b', iban: null },
    ],
  ],
  [
    'one account more',
    [
      { accountId: 'a', iban: A },
      { accountId: 'b', iban: null },
      { accountId: 'c', iban: B },
    ],
  ],
  ['one account less', [{ accountId: 'a', iban: A }]],
  [
    'another id',
    [
      { accountId: 'a', iban: A },
      { accountId: 'c', iban: null },
    ],
  ],
])('a list with %s than before is kept', async (_, later) => {
  const { consents, kept } = await keptOf({ accounts: [A] }, { accounts: [B] });
  await consents.listed?.('c1', [{ accountId: 'x', iban: B }]);
  await consents.listed?.('c0', [
    { accountId: 'a', iban: A },
    { accountId: 'b', iban: null },
  ]);
  await consents.listed?.('c0', later);
  expect((await kept())?.consents.map(({ listed }) => listed)).toEqual([
    later,
    [{ accountId: 'x', iban: B }],
  ]);
  const ids = (await kept())?.accounts?.map(({ accountId }) => accountId) ?? [];
  expect(ids.slice(0, later.length)).toEqual(later.map(({ accountId }) => accountId));
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toContain('x');
});

it('a list that another consent of the customer had, too, is kept with its own', async () => {
  const { consents, kept } = await keptOf({ accounts: [A] }, { accounts: [A] });
  const list = [{ accountId: 'a', iban: A }];
  await consents.listed?.('c0', list);
  await consents.listed?.('c1', list);
  expect((await kept())?.consents.map(({ listed }) => listed)).toEqual([list, list]);
});

it('if a list cannot be kept, the reading goes on; an interruption and a fault of psd2 do not pass', async () => {
  const { customers, consents } = await keptOf({ accounts: [A] });
  const change = vi.spyOn(customers, 'change');
  const listed = async (error: Error) => {
    change.mockRejectedValueOnce(error);
    await consents.listed?.('c0', [{ accountId: error.message, iban: A }]);
  };
  await listed(new Psd2Error('config', 'the record is damaged'));
  await expect(listed(new Psd2Error('interrupted', 'Ctrl-C'))).rejects.toThrow('Ctrl-C');
  await expect(listed(new TypeError('a fault'))).rejects.toThrow('a fault');
});

it('a consent that has ended is dropped, and no other; without it, nothing is written', async () => {
  const { customers, kept } = await keptOf({}, {}, {});
  const change = vi.spyOn(customers, 'change');
  const drop = (customerId: string, resourceId: string) =>
    dropConsent(
      { customers, tokens: { erase: async () => {} } },
      { customerId, resourceId, transactionId: 'a', terms: null },
    );
  await drop('bob', 'c1');
  await drop('ada', 'no-such-consent');
  expect(change).not.toHaveBeenCalled();
  await drop('ada', 'c1');
  expect((await kept())?.consents.map(({ consentId }) => consentId)).toEqual(['c0', 'c2']);
});
