import type { Context } from '../context.ts';
import { printTransfer } from './output.ts';

/** `psd2 transfer show <flow>`: what is on disk, without asking the bank. */
export async function transferShow(context: Context, flow: string): Promise<void> {
  printTransfer(context, (await context.store()).journal.openTransfer(flow).current);
}
