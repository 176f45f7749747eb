import { type Balance, fetchBalance } from '../../bank/endpoints/customers.ts';
import { parseProductId } from '../../domain/identifiers.ts';
import type { Column } from '../../terminal/output/output.ts';
import type { Context } from '../context.ts';
import { writeMoney } from '../shared/money.ts';
import { balance } from './shape.ts';

const BALANCE_FIELDS: Column<Balance>[] = [
  { title: 'Product id', value: ({ productId }) => productId },
  { title: 'Account balance', value: ({ accountBalance }) => writeMoney(accountBalance) },
  { title: 'Available balance', value: ({ availableBalance }) => writeMoney(availableBalance) },
  { title: 'Availability', value: ({ accountAvailability }) => writeMoney(accountAvailability) },
  { title: 'Available credit', value: ({ accountAvailableCredit }) => writeMoney(accountAvailableCredit) },
  { title: 'As of', value: ({ asOf }) => asOf, kind: 'time' },
];
/** `psd2 accounts balance <productId>` */
export async function accountsBalance(context: Context, product: string): Promise<void> {
  const productId = parseProductId(product);
  const { bank, customerId } = await context.bank();
  context.output.record(
    await fetchBalance(bank, customerId, productId, context.world.newId()),
    BALANCE_FIELDS,
    balance,
  );
}
