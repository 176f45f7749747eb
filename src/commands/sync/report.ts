import { addDays, bankLocalTime, type IsoDate } from '../../domain/calendar.ts';
import { Psd2Error } from '../../errors.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Column } from '../../terminal/output/output.ts';
import type { Context } from '../context.ts';
import type { CustomerReport } from './customers.ts';
import { syncReport } from './shape.ts';
import type { SyncTally } from './tally.ts';

/** What a sync did. */
interface SyncReport {
  /** Null where the rows are in the database alone. */
  out: string | null;
  since: IsoDate;
  /** ISO 8601; null where nothing was skipped. */
  nextReadsAt: string | null;
  totals: SyncTally['totals'] & { calls: number };
  customers: CustomerReport[];
}

const TOTAL_FIELDS: Column<SyncReport>[] = [
  { title: 'Folder', value: ({ out }) => out },
  { title: 'Customers', value: ({ totals }) => String(totals.customers) },
  { title: 'Completely synced', value: ({ totals }) => String(totals.synced) },
  { title: 'Accounts', value: ({ totals }) => String(totals.accounts) },
  { title: 'New transactions', value: ({ totals }) => String(totals.newTransactions) },
  { title: 'Pending', value: ({ totals }) => String(totals.pending) },
  { title: 'Calls', value: ({ totals }) => String(totals.calls) },
];

/** Prints what a sync did, and warns of what went wrong. @param calls made to the bank */
export function report(
  context: Context,
  plan: { out: string | undefined; since: IsoDate; today: IsoDate; unattendedReads: number },
  tally: SyncTally,
  calls: number,
): void {
  const customers = tally.reports.toSorted((a, b) => a.customerId.localeCompare(b.customerId));
  const nextReadsAt = warnOfSkipped(context, tally, plan);
  warnOfErrors(context, customers);
  const { out = null, since } = plan;
  const totals = { ...tally.totals, calls };
  context.output.record({ out, since, customers, nextReadsAt, totals }, TOTAL_FIELDS, syncReport);
}

/** Says on stderr what went wrong. */
export function warnOfErrors({ terminal }: Context, customers: readonly CustomerReport[]): void {
  for (const { customerId, errors } of customers) {
    for (const { productId, message } of errors) {
      terminal.warn(
        cleanText(`Customer ${customerId}${productId ? `, product ${productId}` : ''}: ${message}`),
      );
    }
  }
}

/** @returns when what was skipped may be read again, ISO 8601; null where nothing was */
export function warnOfSkipped(
  { terminal }: Context,
  { skipped: { customers, accounts } }: SyncTally,
  { today, unattendedReads: budget }: { today: IsoDate; unattendedReads: number },
): string | null {
  if (customers + accounts === 0) return null;
  const at = new Date(bankLocalTime(addDays(today, 1), '00:00')).toISOString();
  const skipped = [
    ...(customers > 0 ? [`${customers} customer${customers === 1 ? '' : 's'}`] : []),
    ...(accounts > 0 ? [`${accounts} account${accounts === 1 ? '' : 's'}`] : []),
  ];
  terminal.warn(
    `Skipped: ${skipped.join(' and ')}, read ${budget} time${budget === 1 ? '' : 's'} today without the customer (--unattended-reads). They may be read again from ${terminal.writeTime(at)}.`,
  );
  return at;
}

const RUN_AGAIN = 'What was written is good. Run the same psd2 sync again to go on.';
const SCA_FIRST =
  'What was written is good. The customer has to be there once: psd2 accounts transactions <productId> sends them to the bank (--customer says whom). Then run the same psd2 sync again.';

/** That not all was synced; undefined where it was. */
export function incomplete({
  firstFailure: first,
  incomplete: count,
  totals,
}: SyncTally): Psd2Error | undefined {
  if (!first) return undefined;
  return new Psd2Error(
    first.code,
    `${count} of ${totals.customers} customers could not be synced completely; the first failure: ${first.message}`,
    { ...first.context, hint: first.code === 'sca_required' ? SCA_FIRST : RUN_AGAIN },
  );
}

/** What an operator is told who has stopped a sync. @param all how many customers were to be synced */
export function stopped({ totals, firstFailure }: SyncTally, all: number): Psd2Error {
  const failed = firstFailure ? ` The first failure until then: ${firstFailure.message}.` : '';
  return new Psd2Error('interrupted', `Interrupted: ${totals.customers} of ${all} customers were done`, {
    hint: `What was read is stored. Run the same psd2 sync again to go on.${failed}`,
  });
}

const BAR_WIDTH = 20;

/** For example `[=====>              ] 120 of 500 customers, 35.2 calls/s, 1 min left`. */
export function progressLine(all: number, done: number, calls: number, milliseconds: number): string {
  const filled = all === 0 ? BAR_WIDTH : Math.floor((done / all) * BAR_WIDTH);
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
