import type { Context } from '../context.ts';
import { examples, verb } from '../declare.ts';
import { BANK_DATA, printBankData } from '../shared/bank-data.ts';
import { parseOperationName, withAccount } from './name.ts';

/** `psd2 operation prepare <operationName>` */
export const prepare = verb(
  {
    prints: BANK_DATA,
    help: examples('psd2 operation prepare standingOrder --account 0010482620 --json'),
    kind: 'inquiry',
  },
  (command) => withAccount(command).argument('<operationName>'),
  (context, name, { account }) => showTerms(context, name, account),
);

async function showTerms(context: Context, name: string, account: string): Promise<void> {
  const { readAccountId } = await context.bankInterface();
  const target = { operation: parseOperationName(name), from: readAccountId(account) };
  const { bank, customerId } = await context.bank();
  printBankData(
    context,
    await bank.payments.operationTerms({ ...target, customerId }, context.world.newId()),
  );
}
