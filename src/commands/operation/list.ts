import type { Context } from '../context.ts';
import { collect, warnOfDamaged } from '../flow/rules.ts';
import { OPERATION_COLUMNS, toOperationData } from './output.ts';
import { operations } from './shape.ts';

/** `psd2 operation list`: newest first. */
export async function operationList(context: Context): Promise<void> {
  const { flows } = await context.store();
  const found = await collect(flows.list('operation', { onDamaged: warnOfDamaged(context) }));
  if (context.output.format === 'table')
    await context.output.table(found, OPERATION_COLUMNS, 'This profile has no operations.');
  else await context.output.table(found.map(toOperationData), [], '', operations);
}
