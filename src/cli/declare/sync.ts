import type { Command } from '@commander-js/extra-typings';
import type { Run } from './declare.ts';

export function declareSync(sync: Command, run: Run): void {
  sync
    .requiredOption('--out <folder>', 'where to; a folder in it for each customer')
    .option('--all-customers', 'all customers who are logged in with the profile')
    .option('--since <date>', 'how far back the first sync goes, YYYY-MM-DD; default: 89 days')
    .option('--concurrency <n>', 'how many customers at once', '8')
    .option('--cores <n>', 'how many cores to use; default: all')
    .addHelpText(
      'after',
      `
In the folder of a customer are accounts.ndjson, balances.ndjson and pending/<productId>.ndjson as they are
now, and transactions/<productId>.ndjson, to which booked transactions are only ever appended, each once,
with an id of its own. A sync that was interrupted is gone on with by the next one.

What goes wrong with one customer stops no other; the exit code is then that of the first failure. A customer
whose SCA the bank wants (exit code 6) reads the transactions once with psd2 accounts transactions.

Examples:
  $ psd2 sync --out ~/banking
  $ psd2 sync --out /srv/banking --all-customers --json | jq .totals`,
    )
    .action(({ allCustomers, ...options }) =>
      run(async (context) =>
        (await import('../../commands/sync.ts')).sync(context, {
          since: undefined,
          cores: undefined,
          ...options,
          allCustomers: allCustomers === true,
        }),
      ),
    );
}
