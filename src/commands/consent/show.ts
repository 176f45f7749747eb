import type { Context } from '../context.ts';
import { refuseOtherCustomer } from '../flow/customer.ts';
import { printConsent } from './output.ts';

/** `psd2 consent show <flow>`: the local record, without asking the bank. */
export async function consentShow(context: Context, flow: string): Promise<void> {
  const { flows } = await context.store();
  const found = await flows.find('consent', flow);
  refuseOtherCustomer(context, found);
  printConsent(context, found);
}
