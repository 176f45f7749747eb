import type { PsuIdentification } from '../../bank/ports/call.ts';
import { Psd2Error } from '../../errors.ts';
import { refuseUnapproved } from '../../flows/batch/approval.ts';
import { endSettledGroups } from '../../flows/batch/end-groups.ts';
import { groupPurpose, tidy } from '../../flows/batch/group.ts';
import { Initiations } from '../../flows/batch/initiations.ts';
import { linesOfGroup } from '../../flows/batch/known-lines.ts';
import { groupKindOf } from '../../flows/batch/pay-share.ts';
import { PinsOfRun } from '../../flows/batch/pins.ts';
import type { BatchRun } from '../../flows/batch/ports.ts';
import { actorOf } from '../../store/machine/actor.ts';
import { controlsOf } from '../../store/machine/settings.ts';
import type { GenericOperation, Open } from '../../store/ports/flows.ts';
import type { Context } from '../context.ts';
import { commandThatContinues } from '../flow/next-command.ts';
import { customerPortsOf } from '../flow/ports.ts';
import { followed, payers } from './payers.ts';

/** Writes into the transfers of a bulk payment or signing basket what became of them, after a command about it alone. */
export async function followGroup(context: Context, group: GenericOperation): Promise<void> {
  const data = await context.store();
  const { batch } = groupPurpose(group);
  const store = {
    ...followed(context, data, batch),
    links: null,
    whileWaiting: context.terminal.whileWaiting,
  };
  const payer = await payers(context)({ customer: group.order.customerId });
  await groupKindOf(group).follow(store, payer, group);
  await tidy(store, group);
  const { operator, machine } = actorOf(context.env);
  await endSettledGroups(data, batch, `${operator}@${machine}`);
}

/**
 * What must hold before psd2 goes on with a bulk payment or signing basket without its batch.
 *
 * @throws Psd2Error `usage` if the bank may not have it, because only the batch sends it; as a run of the batch, if that was rejected or
 *   lacks approvals
 */
export async function refuseGroup(context: Context, group: GenericOperation): Promise<void> {
  const { flow, order, state } = group;
  if (!group.verification)
    throw new Psd2Error(
      'usage',
      `The ${order.operation} ${flow} is ${state}, and has no resource at the bank`,
      { hint: 'Only its batch goes on with it:', next: [commandThatContinues(group)], flow },
    );
  const { batches } = await context.store();
  const batch = await batches.find(groupPurpose(group).batch);
  refuseUnapproved(controlsOf(context.profile()), batch, await batches.lines(batch));
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
