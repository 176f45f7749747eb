import type { Context } from '../context.ts';
import { driveConsent } from './drive.ts';

/** `psd2 consent resume <flow>` */
export async function consentResume(
  context: Context,
  flow: string,
  options: { allowPartial: boolean },
): Promise<void> {
  const { flows } = await context.store(flow);
  const current = await flows.find('consent', flow);
  const opened = await context.forCustomer(current.customerId).bank();
  await opened.flows.resume('consent', current.flow, (open) =>
    driveConsent(context, opened, open, options.allowPartial),
  );
}
