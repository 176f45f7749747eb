import type { Batch } from '../../domain/batch/batch.ts';
import type { IsoDate } from '../../domain/calendar.ts';
import { isOver, standingOf } from '../../domain/flow-states.ts';
import { mayBeRejected, needsSettlement, type Transfer } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import { readLines } from '../../flows/batch/known-lines.ts';
import type { GenericOperation } from '../../store/ports/flows.ts';
import type { ProfileData } from '../../store/ports/store.ts';
import { customerIdOf } from '../flow/customer.ts';
import { collect } from '../flow/list.ts';
import type { Collected } from './collected.ts';

/**
 * Refuses to forget a customer whose payments are not over: nobody could find out what became of them.
 *
 * @throws Psd2Error `config` that names them, or a batch that pays for the customer, or another psd2 that works for them
 */
export async function refuseUnfinished(
  { flows, batches }: ProfileData,
  { customerId, flows: theirFlows, batches: theirs }: Collected,
  today: IsoDate,
): Promise<void> {
  const busy = (await flows.atWork()).find(({ flow }) => theirFlows.some((each) => each.flow === flow));
  if (busy)
    throw new Psd2Error(
      'config',
      `Another psd2 is working on ${busy.flow} of customer ${customerId}: ${busy.holder}`,
      { hint: 'Wait for it to end. Nothing was forgotten.' },
    );
  const transfers = await collect(flows.list('transfer', { customer: customerId }));
  const operations = [
    ...transfers.filter((transfer) => isUnfinished(transfer) || mayBeRejected(transfer, today)),
    ...(await collect(flows.list('operation', { customer: customerId }))).filter(isUnfinished),
  ].filter((operation) => customerIdOf(operation) === customerId);
  const [first] = operations;
  if (first) {
    const named = operations.slice(0, 5).map(({ flow, state }) => `${flow} (${state})`);
    const more = operations.length > 5 ? [`and ${operations.length - 5} more`] : [];
    throw new Psd2Error(
      'config',
      `Customer ${customerId} has unfinished payments: ${[...named, ...more].join(', ')}`,
      {
        hint: 'Nothing was forgotten. First find out what became of each, or cancel it:',
        next: operations.slice(0, 3).map(({ kind, flow }) => [kind, 'resume', flow]),
        flow: first.flow,
      },
    );
  }
  for (const { batch } of theirs)
    if (await isBatchUnfinished(flows, batches, batch)) throw openBatch(customerId, batch);
}

/**
 * Refuses to forget a customer while a batch is damaged: psd2 cannot tell whether it pays for them, and later not at all.
 *
 * @throws Psd2Error `config` that names the first one
 */
export function refuseDamaged({ customerId, damagedBatches: [first] }: Collected): void {
  if (!first) return;
  throw new Psd2Error(
    'config',
    `psd2 cannot tell whether a batch has payments of customer ${customerId}. ${first.damage.message}`,
    {
      hint: 'Nothing was forgotten. Restore the batch from a backup. If you have none, add --leave-damaged to forget all else: the proof then names the batch.',
    },
  );
}

function isUnfinished(operation: Transfer | GenericOperation): boolean {
  switch (standingOf(operation)) {
    case 'open':
    case 'sent':
      return true;
    case 'done':
      return 'instant' in operation.order && needsSettlement(operation.order) && !isOver(operation);
    case 'refused':
      return false;
    case 'kept':
      return operation.state !== 'ended';
  }
}

async function isBatchUnfinished(
  flows: ProfileData['flows'],
  batches: ProfileData['batches'],
  batch: Batch,
): Promise<boolean> {
  if (batch.rejection || batch.pseudonymised.size > 0) return false;
  const lines = await readLines(flows, batch, await batches.lines(batch));
  return lines.some(({ outcome }) => !['paid', 'accepted', 'ordered', 'not paid'].includes(outcome));
}

function openBatch(customerId: string, { batch }: Batch): Psd2Error {
  return new Psd2Error('config', `A batch with payments of customer ${customerId} is not over: ${batch}`, {
    hint: 'Nothing was forgotten. First pay the rest of it, or cancel it:',
    next: [
      ['batch', 'status', batch],
      ['batch', 'cancel', batch],
    ],
  });
}
