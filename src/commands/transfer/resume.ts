import { isOpen, maySend } from '../../domain/flow-states.ts';
import type { Context } from '../context.ts';
import { forFlow, refuseOtherCustomer } from '../flow/customer.ts';
import { refuseClientCredentials, refuseUnconfirmable } from '../flow/rules.ts';
import { unfinishedFlow } from '../flow/unfinished.ts';
import { writeMoney } from '../shared/money.ts';
import { readFurtherData } from '../shared/read-data.ts';
import { driveTransfer } from './drive.ts';
import { refuseAboveLimit, refuseUncheckedPayee } from './rules.ts';

/** `psd2 transfer resume <flow>`: continues from the journal; never pays twice. */
export async function transferResume(
  context: Context,
  named: string | undefined,
  options: { payeeVerified: boolean; verifyData: string[] },
): Promise<void> {
  const flow = named ?? (await unfinishedTransfer(context));
  const { flows } = await context.store(flow);
  const profile = context.profile();
  const current = await flows.find('transfer', flow);
  refuseOtherCustomer(context, current);
  const { order } = current;
  if (maySend(current)) refuseClientCredentials(context);
  if (isOpen(current) && !current.accepted) {
    refuseUnconfirmable(context, 'A transfer');
    refuseUncheckedPayee(context, profile, { ...options, instant: order.instant });
    refuseAboveLimit(profile, order);
  }
  const furtherData = await readFurtherData(context, options.verifyData);
  const opened = await (await forFlow(context, current)).bank();
  await opened.flows.resume('transfer', current.flow, async (open) => {
    if (furtherData.length > 0) await open.record({ type: 'further-data', data: furtherData });
    await driveTransfer(context, opened, open, options.payeeVerified);
  });
}

function unfinishedTransfer(context: Context): Promise<string> {
  return unfinishedFlow(context, 'transfer', {
    read: (flows, flow) => flows.find('transfer', flow),
    describe: ({ order }) => `${writeMoney(order)} to ${order.name}`,
  });
}
