import { isOver } from '../../domain/flow-states.ts';
import type { Context } from '../context.ts';
import { forFlow, refuseOtherCustomer } from '../flow/customer.ts';
import { refuseClientCredentials } from '../flow/rules.ts';
import { unfinishedFlow } from '../flow/unfinished.ts';
import { driveConsent } from './drive.ts';

/** `psd2 consent resume <flow>` */
export async function consentResume(
  context: Context,
  named: string | undefined,
  options: { allowPartial: boolean },
): Promise<void> {
  const flow = named ?? (await unfinishedConsent(context));
  const { flows } = await context.store(flow);
  const current = await flows.find('consent', flow);
  refuseOtherCustomer(context, current);
  if (!isOver(current)) refuseClientCredentials(context);
  const opened = await (await forFlow(context, current)).bank();
  await opened.flows.resume('consent', current.flow, (open) =>
    driveConsent(context, opened, open, options.allowPartial),
  );
}

function unfinishedConsent(context: Context): Promise<string> {
  return unfinishedFlow(context, 'consent', {
    read: (flows, flow) => flows.find('consent', flow),
    describe: ({ categories }) => categories.map(({ name }) => name).join(', '),
  });
}
