import { type Command, Option } from '@commander-js/extra-typings';
import { examples, type Run } from '../declare.ts';

export function declareAccounts(command: Command, run: Run): void {
  command.addHelpText(
    'after',
    examples(
      'psd2 accounts list',
      'psd2 accounts balance 0012345678',
      'psd2 accounts transactions 0012345678 --from 2026-01-01',
    ),
  );

  command
    .command('list')
    .description("list the customer's accounts, cards and deposits")
    .addHelpText('after', "\nExample:\n  $ psd2 accounts list --json | jq -r '.[].productId'")
    .action(() => run(async (context) => (await import('./list.ts')).accountsList(context), 'inquiry'));

  command
    .command('show')
    .argument('<productId>')
    .description('show the details of an account, as the bank gives them')
    .addHelpText('after', examples('psd2 accounts show 0012345678 --json'))
    .action((productId) =>
      run(async (context) => (await import('./show.ts')).accountsShow(context, productId), 'inquiry'),
    );

  command
    .command('balance')
    .argument('<productId>')
    .description('show the balances of an account')
    .addHelpText(
      'after',
      '\nExample:\n  $ psd2 accounts balance 0012345678 --json | jq -r .availableBalance.amount',
    )
    .action((productId) =>
      run(async (context) => (await import('./balance.ts')).accountsBalance(context, productId), 'inquiry'),
    );

  declareTransactions(command, run);
  declareReport(command, run);
  declareExport(command, run);
}

function declareTransactions(command: Command, run: Run): void {
  command
    .command('transactions')
    .argument('<productId>')
    .description('list the transactions of an account, in the order of the bank')
    .option('--from <date>', 'first day, YYYY-MM-DD')
    .option('--to <date>', 'last day, YYYY-MM-DD')
    .option('--limit <n>', 'maximum number of transactions to show')
    .option('--booked', 'show only booked transactions')
    .option('--pending', 'show only pending transactions')
    .addOption(
      new Option('--export <format>', "save the bank's own document").choices(['xls', 'pdf'] as const),
    )
    .option('--file <path>', 'file to save the document in')
    .option('--chart', 'draw the balance over time, and the money in and out by month')
    .addHelpText(
      'after',
      `
With -o ndjson, psd2 prints each transaction as soon as its page has arrived.

Examples:
  $ psd2 accounts transactions 0012345678 --from 2026-01-01 -o ndjson | jq -r .amount
  $ psd2 accounts transactions 0012345678 --chart --from 2026-01-01
  $ psd2 accounts transactions 0012345678 --export pdf --file transactions.pdf`,
    )
    .action((productId, { booked = false, pending = false, chart = false, ...options }) =>
      run(
        async (context) =>
          chart
            ? (await import('./chart.ts')).accountsChart(context, productId, {
                ...options,
                pending,
              })
            : (await import('./transactions.ts')).accountsTransactions(context, productId, {
                ...options,
                booked,
                pending,
              }),
        'inquiry',
      ),
    );
}

function declareReport(command: Command, run: Run): void {
  command
    .command('report')
    .argument('<productId>')
    .description('write an HTML report: balance over time, totals by month, largest counterparties')
    .requiredOption('--file <path>', 'HTML file to write; - for standard output')
    .option('--from <date>', 'first day, YYYY-MM-DD')
    .option('--to <date>', 'last day, YYYY-MM-DD')
    .addHelpText('after', '\nExample:\n  $ psd2 accounts report 0012345678 --file report.html')
    .action((productId, options) =>
      run(async (context) => (await import('./report.ts')).accountsReport(context, productId, options)),
    );
}

function declareExport(command: Command, run: Run): void {
  command
    .command('export')
    .argument('<productId>')
    .description('write booked transactions to a file for a spreadsheet or an accounting program')
    .addOption(
      new Option('--format <format>', 'format of the file')
        .choices(['csv', 'ofx', 'camt053'] as const)
        .makeOptionMandatory(),
    )
    .requiredOption('--file <path>', 'file to write; - for standard output')
    .option('--from <date>', 'first day, YYYY-MM-DD')
    .option('--to <date>', 'last day, YYYY-MM-DD')
    .addHelpText(
      'after',
      `
A transaction has the same id in every export, so importing it twice makes no duplicate. Pending transactions are left out.

Examples:
  $ psd2 accounts export 0012345678 --format camt053 --from 2026-10-01 --to 2026-10-31 --file october.xml
  $ psd2 accounts export 0012345678 --format csv --file - | head`,
    )
    .action((productId, options) =>
      run(async (context) => (await import('./export.ts')).accountsExport(context, productId, options)),
    );
}
