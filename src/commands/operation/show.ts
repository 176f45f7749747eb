import type { Context } from '../context.ts';
import { printOperation } from './output.ts';

/** `psd2 operation show <flow>`: the local record, without asking the bank. */
export async function operationShow(context: Context, flow: string): Promise<void> {
  const { flows } = await context.store();
  printOperation(context, await flows.find('operation', flow));
}
