import { Command } from '@commander-js/extra-typings';
import type { Run } from './declare.ts';

export function declareCustomer(run: Run) {
  const customer = new Command('customer').description('the customer who is logged in');
  customer
    .command('id')
    .description("ask the bank for the customer's id")
    .action(() => run(async (context) => (await import('../../commands/accounts.ts')).customerId(context)));
  return customer;
}

export function declareAccounts(run: Run) {
  const accounts = new Command('accounts').description('read accounts, balances and transactions');

  accounts
    .command('list')
    .description("list the customer's accounts, cards and deposits")
    .addHelpText('after', "\nExample:\n  $ psd2 accounts list --json | jq -r '.[].productId'")
    .action(() => run(async (context) => (await import('../../commands/accounts.ts')).accountsList(context)));

  accounts
    .command('balance')
    .argument('<productId>')
    .description('show the balances of a product')
    .addHelpText(
      'after',
      '\nExample:\n  $ psd2 accounts balance 0012345678 --json | jq -r .availableBalance.amount',
    )
    .action((productId) =>
      run(async (context) =>
        (await import('../../commands/accounts.ts')).accountsBalance(context, productId),
      ),
    );

  accounts
    .command('transactions')
    .argument('<productId>')
    .description('list the transactions of a product, in the order that the bank gives them')
    .option('--from <date>', 'first day, YYYY-MM-DD')
    .option('--to <date>', 'last day, YYYY-MM-DD')
    .option('--limit <n>', 'at most so many')
    .option('--booked', 'only booked ones')
    .option('--pending', 'only pending ones')
    .addHelpText(
      'after',
      `
With -o ndjson each transaction is printed as soon as its page has arrived.

Example:
  $ psd2 accounts transactions 0012345678 --from 2026-01-01 -o ndjson | jq -r .amount`,
    )
    .action((productId, { booked = false, pending = false, ...range }) =>
      run(async (context) =>
        (await import('../../commands/accounts.ts')).accountsTransactions(context, productId, {
          ...range,
          booked,
          pending,
        }),
      ),
    );

  return accounts;
}
