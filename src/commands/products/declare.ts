import type { Command } from '@commander-js/extra-typings';
import { examples, type Run } from '../declare.ts';

export function declareProducts(products: Command, run: Run): void {
  products.addHelpText('after', examples('psd2 products list'));

  products
    .command('list')
    .description('list the products, as the bank gives them')
    .addHelpText('after', examples('psd2 products list --json'))
    .action(() => run(async (context) => (await import('./list.ts')).productsList(context), 'inquiry'));
}
