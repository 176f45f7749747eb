import { bankDay } from '../../domain/calendar.ts';
import { parseSepaIban } from '../../domain/order/iban.ts';
import type { TransferOrder } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import { isRefusal } from '../../flows/refusals.ts';
import type { Context, CustomerBank } from '../context.ts';

/**
 * The order with the IBAN of the debited account, at a bank whose payments name it. The operator may give the id of an account
 * instead: then the bank is asked. If a consent covers all accounts of the customer, an IBAN must be among them.
 *
 * @param list reads the accounts of the customer
 * @throws Psd2Error `usage` for an account that is not the customer's, or that has no IBAN; `invalid_iban`
 */
export async function withDebtor(
  context: Context,
  { bank }: CustomerBank,
  order: TransferOrder,
  transactionId: string,
  list = () => bank.accounts.list(order.customerId, transactionId),
): Promise<TransferOrder> {
  const { from, customerId, fromIban } = order;
  if (!bank.payments.initiation || fromIban !== undefined) return order;
  const iban = /^[A-Z]{2}\d{2}[A-Z0-9]{10,30}$/i.test(from) ? parseSepaIban(from) : null;
  if (iban !== null && !(await knowsAccounts(context, customerId))) return { ...order, fromIban: iban };
  const accounts = await list().catch((error: unknown) => {
    if (!cannotRead(error)) throw error;
    if (iban !== null) return null;
    throw error instanceof Psd2Error ? error.with({ hint: NAME_THE_IBAN }) : error;
  });
  if (accounts === null) return { ...order, fromIban: iban ?? from };
  const account = accounts.find((each) => each.accountId === from || each.iban === iban);
  if (!account) {
    throw new Psd2Error('usage', `The account ${from} is not among the accounts of the customer`, {
      hint: 'psd2 has sent no payment. See the accounts with:',
      next: [['accounts', 'list', '--customer', customerId]],
    });
  }
  if (account.iban === null)
    throw new Psd2Error('usage', `The account ${from} has no IBAN, so psd2 cannot debit it`);
  return { ...order, fromIban: account.iban };
}

const NAME_THE_IBAN =
  'psd2 has sent no payment. It cannot read which IBAN this account has. Give --from the IBAN instead.';

/** Whether the customer has a consent for all accounts. */
async function knowsAccounts(context: Context, customerId: string): Promise<boolean> {
  const { customers } = await context.store();
  const { consents = [] } = (await customers.read(customerId)) ?? {};
  const today = bankDay(context.world.now());
  return consents.some(
    ({ accounts, validUntil }) => accounts === null && (validUntil === null || validUntil >= today),
  );
}

/** Without a reading, the bank alone checks the account. */
function cannotRead(error: unknown): boolean {
  const codes = ['not_logged_in', 'too_many_calls', 'forbidden'];
  return isRefusal(error) || (error instanceof Psd2Error && codes.includes(error.code));
}
