import type { Context } from '../context.ts';
import { printConsent } from './output.ts';

/** `psd2 consent show <flow>`: what is on disk, without asking the bank. */
export async function consentShow(context: Context, flow: string): Promise<void> {
  printConsent(context, (await context.store()).journal.openConsent(flow).current);
}
