import { availableParallelism } from 'node:os';
import type { Command } from '@commander-js/extra-typings';
import { bankDay, type IsoDate, parseDate } from '../../domain/calendar.ts';
import { Psd2Error } from '../../errors.ts';
import type { Context } from '../context.ts';
import type { OptionsOf } from '../declare.ts';
import { grantOf } from '../open/bank.ts';
import { readDuration, readWholeNumber } from '../shared/option-values.ts';

const FILES = `
Files in a customer's folder:
  transactions/<account>.ndjson  booked transactions: append-only, each once, with its own id
  current.ndjson                   accounts, balances and pending transactions as they are now ("kind" says which)
  sync-<n>.ndjson                  the progress of psd2 sync itself

With a store in PostgreSQL, the rows are in its tables. With --out, psd2 writes the files too.`;

const HOW = `
If a sync is interrupted, the next one continues where it stopped. After Ctrl-C or SIGTERM, psd2 begins no new
customer, stores what it has read, and ends with exit code 130. A second signal ends it at once. With --every, psd2
finishes the customers in progress first, and ends with exit code 0 after SIGTERM. A second signal interrupts it.

With PostgreSQL, --all-customers joins the round that other workers have begun, so each customer is synced once.
Every worker stays until the round is over, and takes over the customers of a worker that died.

With hundreds of customers, psd2 uses all cores; --cores limits them. --concurrency is for all cores together.

A bank may allow only four reads of an account a day while the customer is absent (RTS (EU) 2018/389, article 36
(5) (b)). psd2 counts them by the bank's day, including those of other commands. A read that brought no data is free.
After --unattended-reads reads psd2 skips the account, and a warning says when it can be read again. This is not a
failure, but if it reads nothing at all for this reason, the exit code is 12. With --psu-ip psd2 does not count.

With --every, psd2 spreads these reads over the day: with 4, one from 0:00, 6:00, 12:00 and 18:00 on, Rome time. A
read that was not made earlier in the day is not lost. After a failed read it pauses, 5 minutes at first and 2 hours
at most. Without --every, a sync may use all reads at once, and never pauses.

--metrics-port serves the same metrics as --metrics-file at /metrics, and /healthz, which answers 200 while psd2 runs. Only
programs of this machine reach them, unless --metrics-host says another address, for example 0.0.0.0 in a container.

A failure of one customer does not stop the others. The exit code is that of the first failure. If the bank requires
a customer's SCA (exit code 6), run psd2 accounts transactions once with that customer present.`;

const EXAMPLES = `
Examples:
  $ psd2 sync --out ~/banking
  $ psd2 sync --out /srv/banking --all-customers --json | jq .totals
  $ psd2 sync --all-customers --every 6h --metrics-file /var/lib/node_exporter/psd2.prom`;

/** The help of a sync, besides its options. */
export const HELP = `${FILES}\n${HOW}\n${EXAMPLES}`;

/** Adds the options of a sync. */
export function withSyncOptions(command: Command) {
  return command
    .option(
      '--out <folder>',
      'folder for the files, with a subfolder for each customer; optional with PostgreSQL',
    )
    .option('--all-customers', 'sync all customers who are logged in with the profile')
    .option(
      '--since <date>',
      'first day to read (YYYY-MM-DD), even if synced before; default: 89 days ago on the first run, then only what is new',
    )
    .option('--concurrency <n>', 'maximum number of customers to sync at once', '8')
    .option('--cores <n>', 'number of cores to use; default: all')
    .option(
      '--unattended-reads <n>',
      'maximum reads of an account a day while the customer is absent (no --psu-ip); default: 4, or what the consent allows; no limit in a sandbox without --every',
    )
    .option('--every <duration>', 'keep running; begin a round at this interval: 30s, 15m, 6h, 1d')
    .option(
      '--metrics-file <path>',
      "file for Prometheus metrics, written every 5 s for node_exporter's textfile collector",
    )
    .option(
      '--metrics-port <port>',
      'serve /metrics for Prometheus and /healthz for probes at this port; 0: a free one',
    )
    .option('--metrics-host <address>', 'address to serve them at (default: 127.0.0.1, this machine alone)');
}

