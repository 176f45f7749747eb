import type { Context } from '../context.ts';
import { unfinishedFlow } from '../flow/unfinished.ts';
import { driveConsent } from './drive.ts';

/** `psd2 consent resume <flow>` */
export async function consentResume(
  context: Context,
  named: string | undefined,
  options: { allowPartial: boolean },
): Promise<void> {
  const flow = named ?? (await unfinishedConsent(context));
  const { current } = (await context.store(flow)).journal.openConsent(flow);
  const opened = await context.forCustomer(current.customerId).bank();
  await opened.journal.claimed(current.flow, () =>
    driveConsent(context, opened, opened.journal.openConsent(current.flow), options.allowPartial),
  );
}

function unfinishedConsent(context: Context): Promise<string> {
  return unfinishedFlow(context, 'consent', {
    read: (journal, flow) => journal.openConsent(flow).current,
    describe: ({ categories }) => categories.map(({ name }) => name).join(', '),
  });
}
