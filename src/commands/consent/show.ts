import type { Context } from '../context.ts';
import { printConsent } from './output.ts';

/** `psd2 consent show <flow>`: the local record, without asking the bank. */
export async function consentShow(context: Context, flow: string): Promise<void> {
  const { flows } = await context.store();
  printConsent(context, await flows.find('consent', flow));
}
