import { Psd2Error } from '../../errors.ts';
import type { RoundStatus } from '../../store/ports/rounds.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Column } from '../../terminal/output/output.ts';
import type { Context } from '../context.ts';
import { syncStatus as shape } from './shape.ts';

type SyncStatus = RoundStatus & { doneAt: string | null };

const count = (of: (status: SyncStatus) => number) => (status: SyncStatus) => String(of(status));

/** `psd2 sync status`: shows the progress of the round over all customers (store page, "Commands"). */
export async function syncStatus(context: Context): Promise<void> {
  const { output, terminal, world } = context;
  const status = await (await (await context.store()).rounds()).status();
  if (!status) {
    throw new Psd2Error('usage', 'No round over all customers has begun yet', {
      next: [['sync', '--all-customers']],
    });
  }
  const columns: Column<SyncStatus>[] = [
    { title: 'Begun', value: ({ begunAt }) => terminal.writeTime(begunAt) },
    { title: 'Ended', value: ({ endedAt }) => endedAt && terminal.writeTime(endedAt) },
    { title: 'Due', value: count(({ due }) => due) },
    { title: 'At work', value: count(({ atWork }) => atWork) },
    { title: 'Synced', value: count(({ done }) => done.synced) },
    { title: 'Synced in part', value: count(({ done }) => done.partly) },
    { title: 'Waiting for their next read', value: count(({ done }) => done.waiting) },
    { title: 'Failed', value: count(({ done }) => done.failed) },
    { title: 'Why', value: ({ failures }) => failures.map(writeFailure).join('\n') },
    { title: "Needing the customer's SCA", value: ({ needSca }) => needSca.join(' ') },
    { title: 'Workers', value: ({ workers }) => workers.map(writeWorker).join('\n') },
    { title: 'Calls a second', value: ({ callsPerSecond }) => callsPerSecond?.toFixed(1) ?? null },
    { title: 'Done at', value: ({ doneAt }) => doneAt && terminal.writeTime(doneAt) },
  ];
  output.record({ ...status, doneAt: doneAt(status, world.now()) }, columns, shape);
}

/** When the round will end at the current rate. ISO 8601; null if it has ended, or the rate is not known. */
export function doneAt(
  {
    endedAt,
    due,
    atWork,
    customersPerSecond,
  }: Pick<RoundStatus, 'endedAt' | 'due' | 'atWork' | 'customersPerSecond'>,
  now: Date,
): string | null {
  if (endedAt !== null || !customersPerSecond) return null;
  return new Date(now.getTime() + ((due + atWork) / customersPerSecond) * 1000).toISOString();
}

function writeFailure({ code, customers, customerId, message }: RoundStatus['failures'][number]): string {
  return cleanText(`${customers} ${code}, for example customer ${customerId}: ${message}`);
}

function writeWorker({ worker, customers }: RoundStatus['workers'][number]): string {
  return `${worker}: ${customers}`;
}
