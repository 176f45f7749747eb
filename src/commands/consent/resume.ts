import type { Context } from '../context.ts';
import { actingFor } from '../flow/rules.ts';
import { openCustomerBank } from '../open/bank.ts';
import { openProfileOf } from '../open/profile.ts';
import { driveConsent } from './drive.ts';

/** `psd2 consent resume <flow>` */
export async function consentResume(
  context: Context,
  flow: string,
  options: { allowPartial: boolean },
): Promise<void> {
  const { current } = openProfileOf(context, flow).journal.openConsent(flow);
  const opened = await openCustomerBank(actingFor(context, current.customerId));
  await opened.journal.claimed(current.flow, () =>
    driveConsent(context, opened, opened.journal.openConsent(current.flow), options.allowPartial),
  );
}
