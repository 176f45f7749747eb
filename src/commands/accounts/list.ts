import type { Account } from '../../bank/ports/bank.ts';
import type { Column } from '../../terminal/output/fields.ts';
import { list as listOf, object, orNull, text } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { bareVerb } from '../declare.ts';

const shape = listOf(
  object({
    accountId: text("the bank's id of the account, card or deposit"),
    productId: text('the same as accountId'),
    iban: orNull(text('two accounts can have the same IBAN')),
    currency: text('ISO 4217 code'),
    name: orNull(text("the customer's own name for the account")),
    productCode: orNull(text("the bank's code for this kind of product")),
    productDescription: orNull(text('meaning of that code')),
  }),
);

const COLUMNS: Column<Account>[] = [
  { title: 'ACCOUNT', value: ({ productId }) => productId, whole: true },
  { title: 'IBAN', value: ({ iban }) => iban, whole: true },
  { title: 'CURRENCY', value: ({ currency }) => currency, whole: true, dispensable: 2 },
  { title: 'NAME', value: ({ name }) => name },
  {
    title: 'TYPE',
    value: ({ productDescription, productCode }) => productDescription ?? productCode,
    dispensable: 1,
  },
];

export const list = bareVerb(
  { what: 'accounts', shape },
  "\nExample:\n  $ psd2 accounts list --json | jq -r '.[].accountId'",
  listAccounts,
  'inquiry',
);

async function listAccounts(context: Context): Promise<void> {
  const { bank, customerId } = await context.bank();
  const found = await bank.accounts.list(customerId, context.world.newId());
  await context.output.table(found, COLUMNS, 'The customer has no accounts.', shape);
}
