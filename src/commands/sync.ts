import { addDays, bankDay, type IsoDate, parseDate } from '../domain/calendar.ts';
import { Psd2Error } from '../errors.ts';
import { cleanText } from '../terminal/clean.ts';
import type { Column } from '../terminal/output.ts';
import type { Context } from './context.ts';
import { keepHeapSmall } from './keep-heap-small.ts';
import { customerOf, type OpenProfile, openProfileOf } from './open-profile.ts';
import { openTransport } from './open-transport.ts';
import { type CustomerReport, SharedProgress, syncCustomers } from './sync-customers.ts';

export interface SyncOptions {
  out: string;
  allCustomers: boolean;
  since: string | undefined;
  concurrency: string;
}

/** Older transactions are shown only after the customer's own SCA (RTS (EU) 2018/389, article 10). */
const DAYS_WITHOUT_SCA = 89;

/**
 * `psd2 sync`: brings a folder up to date for each customer. What goes wrong with one customer stops no other.
 *
 * @throws Psd2Error of the first failure, once all customers had their turn
 */
export async function sync(context: Context, options: SyncOptions): Promise<void> {
  const today = bankDay(context.world.now());
  const since =
    options.since === undefined ? addDays(today, -DAYS_WITHOUT_SCA) : parseDate('--since', options.since);
  if (since > today) throw new Psd2Error('invalid_date', `--since ${since} is in the future`);
  if (options.out === '') throw new Psd2Error('usage', '--out names no folder');
  const concurrency = parseConcurrency(options.concurrency);
  const opened = openProfileOf(context);
  const customers = customersOf(context, opened, options.allCustomers);
  const transport = await openTransport(context, opened, context.globals.grant);

  const progress = new SharedProgress();
  const job = { out: options.out, since, today, customers, concurrency, progress };
  const start = context.world.now().getTime();
  keepHeapSmall();
  const { reports, failures } = await context.terminal.whileWaiting(
    () =>
      progressLine(
        customers.length,
        progress.done,
        transport.pace.turns,
        context.world.now().getTime() - start,
      ),
    syncCustomers(context, opened, transport, job),
  );
  if (context.world.signal.aborted) throw stopped(progress.done, customers.length);

  reports.sort((a, b) => a.customerId.localeCompare(b.customerId));
  report(context, { out: options.out, since, customers: reports }, transport.pace.turns);
  const [first] = failures;
  if (first) {
    const incomplete = reports.filter(({ status }) => status !== 'synced').length;
    throw new Psd2Error(
      first.code,
      `${incomplete} of ${customers.length} customers could not be synced completely; the first failure: ${first.message}`,
      { ...first.context, hint: first.code === 'sca_required' ? SCA_FIRST : RUN_AGAIN },
    );
  }
}

const RUN_AGAIN = 'What was written is good. Run the same psd2 sync again to go on.';
const SCA_FIRST =
  'What was written is good. The customer has to be there once: psd2 accounts transactions <productId> sends them to the bank (--customer says whom). Then run the same psd2 sync again.';

/** What the operator is told who has stopped a sync. */
function stopped(done: number, all: number): Psd2Error {
  return new Psd2Error('interrupted', `Interrupted: ${done} of ${all} customers were done`, {
    hint: 'What was read is stored. Run the same psd2 sync again to go on.',
  });
}

/** @throws Psd2Error `not_logged_in` when there is nobody to sync */
function customersOf(context: Context, opened: OpenProfile, all: boolean): string[] {
  if (!all) return [customerOf(context, opened)];
  if (context.globals.customer !== undefined) {
    throw new Psd2Error('usage', '--customer and --all-customers contradict each other', {
      hint: 'Leave one of them out.',
    });
  }
  const customers = opened.tokens.customers();
  if (customers.length > 0) return customers;
  throw new Psd2Error('not_logged_in', `Nobody is logged in with the profile ${opened.profile.name}`, {
    hint: `Run psd2 --profile ${opened.profile.name} auth login.`,
  });
}

/** @throws Psd2Error `usage` */
function parseConcurrency(text: string): number {
  if (/^[1-9]\d?$/.test(text)) return Number(text);
  throw new Psd2Error('usage', `--concurrency ${JSON.stringify(text)} is not a whole number from 1 to 99`);
}

const TOTAL_FIELDS: Column<SyncReport>[] = [
  { title: 'Folder', value: ({ out }) => out },
  { title: 'Customers', value: ({ customers }) => String(customers.length) },
  { title: 'Completely synced', value: ({ totals }) => String(totals.synced) },
  { title: 'Accounts', value: ({ totals }) => String(totals.accounts) },
  { title: 'New transactions', value: ({ totals }) => String(totals.newTransactions) },
  { title: 'Pending', value: ({ totals }) => String(totals.pending) },
  { title: 'Calls', value: ({ totals }) => String(totals.calls) },
];

/** What a sync did. */
interface SyncReport {
  out: string;
  since: IsoDate;
  totals: { synced: number; accounts: number; newTransactions: number; pending: number; calls: number };
  customers: CustomerReport[];
}

function report({ output, terminal }: Context, done: Omit<SyncReport, 'totals'>, calls: number): void {
  const { customers } = done;
  const sum = (of: (customer: CustomerReport) => number) =>
    customers.reduce((all, each) => all + of(each), 0);
  const totals = {
    synced: customers.filter(({ status }) => status === 'synced').length,
    accounts: sum(({ accounts }) => accounts),
    newTransactions: sum(({ newTransactions }) => newTransactions),
    pending: sum(({ pending }) => pending),
    calls,
  };
  for (const { customerId, errors } of customers) {
    for (const { productId, message } of errors) {
      terminal.warn(
        cleanText(`Customer ${customerId}${productId ? `, product ${productId}` : ''}: ${message}`),
      );
    }
  }
  output.record({ ...done, totals }, TOTAL_FIELDS);
}

const BAR_WIDTH = 20;

/** For example `[=====>              ] 120 of 500 customers, 35.2 calls/s, 1 min left`. */
function progressLine(all: number, done: number, calls: number, milliseconds: number): string {
  const filled = Math.floor((done / all) * BAR_WIDTH);
  const bar = `${'='.repeat(filled)}${filled < BAR_WIDTH ? '>' : ''}`.padEnd(BAR_WIDTH);
  const seconds = milliseconds / 1000;
  const left = done === 0 ? '' : `, ${writeDuration((seconds / done) * (all - done))} left`;
  const rate = seconds < 1 ? '' : `, ${(calls / seconds).toFixed(1)} calls/s`;
  return `[${bar}] ${done} of ${all} customers${rate}${left}`;
}

function writeDuration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
