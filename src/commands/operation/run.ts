import type { Context } from '../context.ts';
import { collect, examples, type Verb } from '../declare.ts';
import { printsOne } from '../flow/describe.ts';
import { refuseClientCredentials, refuseUnconfirmable } from '../flow/drive.ts';
import { readFurtherData, readJsonOption } from '../shared/read-data.ts';
import { driveOperation, readReceipt } from './drive.ts';
import { parseOperationName, withAccount } from './name.ts';
import { OPERATIONS } from './operations.ts';

/** `psd2 operation run <operationName>`: the whole generic operation flow. */
export const run: Verb = {
  prints: printsOne(OPERATIONS),
  declare: (command, runs) =>
    withAccount(command)
      .argument('<operationName>')
      .addHelpText(
        'after',
        examples(
          'psd2 operation run standingOrder --account 0012345678 --data @order.json',
          'psd2 operation run standingOrder --account 0012345678 --data @order.json --verify-data @more.json --yes --json',
        ),
      )
      .option('--data <json>', 'data of the operation: JSON, @file, or - for standard input', '{}')
      .option(
        '--verify-data <json>',
        'data for a further verify step, in order; may be repeated',
        collect,
        [],
      )
      .option('--receipt <path>', "after execution, save the bank's document in this file")
      .action((name, options) => runs((context) => runWhole(context, name, options))),
};

async function runWhole(
  context: Context,
  name: string,
  options: { account: string; data: string; verifyData: string[]; receipt?: string | undefined },
): Promise<void> {
  const operation = parseOperationName(name);
  const { readAccountId } = await context.bankInterface();
  const from = readAccountId(options.account);
  const furtherData = await readFurtherData(context, options.verifyData, options.data);
  const data = await readJsonOption(context, '--data', options.data);
  const receipt = await readReceipt(context, options.receipt);
  refuseClientCredentials(context);
  refuseUnconfirmable(context, 'An operation');

  const opened = await context.bank();
  const { customerId, flows } = opened;
  const order = { customerId, from, operation, data };
  const begin = {
    transactionId: context.world.newId(),
    commits: opened.bank.payments.commits,
    order,
    furtherData,
  };
  await flows.begin('operation', begin, (open) => driveOperation(context, opened, open, { receipt }));
}
