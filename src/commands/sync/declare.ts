import type { Command } from '@commander-js/extra-typings';
import { optionsOf, type Run } from '../declare.ts';

export function declareSync(sync: Command, run: Run): void {
  sync
    .usage('[run] [options]')
    .addHelpText('after', (help) => optionsOf(all, help))
    .addHelpText(
      'after',
      `
\`psd2 sync --out ...\` is \`psd2 sync run --out ...\`.

Examples:
  $ psd2 sync --out ~/banking
  $ psd2 sync --all-customers --every 6h      with a store in PostgreSQL
  $ psd2 sync status`,
    );

  const all = sync
    .command('run', { isDefault: true })
    .description('bring a local copy of accounts, balances and transactions up to date')
    .option(
      '--out <folder>',
      'folder for the files, with a subfolder for each customer; optional with PostgreSQL',
    )
    .option('--all-customers', 'sync all customers who are logged in with the profile')
    .option(
      '--since <date>',
      'first day to read (YYYY-MM-DD), even if synced before; default: 89 days ago at first, then only what is new',
    )
    .option('--concurrency <n>', 'maximum number of customers to sync at once', '8')
    .option('--cores <n>', 'number of cores to use; default: all')
    .option(
      '--unattended-reads <n>',
      'maximum reads of an account a day while the customer is absent (no --psu-ip)',
      '4',
    )
    .option(
      '--every <duration>',
      'keep running; begin a round this long after the last one began: 30s, 15m, 6h, 1d',
    )
    .option(
      '--metrics-file <path>',
      "file for Prometheus metrics, written every 5 s for node_exporter's textfile collector",
    )
    .addHelpText('after', `${FILES}\n${HOW}\n${EXAMPLES}`)
    .action(({ allCustomers, ...options }) =>
      run(async (context) =>
        (await import('./sync.ts')).sync(context, {
          ...UNSAID,
          ...options,
          allCustomers: allCustomers === true,
        }),
      ),
    );

  sync
    .command('status')
    .description('show the progress of a sync of all customers')
    .addHelpText(
      'after',
      `
With PostgreSQL it shows all workers, on any machine. With files it shows the last sync of this configuration folder.
It makes no call to the bank.

Examples:
  $ psd2 sync status
  $ psd2 sync status --json --query doneAt -r`,
    )
    .action(() => run(async (context) => (await import('./status.ts')).syncStatus(context)));
}

const UNSAID = {
  out: undefined,
  since: undefined,
  cores: undefined,
  every: undefined,
  metricsFile: undefined,
};

const FILES = `
Files in a customer's folder:
  transactions/<productId>.ndjson  booked transactions: append-only, each once, with its own id
  current.ndjson                   accounts, balances and pending transactions as they are now ("kind" says which)
  sync-<n>.ndjson                  the progress of psd2 sync itself

With a store in PostgreSQL, the rows are in its tables (docs/store.md). With --out, psd2 writes the files too.`;

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

A failure of one customer does not stop the others. The exit code is that of the first failure. If the bank requires
a customer's SCA (exit code 6), run psd2 accounts transactions once with that customer present.`;

const EXAMPLES = `
Examples:
  $ psd2 sync --out ~/banking
  $ psd2 sync --out /srv/banking --all-customers --json | jq .totals
  $ psd2 sync --all-customers --every 6h --metrics-file /var/lib/node_exporter/psd2.prom`;
