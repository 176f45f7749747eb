import { leavesOf } from '../../terminal/output/leaves.ts';
import type { Context } from '../context.ts';
import { bareVerb, examples, type Noun } from '../declare.ts';
import { BANK_DATA, printBankData, unread } from '../shared/bank-data.ts';

const list = bareVerb(
  BANK_DATA,
  examples('psd2 products list --json'),
  async (context) => {
    const { bank, customerId } = await context.bank();
    const data = await bank.accounts.details({ what: 'products', customerId }, context.world.newId());
    await printProducts(context, data);
  },
  'inquiry',
);

interface Row {
  values: Map<string, string>;
}

/** At a terminal a table of the first list in the bank's answer; else the answer, since the columns have no heading there. */
async function printProducts(context: Context, data: object): Promise<void> {
  const list: unknown = [data, ...Object.values(data)].find(Array.isArray);
  if (context.output.format !== 'table' || !context.stdoutIsTerminal || !Array.isArray(list))
    return printBankData(context, data);
  const rows = list.map((each): Row => ({ values: new Map(leavesOf(each)) }));
  const titles = [
    ...new Set(rows.flatMap(({ values }) => [...values].flatMap(([path, value]) => (value ? path : [])))),
  ];
  await context.output.table(
    rows,
    unread(titles.map((title) => ({ title, value: ({ values }: Row) => values.get(title) }))),
    'The customer has no products.',
  );
}

/** `psd2 products`: what the customer has at the bank, in the bank's own words. */
export const products: Noun = {
  declare: (command) => command.addHelpText('after', examples('psd2 products list')),
  commands: {
    list: {
      description: 'list the products, as the bank gives them',
      needs: 'products',
      load: async () => list,
    },
  },
};
