import type { Context } from '../context.ts';
import { examples, type Verb } from '../declare.ts';
import { BANK_DATA, printBankData } from '../shared/bank-data.ts';
import { parseOperationName } from './name.ts';

/** `psd2 operation prepare <operationName>` */
export const prepare: Verb = {
  prints: BANK_DATA,
  declare: (command, run) =>
    command
      .argument('<operationName>')
      .addHelpText('after', examples('psd2 operation prepare standingOrder --product 0012345678 --json'))
      .requiredOption('--product <id>', 'product of the operation')
      .action((name, { product }) => run((context) => showTerms(context, name, product), 'inquiry')),
};

async function showTerms(context: Context, name: string, product: string): Promise<void> {
  const { readAccountId } = await context.bankInterface();
  const target = { operation: parseOperationName(name), from: readAccountId(product) };
  await context.needs('operations');
  const { bank, customerId } = await context.bank();
  printBankData(
    context,
    await bank.payments.operationTerms({ ...target, customerId }, context.world.newId()),
  );
}
