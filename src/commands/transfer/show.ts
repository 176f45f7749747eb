import type { Context } from '../context.ts';
import { printTransfer } from './output.ts';

/** `psd2 transfer show <flow>`: the local record, without asking the bank. */
export async function transferShow(context: Context, flow: string): Promise<void> {
  const { flows } = await context.store();
  printTransfer(context, await flows.find('transfer', flow));
}
