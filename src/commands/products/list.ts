import { customerPath } from '../../bank/endpoints/customers.ts';
import type { Context } from '../context.ts';
import { showBankData } from '../shared/bank-data.ts';

/** `psd2 products list` */
export async function productsList(context: Context): Promise<void> {
  await showBankData(context, (customerId) => `${customerPath(customerId)}/products`);
}
