import { expect, it, vi } from 'vitest';
import { covers, readKept } from '../../../src/commands/open/kept-customer.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import type { KeptConsent } from '../../../src/store/ports/customers.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();
const day = (text: string) => parseDate('a day', text);
/** In Rome it is the 22nd already. */
const NOW = '2026-11-21T23:30:00.000Z';
const [A, B] = ['IT89F0999001600000010482620', 'IT31P0999001600000010482638'];

const LISTED = [{ accountId: 'id-of-a', iban: 'IT89F0999001600000010482620' }];

async function consentsOf(...given: Partial<KeptConsent>[]) {
  const { context } = openCommand(newConfigFolder(temporary), NOW);
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
  return (await readKept(context, customers, 'ada')).consents;
}

it.each<[string, Partial<KeptConsent>[], 'list' | { account: string }, string]>([
  ['the newest', [{}, {}], 'list', 'c0'],
  ['the one for all accounts, for their list', [{ accounts: [A] }, {}], 'list', 'c1'],
  ['the one that names the account', [{ accounts: [A] }, { accounts: [B] }], { account: B }, 'c1'],
  ['the one for all accounts, for one that none names', [{ accounts: [A] }, {}], { account: B }, 'c1'],
  ['one that reads more than the list', [{ reads: ['accounts'] }, {}], { account: A }, 'c1'],
  ['any, because only the bank knows', [{ accounts: [A] }], { account: 'id-of-a' }, 'c0'],
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
