import { customerPath } from '../../bank/endpoints/customers.ts';
import type { Context } from '../context.ts';
import { showBankData } from '../shared/bank-data.ts';

/** `psd2 customer show` */
export async function customerShow(context: Context): Promise<void> {
  await showBankData(context, customerPath);
}