export type SyncOptions = OptionsOf<typeof withSyncOptions>;

/** How often a bank lets psd2 read an account without the customer, if nothing else is said. */
const READS_A_DAY = 4;
const MOST_READS_A_DAY = 9999;
const LONGEST_EVERY_MS = 7 * 86_400_000;

/** The parsed options. */
export interface Plan {
  out: string | undefined;
  allCustomers: boolean;
  /** The operator's `--since`; undefined if it was not given. */
  since: IsoDate | undefined;
  concurrency: number;
  cores: number;
  unattendedReads: number;
  /** The operator has not chosen `unattendedReads`, and the consents of this bank say how often psd2 may read. */
  isByConsent: boolean;
  /** Milliseconds from the beginning of a round to the next. */
  every: number | undefined;
  /** Where to serve the metrics; undefined: nowhere. */
  metricsAt: { host: string; port: number } | undefined;
}

/** Reads the options. @throws Psd2Error `usage`, `invalid_date` */
export async function readPlan(context: Context, options: SyncOptions, needsFolder: boolean): Promise<Plan> {
  const { out, allCustomers = false, unattendedReads } = options;
  const since = options.since === undefined ? undefined : parseDate('--since', options.since);
  if (since !== undefined && since > bankDay(context.world.now()))
    throw new Psd2Error('invalid_date', `--since ${since} is in the future`);
  if (out === '') throw new Psd2Error('usage', '--out is empty');
  if (out === undefined && needsFolder)
    throw new Psd2Error('usage', '--out is missing: psd2 needs a folder for the files', {
      hint: 'Add --out <folder>. With a store in PostgreSQL it is optional.',
      next: [['store', '--help']],
    });
  if (options.metricsFile === '') throw new Psd2Error('usage', '--metrics-file is empty');
  // PSD2_CUSTOMER is only a default, and --all-customers counts more.
  if (allCustomers && context.globals.customer !== undefined && context.sourceOf('customer') === 'option')
    throw new Psd2Error('usage', '--customer and --all-customers cannot be used together', {
      hint: 'Leave one of them out.',
    });
  const isByConsent =
    unattendedReads === undefined && (await context.bankInterface()).customers === 'named by the operator';
  // Somebody who learns reads more often than a bank would allow.
  const isFree = context.profile().settings.environment === 'sandbox' && options.every === undefined;
  return {
    out,
    allCustomers,
    metricsAt: metricsAtOf(options),
    isByConsent,
    since: since && (await withinHistoryOf(context, since)),
    concurrency: readWholeNumber('--concurrency', options.concurrency, 1, 99),
    cores:
      options.cores === undefined
        ? availableParallelism()
        : readWholeNumber('--cores', options.cores, 1, 999),
    unattendedReads:
      unattendedReads === undefined
        ? isFree && !isByConsent
          ? MOST_READS_A_DAY
          : READS_A_DAY
        : readWholeNumber('--unattended-reads', unattendedReads, 1, MOST_READS_A_DAY),
    every: options.every === undefined ? undefined : readDuration('--every', options.every, LONGEST_EVERY_MS),
  };
}

/** @throws Psd2Error `usage` */
function metricsAtOf({ metricsPort, metricsHost }: SyncOptions): Plan['metricsAt'] {
  if (metricsHost === '') throw new Psd2Error('usage', '--metrics-host is empty');
  if (metricsPort !== undefined)
    return {
      host: metricsHost ?? '127.0.0.1',
      port: readWholeNumber('--metrics-port', metricsPort, 0, 65_535),
    };
  if (metricsHost !== undefined) throw new Psd2Error('usage', '--metrics-host needs --metrics-port');
  return undefined;
}

/** The first day to read: not before the bank's history. */
async function withinHistoryOf(context: Context, since: IsoDate): Promise<IsoDate> {
  const { accounts } = (await context.applicationBank(await grantOf(context))).connect();
  const earliest = accounts.earliestDay?.();
  if (earliest === undefined || since >= earliest) return since;
  context.terminal.warn(`The bank shows no transactions before ${earliest}, so psd2 reads from that day on.`);
  return earliest;
}
