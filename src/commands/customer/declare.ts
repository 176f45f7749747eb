import type { Command } from '@commander-js/extra-typings';
import { examples, type Run } from '../declare.ts';

export function declareCustomer(customer: Command, run: Run): void {
  customer.addHelpText('after', examples('psd2 customer id'));

  customer
    .command('id')
    .description("ask the bank for the customer's id")
    .addHelpText('after', examples('psd2 customer id', 'psd2 --json customer id | jq -r .customerId'))
    .action(() => run(async (context) => (await import('./id.ts')).showCustomerId(context), 'inquiry'));

  customer
    .command('show')
    .description("show the customer's details, as the bank gives them")
    .addHelpText('after', examples('psd2 customer show --json'))
    .action(() => run(async (context) => (await import('./show.ts')).customerShow(context), 'inquiry'));
}
