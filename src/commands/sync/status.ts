import { Psd2Error } from '../../errors.ts';
import type { RoundStatus } from '../../store/ports/sync.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Column } from '../../terminal/output/fields.ts';
import {
  flag,
  list,
  number,
  object,
  orNull,
  text,
  time,
  type ValueOf,
  whole,
} from '../../terminal/output/fields.ts';
import { linesAs } from '../../terminal/output/output.ts';
import type { Context } from '../context.ts';
import { examples, verb } from '../declare.ts';
import { failedReads, KEPT_FOR, showFailed } from './failed.ts';

/** The progress of the round over all customers. */
const shape = object({
  begunAt: orNull(time('when the round began; null if no round over all customers has begun')),
  endedAt: orNull(time('when the last customer was processed; null while the round is open')),
  due: whole('customers not processed yet'),
  atWork: whole('customers that workers are processing'),
  done: object({
    synced: whole('customers who were synced completely'),
    partly: whole('customers with accounts that were not synced'),
    waiting: whole('customers whose accounts psd2 may not read now'),
    failed: whole('customers who could not be synced'),
  }),
  failures: list(
    object({
      code: text('error code'),
      customers: whole('number of customers with this failure'),
      customerId: text('one of these customers'),
      message: text('error message for that customer'),
    }),
    'failures, the most frequent first',
  ),
  needSca: list(text(), 'customerId of customers whose SCA the bank requires, at most 100'),
  workers: list(
    object({
      worker: text('process and machine'),
      customers: whole('number of customers that it is processing'),
    }),
    'workers that take part in the round now',
  ),
  callsPerSecond: orNull(number('calls of all workers, over the last minutes; null after the end')),
  customersPerSecond: orNull(
    number('customers processed per second, over the last minutes; null after the end'),
  ),
  doneAt: orNull(time('estimated end of the round at the current rate')),
  doubts: list(
    object({
      customerId: text('id of the customer'),
      productId: text('the account'),
      at: time('the sync that found it'),
      balanced: orNull(flag("whether the bank's balance fits the stored transactions; null: not known")),
      difference: orNull(text("what the bank's balance has beyond them; null: not known")),
      complete: flag('whether the bank showed all transactions of the days that psd2 asked for'),
      certainFrom: orNull(text('the first day from which that is certain, if it is not complete')),
      message: text('what is not certain, in words'),
    }),
    'accounts whose transactions are not certain, as their last sync has found them; at most 1000',
  ),
});

type SyncStatus = ValueOf<typeof shape>;

const count = (of: (status: SyncStatus) => number) => (status: SyncStatus) => String(of(status));

/** `psd2 sync status`: shows the progress of the round over all customers, or what failed (store and operations pages). */
export const status = verb(
  {
    prints: { what: 'progress of a round over all customers', shape },
    printsWith: { '--failed': { what: 'what syncs could not read', shape: failedReads } },
    help: `
With PostgreSQL it shows all workers, on any machine. With files it shows the last sync of this configuration folder.
It makes no call to the bank.

With --failed it lists each customer and account that a sync could not read: why, since when and how often in a row, the
last success, and the command that helps. The store keeps failures for 30 days. Of these, --since shows the latest. What a
sync has read again since is marked, and comes last.
${examples('psd2 sync status', 'psd2 sync status --json --query doneAt -r', 'psd2 sync status --failed --since 12h')}`,
  },
  (command) =>
    command
      .option('--failed', 'list what syncs could not read')
      .option(
        '--since <time>',
        `with --failed: only failures since a time, a day or an age (12h); default: ${KEPT_FOR}`,
      ),
  async (context, { failed = false, since }) => {
    if (failed) return showFailed(context, since ?? KEPT_FOR);
    if (since !== undefined)
      throw new Psd2Error('usage', '--since needs --failed', {
        next: [['sync', 'status', '--failed', '--since', since]],
      });
    await showStatus(context);
  },
);

async function showStatus(context: Context): Promise<void> {
  const { output, terminal, world } = context;
  const { rounds, results } = await context.store();
  const round = await (await rounds()).status();
  const doubts = (await results.doubts()).slice(0, MAX_DOUBTS);
  const status = round ?? (doubts.length > 0 ? NO_ROUND : undefined);
  if (!status)
    throw new Psd2Error('usage', 'No round over all customers has begun yet', {
      next: [['sync', '--all-customers']],
    });
  const columns: Column<SyncStatus>[] = [
    { title: 'Begun', value: ({ begunAt }) => begunAt && terminal.writeTime(begunAt) },
    { title: 'Ended', value: ({ endedAt }) => endedAt && terminal.writeTime(endedAt) },
    { title: 'Due', value: count(({ due }) => due) },
    { title: 'At work', value: count(({ atWork }) => atWork) },
    { title: 'Synced', value: count(({ done }) => done.synced) },
    { title: 'Synced in part', value: count(({ done }) => done.partly) },
    { title: 'Waiting for their next read', value: count(({ done }) => done.waiting) },
    { title: 'Failed', value: count(({ done }) => done.failed) },
    ...linesAs('Why', status.failures.map(writeFailure), context.stdoutIsTerminal),
    { title: "Needing the customer's SCA", value: ({ needSca }) => needSca.join(' ') },
    ...linesAs('Workers', status.workers.map(writeWorker), context.stdoutIsTerminal),
    { title: 'Calls a second', value: ({ callsPerSecond }) => callsPerSecond?.toFixed(1) ?? null },
    { title: 'Done at', value: ({ doneAt }) => doneAt && terminal.writeTime(doneAt) },
    ...(doubts.length > 0 ? linesAs('Not certain', doubts.map(writeDoubt), context.stdoutIsTerminal) : []),
  ];
  output.record({ ...status, doneAt: doneAt(status, world.now()), doubts }, columns, shape, 'titles');
}

const MAX_DOUBTS = 1_000;
/** What is shown if customers were synced by name only. */
const NO_ROUND = {
  ...{ begunAt: null, endedAt: null, due: 0, atWork: 0, failures: [], needSca: [], workers: [] },
  ...{
    done: { synced: 0, partly: 0, waiting: 0, failed: 0 },
    callsPerSecond: null,
    customersPerSecond: null,
  },
};

function writeDoubt({ customerId, productId, message }: SyncStatus['doubts'][number]): string {
  return cleanText(`customer ${customerId}, account ${productId}: ${message}`);
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

function writeWorker({ worker, customers }: RoundStatus['workers'][number]): string {
  return `${worker}: ${customers}`;
}

function writeFailure({ code, customers, customerId, message }: RoundStatus['failures'][number]): string {
  return cleanText(`${customers} ${code}, for example customer ${customerId}: ${message}`);
}
