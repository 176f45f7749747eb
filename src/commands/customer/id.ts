import { fetchCustomerId } from '../../bank/endpoints/customers.ts';
import type { Context } from '../context.ts';
import { customerId } from './shape.ts';

/** `psd2 customer id`: asks the bank whose token it is. */
export async function showCustomerId(context: Context): Promise<void> {
  const { bank } = await context.bank();
  const id = await fetchCustomerId(bank, context.world.newId());
  if (context.output.format === 'table') context.output.text(id);
  else context.output.record({ customerId: id }, [], customerId);
}
