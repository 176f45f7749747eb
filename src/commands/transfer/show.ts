import type { Context } from '../context.ts';
import { refuseOtherCustomer } from '../flow/customer.ts';
import { printTransfer } from './output.ts';

/** `psd2 transfer show <flow>`: the local record, without asking the bank. */
export async function transferShow(context: Context, flow: string): Promise<void> {
  const { flows } = await context.store();
  const found = await flows.find('transfer', flow);
  refuseOtherCustomer(context, found);
  printTransfer(context, found);
}
