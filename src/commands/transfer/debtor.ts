import { accountReferenceOf } from '../../domain/order/account-reference.ts';
import { parseSepaIban } from '../../domain/order/iban.ts';
import { compactIban } from '../../domain/order/sepa-text.ts';
import type { TransferOrder } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import { isRefusal } from '../../flows/refusals.ts';
import type { KeptAccount } from '../../store/ports/customers.ts';
import type { Context, CustomerBank } from '../context.ts';
import { debitedAccount, looksLikeIban } from '../open/debited-account.ts';
import { validOf } from '../open/kept-customer.ts';
import { isFirst } from '../shared/once.ts';

/** What this needs of a bank. */
interface PayingBank {
  payments: Pick<CustomerBank['bank']['payments'], 'initiation'>;
  accounts: Pick<CustomerBank['bank']['accounts'], 'list'>;
}

/**
 * The order with the IBAN of the debited account, at a bank whose payments name it. The operator may give the id of an account
 * instead. If a consent covers all accounts of the customer, an IBAN must be among them.
 *
 * @param list reads the accounts of the customer
 * @throws Psd2Error `usage` for an account that is not the customer's, or that has no IBAN; `invalid_iban`
 */
export async function withDebtor(
  context: Context,
  { bank }: { bank: PayingBank },
  order: TransferOrder,
  transactionId: string,
  list = () => bank.accounts.list(order.customerId, transactionId),
): Promise<TransferOrder> {
  const { from, customerId, fromIban } = order;
  if (!bank.payments.initiation || fromIban !== undefined || from === null) return order;
  const { id, currency } = accountReferenceOf(from);
  const named = looksLikeIban(from)
    ? { fromIban: parseSepaIban(id), ...(currency !== null && { fromCurrency: currency }) }
    : null;
  const keptAccounts =
    named === null || (await knowsAccounts(context, customerId))
      ? null
      : await keptWith(context, customerId, id);
  if (named !== null && keptAccounts?.length === 0) return { ...order, ...named };
  try {
    const { iban, status, ...own } = await debitedAccount(
      context,
      customerId,
      from,
      keptAccounts ? async () => keptAccounts : list,
    );
    if (status)
      warnOnce(
        context,
        `The bank says that the account ${from} is ${status}. It may leave the payment undone.`,
      );
    return { ...order, fromIban: iban, ...(own.currency && { fromCurrency: own.currency }) };
  } catch (error) {
    if (!(error instanceof Psd2Error)) throw error;
    if (error.code === 'usage')
      throw error.with({ hint: `psd2 has sent no payment. ${error.hint ?? ''}`.trim() });
    if (!cannotRead(error)) throw error;
    // Without a reading, the bank alone checks the account.
    if (named !== null) return { ...order, ...named };
    throw error.with({ hint: NAME_THE_IBAN });
  }
}

function warnOnce({ terminal }: Context, text: string): void {
  if (isFirst(terminal, text)) terminal.warn(text);
}

const NAME_THE_IBAN =
  'psd2 has sent no payment. It cannot read which IBAN this account has. Give --from the IBAN instead.';

/** Whether the customer has a consent for all accounts. */
async function knowsAccounts(context: Context, customerId: string): Promise<boolean> {
  const { customers } = await context.store();
  const { consents = [] } = (await customers.read(customerId)) ?? {};
  return validOf(consents, context.world.now()).some(({ accounts }) => accounts === null);
}

/** What psd2 has kept of the accounts with an IBAN, whatever consent has listed them: each by its currency, the newest first. */
async function keptWith(context: Context, customerId: string, iban: string): Promise<KeptAccount[]> {
  const { customers } = await context.store();
  const { accounts = [] } = (await customers.read(customerId)) ?? {};
  const withIban = accounts.filter(
    (each) => each.kind !== 'card' && each.iban && compactIban(each.iban) === compactIban(iban),
  );
  return [...new Map(withIban.toReversed().map((each) => [each.currency, each])).values()];
}

function cannotRead(error: Psd2Error): boolean {
  const codes = ['not_logged_in', 'too_many_calls', 'forbidden'];
  return codes.includes(error.code) || isRefusal(error);
}
