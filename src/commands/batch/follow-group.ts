import { endSettledGroups } from '../../flows/batch/end-groups.ts';
import { groupPurpose, tidy } from '../../flows/batch/group.ts';
import { groupKindOf } from '../../flows/batch/pay-share.ts';
import { actorOf } from '../../store/machine/actor.ts';
import type { GenericOperation } from '../../store/ports/flows.ts';
import type { Context } from '../context.ts';
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
