import { bareVerb, examples, type Noun } from '../declare.ts';
import { BANK_DATA, showBankData } from '../shared/bank-data.ts';

const list = bareVerb(
  BANK_DATA,
  examples('psd2 products list --json'),
  async (context) => {
    await context.needs('products');
    await showBankData(context, (customerId) => ({ what: 'products', customerId }));
  },
  'inquiry',
);

/** `psd2 products`: what the customer has at the bank, in the bank's own words. */
export const products: Noun = {
  declare: (command) => command.addHelpText('after', examples('psd2 products list')),
  commands: {
    list: { description: 'list the products, as the bank gives them', load: async () => list },
  },
};
