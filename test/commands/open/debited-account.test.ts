import { expect, it } from 'vitest';
import type { Context } from '../../../src/commands/context.ts';
import { debitedAccount, looksLikeIban } from '../../../src/commands/open/debited-account.ts';
import { readKept } from '../../../src/commands/open/kept-customer.ts';
import type { Customers } from '../../../src/store/ports/customers.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { granting } from '../../store/whole-store.ts';
import { openCommand } from '../command.ts';
import { failureOf } from '../failure.ts';

const temporary = temporaryFolder();
const IBAN = 'IT89F0999001600000010482620';
const ACCOUNTS = [
  { accountId: 'acc-1', iban: IBAN },
  { accountId: 'card-1', iban: null },
];

async function opened() {
  const { context } = openCommand(newConfigFolder(temporary), '2026-11-21T10:30:00.000Z');
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
  expect(await debitedAccount(context, 'ada', IBAN.toLowerCase(), again)).toEqual(ACCOUNTS[0]);
  expect((await customers.read('ada'))?.consents[0]?.listed).toEqual(ACCOUNTS);
  await expect(debitedAccount(context, 'ada', 'card-1', again)).rejects.toMatchObject({
    message: 'The account card-1 has no IBAN',
  });
});

it('does not bring a customer back whom psd2 has forgotten meanwhile, nor a consent that has ended', async () => {
  const { context, customers } = await opened();
  const meanwhile = (work: () => Promise<void>) => listing(context, customers, work);
  await debitedAccount(
    context,
    'ada',
    'acc-1',
    meanwhile(() => customers.forget('ada')),
  );
  expect(await customers.read('ada')).toBeUndefined();

  await customers.change('ada', granting('co-1'));
  const replaced = () => customers.change('ada', (before) => granting('co-2')({ ...before, consents: [] }));
  await debitedAccount(context, 'ada', 'acc-1', meanwhile(replaced));
  const { consents = [] } = (await customers.read('ada')) ?? {};
  expect(consents).toMatchObject([{ flow: 'co-2' }]);
  expect(consents[0]).not.toHaveProperty('listed');
});

it('an account that the bank does not list, or that has no IBAN, is refused', async () => {
  const { context, customers } = await opened();
  const list = listing(context, customers);
  expect(await failureOf(debitedAccount(context, 'ada', 'acc-2', list))).toEqual({
    ...{ code: 'usage', exitCode: 2, message: 'The account acc-2 is not among the accounts of the customer' },
    ...{ hint: 'See the accounts with:', next: [['accounts', 'list', '--customer', 'ada']] },
  });
  expect(await failureOf(debitedAccount(context, 'ada', 'card-1', list))).toEqual({
    ...{ code: 'usage', exitCode: 2, message: 'The account card-1 has no IBAN' },
  });
});

it('a customer without a consent, or whose consent lists nothing, has the accounts that the bank lists now', async () => {
  const { context, customers } = await opened();
  const list = async () => ACCOUNTS;
  expect(await debitedAccount(context, 'bob', 'acc-1', list)).toEqual(ACCOUNTS[0]);
  expect(await debitedAccount(context, 'ada', 'acc-1', list)).toEqual(ACCOUNTS[0]);
  expect(await customers.read('bob')).toBeUndefined();
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
])('%s looks like an IBAN: %s', (account, expected) => {
  expect(looksLikeIban(account)).toBe(expected);
});
