import { type Account, fetchAccounts } from '../../bank/endpoints/customers.ts';
import type { Column } from '../../terminal/output.ts';
import type { Context } from '../context.ts';

const ACCOUNT_COLUMNS: Column<Account>[] = [
  { title: 'PRODUCT ID', value: ({ productId }) => productId, whole: true },
  { title: 'IBAN', value: ({ iban }) => iban, whole: true },
  { title: 'CURRENCY', value: ({ currency }) => currency, whole: true },
  { title: 'NAME', value: ({ name }) => name },
  { title: 'TYPE', value: ({ productDescription, productCode }) => productDescription ?? productCode },
];
const ACCOUNT_CSV = ['productId', 'iban', 'currency', 'name', 'productCode', 'productDescription'];

/** `psd2 accounts list` */
export async function accountsList(context: Context): Promise<void> {
  const { bank, customerId } = await context.bank();
  const accounts = await fetchAccounts(bank, customerId, context.world.newId());
  await context.output.table(accounts, ACCOUNT_COLUMNS, 'The customer has no accounts.', ACCOUNT_CSV);
}
