import { standingOf } from '../../domain/flow-states.ts';
import { needsSettlement, type Transfer } from '../../domain/transfer.ts';
import type { Batches } from '../../store/ports/batches.ts';
import type { Flows } from '../../store/ports/flows.ts';
import { linesOfGroup } from './known-lines.ts';

/**
 * Ends the bulk payments and signing baskets of a batch that are unknown, although each of their transfers has ended: by its own
 * status at the bank, or by a person. Nothing is left to ask or to decide about them.
 *
 * @param by the person whose command it is
 */
export async function endSettledGroups(
  { batches, flows }: { batches: Pick<Batches, 'find'>; flows: Pick<Flows, 'find' | 'resume'> },
  batch: string,
  by: string,
): Promise<void> {
  const current = await batches.find(batch);
  for (const group of current.bulks.keys()) {
    const operation = await flows.find('operation', group);
    if (standingOf(operation) !== 'sent') continue;
    const transfers: Transfer[] = [];
    for (const { flow } of linesOfGroup(current, group)) transfers.push(await flows.find('transfer', flow));
    const own = transfers.filter(({ bulk }) => bulk === group);
    if (own.length === 0 || !own.every(hasTransferEnded)) continue;
    const isAnyPaid = own.some((transfer) => standingOf(transfer) === 'done');
    const note = 'Each of its payments has ended.';
    await flows.resume('operation', group, async (open) => {
      if (standingOf(open.current) === 'sent')
        await open.record({ type: 'resolved', outcome: isAnyPaid ? 'executed' : 'not-executed', by, note });
    });
  }
}

function hasTransferEnded(transfer: Transfer): boolean {
  const standing = standingOf(transfer);
  if (standing === 'done') return transfer.state !== 'executed' || !needsSettlement(transfer.order);
  return standing === 'refused';
}
