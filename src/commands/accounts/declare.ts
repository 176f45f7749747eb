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
    .description('show the details of a product, as the bank gives them')
    .addHelpText('after', examples('psd2 accounts show 0012345678 --json'))
    .action((productId) =>
      run(async (context) => (await import('./show.ts')).accountsShow(context, productId), 'inquiry'),
    );

  command
    .command('balance')
    .argument('<productId>')
    .description('show the balances of a product')
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
    .description('list the transactions of a product, in the order that the bank gives them')
    .option('--from <date>', 'first day, YYYY-MM-DD')
    .option('--to <date>', 'last day, YYYY-MM-DD')
    .option('--limit <n>', 'at most so many')
    .option('--booked', 'only booked ones')
    .option('--pending', 'only pending ones')
    .addOption(
      new Option('--export <format>', "save the bank's own document").choices(['xls', 'pdf'] as const),
    )
    .option('--file <path>', 'where to save it')
    .option('--chart', 'draw the balance over time, and money in and out by month, instead')
    .addHelpText(
      'after',
      `
With -o ndjson each transaction is printed as soon as its page has arrived.

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
    .description('write a page to hand on: balance over time, totals by month, largest counterparties')
    .requiredOption('--file <path>', 'the HTML file to write; - for standard output')
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
    .description('write what is booked to a file for a spreadsheet or a bookkeeping program')
    .addOption(
      new Option('--format <format>', 'of the file')
        .choices(['csv', 'ofx', 'camt053'] as const)
        .makeOptionMandatory(),
    )
    .requiredOption('--file <path>', 'the file to write; - for standard output')
    .option('--from <date>', 'first day, YYYY-MM-DD')
    .option('--to <date>', 'last day, YYYY-MM-DD')
    .addHelpText(
      'after',
      `
A transaction has the same id in every export, so that importing it twice makes no duplicate. Pending ones are left out.

Examples:
  $ psd2 accounts export 0012345678 --format camt053 --from 2026-10-01 --to 2026-10-31 --file october.xml
  $ psd2 accounts export 0012345678 --format csv --file - | head`,
    )
    .action((productId, options) =>
      run(async (context) => (await import('./export.ts')).accountsExport(context, productId, options)),
    );
}
