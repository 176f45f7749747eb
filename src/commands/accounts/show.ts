import { productPath } from '../../bank/endpoints/customers.ts';
import { parseProductId } from '../../domain/identifiers.ts';
import type { Context } from '../context.ts';
import { showBankData } from '../shared/bank-data.ts';

/** `psd2 accounts show <productId>` */
export async function accountsShow(context: Context, product: string): Promise<void> {
  const productId = parseProductId(product);
  await showBankData(context, (customerId) => productPath(customerId, productId));
}
