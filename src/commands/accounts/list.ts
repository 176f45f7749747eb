import { type Account, fetchAccounts } from '../../bank/endpoints/customers.ts';
import type { Column } from '../../terminal/output/output.ts';
import type { Context } from '../context.ts';
import { accounts } from './shape.ts';

const ACCOUNT_COLUMNS: Column<Account>[] = [
  { title: 'PRODUCT ID', value: ({ productId }) => productId, whole: true },
  { title: 'IBAN', value: ({ iban }) => iban, whole: true },
  { title: 'CURRENCY', value: ({ currency }) => currency, whole: true, dispensable: 2 },
  { title: 'NAME', value: ({ name }) => name },
  {
    title: 'TYPE',
    value: ({ productDescription, productCode }) => productDescription ?? productCode,
    dispensable: 1,
  },
];
/** `psd2 accounts list` */
export async function accountsList(context: Context): Promise<void> {
  const { bank, customerId } = await context.bank();
  const found = await fetchAccounts(bank, customerId, context.world.newId());
  await context.output.table(found, ACCOUNT_COLUMNS, 'The customer has no accounts.', accounts);
}
