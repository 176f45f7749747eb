import type { PsuIdentification } from '../../bank/ports/call.ts';
import { Psd2Error } from '../../errors.ts';
import { groupPurpose } from '../../flows/batch/group.ts';
import { Initiations } from '../../flows/batch/initiations.ts';
import { linesOfGroup } from '../../flows/batch/known-lines.ts';
import { groupKindOf } from '../../flows/batch/pay-share.ts';
import { PinsOfRun } from '../../flows/batch/pins.ts';
import type { BatchRun } from '../../flows/batch/ports.ts';
import type { GenericOperation, Open } from '../../store/ports/flows.ts';
import type { Context } from '../context.ts';
import { commandThatContinues } from '../flow/next-command.ts';
import { customerPortsOf } from '../flow/ports.ts';
import { followed, payers } from './payers.ts';

/** @throws Psd2Error `usage` for a bulk payment or signing basket that the bank may not have: only the batch sends it */
export function refuseUnlessAtBank(group: GenericOperation): void {
  if (group.verification) return;
  const { flow, order, state } = group;
  throw new Psd2Error(
    'usage',
    `The ${order.operation} ${flow} is ${state}, and has no resource at the bank`,
    {
      hint: 'Only its batch goes on with it:',
      next: [commandThatContinues(group)],
      flow,
    },
  );
}

/**
 * Goes on with a bulk payment or signing basket that the bank has, and writes into its payments what became of them.
 *
 * @param person who authorises it now, if it is not the customer
 */
export async function resumeGroup(
  context: Context,
  open: Open<'operation'>,
  person: PsuIdentification | undefined,
): Promise<void> {
  const { flow, order } = open.current;
  const data = await context.store();
  const { batch } = groupPurpose(open.current);
  const run: BatchRun = {
    ...followed(context, data, batch),
    links: null,
    acceptsClose: false,
    person,
    payerOf: payers(context),
    initiations: new Initiations(),
    pins: new PinsOfRun(),
    whileWaiting: customerPortsOf(context, context.profile()).whileWaiting,
  };
  const payer = await run.payerOf({ customer: order.customerId });
  const returns: typeof payer.returns = (transactionId) => payer.returns(transactionId, person);
  const lines = linesOfGroup(await data.batches.find(batch), flow);
  await groupKindOf(open.current).send(run, { ...payer, returns }, open, { lines, isNew: false });
}
