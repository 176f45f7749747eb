import type { Context } from '../context.ts';
import { refuseOtherCustomer } from '../flow/customer.ts';
import { printOperation } from './output.ts';

/** `psd2 operation show <flow>`: the local record, without asking the bank. */
export async function operationShow(context: Context, flow: string): Promise<void> {
  const { flows } = await context.store();
  const found = await flows.find('operation', flow);
  refuseOtherCustomer(context, found);
  printOperation(context, found);
}
