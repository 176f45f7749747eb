import type { Context } from '../context.ts';
import { printOperation } from './output.ts';

/** `psd2 operation show <flow>`: what is on disk, without asking the bank. */
export async function operationShow(context: Context, flow: string): Promise<void> {
  printOperation(context, (await context.store()).journal.openOperation(flow).current);
}
