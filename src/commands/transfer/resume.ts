import { isOpen } from '../../domain/flow-states.ts';
import type { Context } from '../context.ts';
import { refuseUnconfirmable } from '../flow/rules.ts';
import { unfinishedFlow } from '../flow/unfinished.ts';
import { writeMoney } from '../shared/money.ts';
import { readFurtherData } from '../shared/read-data.ts';
import { driveTransfer } from './drive.ts';
import { refuseAboveLimit, refuseUncheckedPayee, takeReference } from './rules.ts';

/** `psd2 transfer resume <flow>`: goes on from what is on disk; never pays twice. */
export async function transferResume(
  context: Context,
  named: string | undefined,
  options: { payeeVerified: boolean; verifyData: string[] },
): Promise<void> {
  const flow = named ?? (await unfinishedTransfer(context));
  const { journal } = await context.store(flow);
  const profile = context.profile();
  const { current } = journal.openTransfer(flow);
  const { order } = current;
  if (isOpen(current) && !current.accepted) {
    refuseUnconfirmable(context, 'A transfer');
    refuseUncheckedPayee(context, profile, { ...options, instant: order.instant });
    refuseAboveLimit(profile, order);
  }
  const furtherData = await readFurtherData(context, options.verifyData);
  const opened = await context.forCustomer(order.customerId).bank();
  await opened.journal.claimed(current.flow, async () => {
    const open = opened.journal.openTransfer(current.flow);
    // It may have been stopped before it had the reference, and another transfer have it since.
    if (isOpen(open.current)) takeReference(opened.journal, open);
    if (furtherData.length > 0) open.record({ type: 'further-data', data: furtherData });
    await driveTransfer(context, opened, open, options.payeeVerified);
  });
}

function unfinishedTransfer(context: Context): Promise<string> {
  return unfinishedFlow(context, 'transfer', {
    read: (journal, flow) => journal.openTransfer(flow).current,
    describe: ({ order }) => `${writeMoney(order)} to ${order.name}`,
  });
}
