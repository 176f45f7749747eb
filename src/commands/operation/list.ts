import type { Context } from '../context.ts';
import { isChosen, type ListOptions, listedFlows } from '../flow/listed.ts';
import { collect } from '../flow/rules.ts';
import { OPERATION_COLUMNS, toOperationData } from './output.ts';
import { operations } from './shape.ts';

/** `psd2 operation list`: newest first. */
export async function operationList(context: Context, options: ListOptions): Promise<void> {
  const found = await collect(listedFlows(context, 'operation', options));
  const whenEmpty = isChosen(context, options) ? 'No operation matches.' : 'This profile has no operations.';
  if (context.output.format === 'table') await context.output.table(found, OPERATION_COLUMNS, whenEmpty);
  else await context.output.table(found.map(toOperationData), [], '', operations);
}
