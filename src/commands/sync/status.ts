import { Psd2Error } from '../../errors.ts';
import type { RoundStatus } from '../../store/ports/sync.ts';
import { cleanText } from '../../terminal/clean.ts';
import { flag, list, number, object, orNull, seen, text, time, whole } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { examples, verb } from '../declare.ts';
import { failedReads, KEPT_FOR, showFailed } from './failed.ts';

/** How many customers ended in which way, as people see them. */
function doneFields() {
  type Done = { done: Record<'synced' | 'partly' | 'waiting' | 'failed', number> };
  return {
    synced: seen('Synced', ({ done }: Done) => String(done.synced)),
    partly: seen('Synced in part', ({ done }: Done) => String(done.partly)),
    waiting: seen('Waiting for their next read', ({ done }: Done) => String(done.waiting)),
    failed: seen('Failed', ({ done }: Done) => String(done.failed)),
  };
}

/** The progress of the round over all customers. */
const shape = object({
  begunAt: orNull(time('when the round began; null if no round over all customers has begun')).as('Begun', {
    ifAny: true,
  }),
  endedAt: orNull(time('when the last customer was processed; null while the round is open')).as('Ended', {
    ifAny: true,
  }),
  due: whole('customers not processed yet').as('Due'),
  atWork: whole('customers that workers are processing').as('At work'),
  done: object({
    synced: whole('customers who were synced completely'),
    partly: whole('customers with accounts that were not synced'),
    waiting: whole('customers whose accounts psd2 may not read now'),
    failed: whole('customers who could not be synced'),
  }),
  ...doneFields(),
  failures: list(
    object({
      code: text('error code'),
      customers: whole('number of customers with this failure'),
      customerId: text('one of these customers'),
      message: text('error message for that customer'),
    }),
    'failures, the most frequent first',
  )
    .as('Why', { ifAny: true })
    .written((failures) => failures.map(writeFailure)),
  needSca: list(text(), 'customerId of customers whose SCA the bank requires, at most 100').as(
    "Needing the customer's SCA",
    { ifAny: true },
  ),
  workers: list(
    object({
      worker: text('process and machine'),
      customers: whole('number of customers that it is processing'),
    }),
    'workers that take part in the round now',
  )
    .as('Workers', { ifAny: true })
    .written((workers) => workers.map(writeWorker)),
  callsPerSecond: orNull(number('calls of all workers, over the last minutes; null after the end'))
    .as('Calls a second', { ifAny: true })
    .written((calls) => calls?.toFixed(1)),
  customersPerSecond: orNull(
    number('customers processed per second, over the last minutes; null after the end'),
  ),
  doneAt: orNull(time('estimated end of the round at the current rate')).as('Done at', { ifAny: true }),
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
  )
    .as('Not certain', { ifAny: true })
    .written((doubts) => doubts.map(writeDoubt)),
});

/** `psd2 sync status`: shows the progress of the round over all customers, or what failed (store and operations pages). */
export const status = verb(
  {
    prints: { what: 'progress of a round over all customers', shape },
    printsWith: { '--failed': { what: 'what syncs could not read', shape: failedReads } },
    help: `
With PostgreSQL it shows all workers, on any machine. With files it shows the last sync of this configuration folder.
It makes no call to the bank.

With --failed it lists each customer and account that a sync could not read: why, since when and how often in a row, the
last success, and the command that helps. The store keeps failures for 30 days. Of these, --since shows the latest. Accounts
that a sync has read since are marked and listed last.
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
    await showSync(context);
  },
);

async function showSync(context: Context): Promise<void> {
  const { output, world } = context;
  const { rounds, results } = await context.store();
  const round = await (await rounds()).status();
  const doubts = (await results.doubts()).slice(0, MAX_DOUBTS);
  const status = round ?? (doubts.length > 0 ? NO_ROUND : undefined);
  if (!status)
    throw new Psd2Error('usage', 'No round over all customers has begun yet', {
      next: [['sync', '--all-customers']],
    });
  output.record({ ...status, doneAt: doneAt(status, world.now()), doubts }, shape, 'titles');
}

const MAX_DOUBTS = 1_000;
/** What is shown if customers were synced by name only. */
const NO_ROUND = {
  begunAt: null,
  endedAt: null,
  due: 0,
  atWork: 0,
  failures: [],
  needSca: [],
  workers: [],
  done: { synced: 0, partly: 0, waiting: 0, failed: 0 },
  callsPerSecond: null,
  customersPerSecond: null,
};

function writeDoubt({
  customerId,
  productId,
  message,
}: Record<'customerId' | 'productId' | 'message', string>): string {
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
