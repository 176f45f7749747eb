import type { Context } from '../context.ts';
import { openProfileOf } from '../open/profile.ts';
import { printOperation } from './output.ts';

/** `psd2 operation show <flow>`: what is on disk, without asking the bank. */
export async function operationShow(context: Context, flow: string): Promise<void> {
  printOperation(context, openProfileOf(context).journal.openOperation(flow).current);
}
