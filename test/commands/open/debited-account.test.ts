import { expect, it } from 'vitest';
import type { Context } from '../../../src/commands/context.ts';
import { debitedAccount } from '../../../src/commands/open/debited-account.ts';
import { readKept } from '../../../src/commands/open/kept-customer.ts';
import type { Customers } from '../../../src/store/ports/customers.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { granting } from '../../store/whole-store.ts';
import { openCommand } from '../command.ts';

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
