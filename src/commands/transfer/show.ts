import type { Context } from '../context.ts';
import { openProfileOf } from '../open/profile.ts';
import { printTransfer } from './output.ts';

/** `psd2 transfer show <flow>`: what is on disk, without asking the bank. */
export async function transferShow(context: Context, flow: string): Promise<void> {
  printTransfer(context, openProfileOf(context).journal.openTransfer(flow).current);
}
