import type { Context } from '../context.ts';
import { collect, examples, verb } from '../declare.ts';
import { printsOne } from '../flow/describe.ts';
import { refuseClientCredentials, refuseUnconfirmable } from '../flow/drive.ts';
import { readFurtherData, readJsonOption } from '../shared/read-data.ts';
import { beginOperation, readReceipt } from './drive.ts';
import { parseOperationName, withAccount } from './name.ts';
import { OPERATIONS } from './operations.ts';

/** `psd2 operation run <operationName>`: the whole generic operation flow. */
export const run = verb(
  {
    prints: printsOne(OPERATIONS),
    help: examples(
      'psd2 operation run standingOrder --account 0010482620 --data @order.json',
      'psd2 operation run standingOrder --account 0010482620 --data @order.json --verify-data @more.json --yes --json',
    ),
  },
  (command) =>
    withAccount(command)
      .argument('<operationName>')
      .option('--data <json>', 'data of the operation: JSON, @file, or - for standard input', '{}')
      .option(
        '--verify-data <json>',
        'data for a further verify step, in order; may be repeated',
        collect,
        [],
      )
      .option('--receipt <path>', "after execution, save the bank's document in this file"),
  (context, name, options) => runWhole(context, name, options),
);

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
  await beginOperation(context, { from, operation, data }, { furtherData, receipt });
}
