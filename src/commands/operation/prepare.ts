import { prepareOperation } from '../../bank/endpoints/operations.ts';
import { parseProductId } from '../../domain/identifiers.ts';
import type { Context } from '../context.ts';
import { printBankData } from '../shared/bank-data.ts';
import { parseOperationName } from './name.ts';

/** `psd2 operation prepare <name>` */
export async function operationPrepare(context: Context, name: string, product: string): Promise<void> {
  const target = { operation: parseOperationName(name), from: parseProductId(product) };
  const { bank, customerId } = await context.bank();
  printBankData(context, await prepareOperation(bank, { ...target, customerId }, context.world.newId()));
}
