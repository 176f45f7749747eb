import { parseProductId } from '../../domain/identifiers.ts';
import type { Context } from '../context.ts';
import { refuseClientCredentials, refuseUnconfirmable } from '../flow/rules.ts';
import { readFurtherData, readJsonOption } from '../shared/read-data.ts';
import { requireFile } from '../shared/save-document.ts';
import { driveOperation } from './drive.ts';
import { parseOperationName } from './name.ts';

export interface RunOptions {
  verifyData: string[];
  /** The file for the bank's document after execution. */
  receipt?: string | undefined;
}

/** `psd2 operation run <name>`: the whole generic operation flow. */
export async function operationRun(
  context: Context,
  name: string,
  options: RunOptions & { product: string; data: string },
): Promise<void> {
  const operation = parseOperationName(name);
  const from = parseProductId(options.product);
  const data = await readJsonOption(context, '--data', options.data);
  const furtherData = await readFurtherData(context, options.verifyData);
  const receipt = options.receipt === undefined ? undefined : requireFile(context, options.receipt);
  refuseClientCredentials(context);
  refuseUnconfirmable(context, 'An operation');

  const opened = await context.bank();
  const { customerId, flows } = opened;
  const order = { customerId, from, operation, data };
  const begin = { transactionId: context.world.newId(), order, furtherData };
  await flows.begin('operation', begin, (open) => driveOperation(context, opened, open, { receipt }));
}
