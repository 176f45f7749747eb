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
    .description('bring accounts, balances and transactions of customers up to date')
    .option('--out <folder>', 'where to, a folder in it for each customer; can be left out with PostgreSQL')
    .option('--all-customers', 'all customers who are logged in with the profile')
    .option(
      '--since <date>',
      'read from this day on, even if synced before, YYYY-MM-DD; default: 89 days at first, then what is new',
    )
    .option('--concurrency <n>', 'how many customers at once', '8')
    .option('--cores <n>', 'how many cores to use; default: all')
    .option(
      '--unattended-reads <n>',
      'how often a day to read an account while the customer is not there (no --psu-ip)',
      '4',
    )
    .option(
      '--every <duration>',
      'stay, and go round again so long after the last round began: 30s, 15m, 6h, 1d',
    )
    .option(
      '--metrics-file <path>',
      "write Prometheus metrics there every 5 s, for node_exporter's textfile collector",
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
    .description('show how far a sync of all customers is')
    .addHelpText(
      'after',
      `
With PostgreSQL it tells of all workers, on any machine; with files of the last sync of this configuration folder.
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
In the folder of a customer:
  transactions/<productId>.ndjson  booked transactions: only ever appended, each once, with an id of its own
  current.ndjson                   accounts, balances and pending transactions as they are now ("kind" says which)
  sync-<n>.ndjson                  the progress of psd2 sync itself

With a store in PostgreSQL the rows are in its tables (docs/store.md). With --out the files are written besides.`;

const HOW = `
The next sync goes on where an interrupted one stopped. Ctrl-C or SIGTERM takes no new customer, stores what
was read, and ends with exit code 130; a second one ends at once. With --every the customers at hand are
finished first, and SIGTERM ends with exit code 0; a second one interrupts.

With PostgreSQL, --all-customers takes part in the round that other workers are at: each customer is synced
once. All of them stay until the round is over, and take over what a worker had that died.

With hundreds of customers all cores are used: --cores says how many. --concurrency counts over all of them.

A bank may allow four reads of an account a day while the customer is not there (RTS (EU) 2018/389, article 36
(5) (b)). psd2 counts them by the bank's day, also those of other commands. What was read --unattended-reads times is
skipped, and a warning says when it may be read again; that is no failure. With --psu-ip nothing is counted.

What goes wrong with one customer stops no other; the exit code is then that of the first failure. A customer
whose SCA the bank wants (exit code 6) reads the transactions once with psd2 accounts transactions.`;

const EXAMPLES = `
Examples:
  $ psd2 sync --out ~/banking
  $ psd2 sync --out /srv/banking --all-customers --json | jq .totals
  $ psd2 sync --all-customers --every 6h --metrics-file /var/lib/node_exporter/psd2.prom`;
