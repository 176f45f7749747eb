import type { Context } from '../context.ts';
import { driveConsent } from './drive.ts';

/** `psd2 consent resume <flow>` */
export async function consentResume(
  context: Context,
  flow: string,
  options: { allowPartial: boolean },
): Promise<void> {
  const { current } = (await context.store(flow)).journal.openConsent(flow);
  const opened = await context.forCustomer(current.customerId).bank();
  await opened.journal.claimed(current.flow, () =>
    driveConsent(context, opened, opened.journal.openConsent(current.flow), options.allowPartial),
  );
}
