import type { Command } from '@commander-js/extra-typings';
import type { Run } from '../declare.ts';

export function declareSync(sync: Command, run: Run): void {
  sync
    .requiredOption('--out <folder>', 'where to; a folder in it for each customer')
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
    .addHelpText(
      'after',
      `
In the folder of a customer:
  transactions/<productId>.ndjson  booked transactions: only ever appended, each once, with an id of its own
  current.ndjson                   accounts, balances and pending transactions as they are now ("kind" says which)
  sync-<n>.ndjson                  the progress of psd2 sync itself

The next sync goes on where an interrupted one stopped. Ctrl-C or SIGTERM takes no new customer, stores what
was read, and ends with exit code 130; a second one ends at once.

With hundreds of customers all cores are used: --cores says how many. --concurrency counts over all of them.

A bank may allow four reads of an account a day while the customer is not there (RTS (EU) 2018/389, article 36
(5) (b)). psd2 counts them by the bank's day, also those of other commands. What was read --unattended-reads times is
skipped, and a warning says when it may be read again; that is no failure. With --psu-ip nothing is counted.

What goes wrong with one customer stops no other; the exit code is then that of the first failure. A customer
whose SCA the bank wants (exit code 6) reads the transactions once with psd2 accounts transactions.

Examples:
  $ psd2 sync --out ~/banking
  $ psd2 sync --out /srv/banking --all-customers --json | jq .totals`,
    )
    .action(({ allCustomers, ...options }) =>
      run(async (context) =>
        (await import('./sync.ts')).sync(context, {
          since: undefined,
          cores: undefined,
          ...options,
          allCustomers: allCustomers === true,
        }),
      ),
    );
}
