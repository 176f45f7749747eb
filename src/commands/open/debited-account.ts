import { accountReferenceOf } from '../../domain/order/account-reference.ts';
import { compactIban } from '../../domain/order/sepa-text.ts';
import { Psd2Error } from '../../errors.ts';
import type { KeptAccount } from '../../store/ports/customers.ts';
import type { Context } from '../context.ts';
import { validOf } from './kept-customer.ts';

// The accounts that payments debit, at a bank whose payments name an IBAN.

/** Whether the operator named an account by its IBAN, or its IBAN and currency, not by its id. */
export function looksLikeIban(account: string): boolean {
  return /^[A-Z]{2}\d{2}[A-Z0-9]{10,30}$/i.test(accountReferenceOf(account).id);
}

/** An account of the store, or of a list. */
type ReadAccount = KeptAccount & { card?: true };

/** The account that a payment debits. */
interface DebitedAccount {
  accountId: string;
  iban: string;
  /** Of several accounts with this IBAN, the one in this currency. Absent: there is one. */
  currency?: string;
  /** Why it may not pay, as the bank said last: `blocked`. */
  status?: string;
}

/**
 * An account of the customer, by its id, its IBAN, or its IBAN and currency. What a list had is kept with its consent
 * ({@link readKept}), and ends with it: a payment must not use up the readings of the day.
 *
 * @param list reads the accounts of the customer
 * @throws Psd2Error `usage` for an account that is not the customer's, or that has no IBAN, or for an IBAN that several accounts
 *   have; what `list` throws
 */
export async function debitedAccount(
  context: Context,
  customerId: string,
  account: string,
  list: () => Promise<readonly ReadAccount[]>,
): Promise<DebitedAccount> {
  const { customers } = await context.store();
  const { id, currency } = accountReferenceOf(account);
  const hasIban = ({ iban, kind, card }: ReadAccount, wanted: string) =>
    iban !== null && kind !== 'card' && !card && compactIban(iban) === compactIban(wanted);
  const meant = (accounts: readonly ReadAccount[]) => {
    const byId = accounts.filter(({ accountId }) => accountId === account);
    const byIban = accounts.filter(
      (each) => hasIban(each, id) && (currency === null || (each.currency ?? currency) === currency),
    );
    return byId.length > 0 ? byId : byIban;
  };
  const { consents = [] } = (await customers.read(customerId)) ?? {};
  const valid = validOf(consents, context.world.now());
  // A newer consent may list the same accounts under other ids.
  const lists = valid.flatMap(({ listed }) => (listed ? [listed] : []));
  let accounts: readonly ReadAccount[] | undefined = lists.find((each) => meant(each).length > 0);
  accounts ??= await list();
  const [debited, ...others] = meant(accounts);
  if (!debited)
    throw new Psd2Error('usage', `The account ${account} is not among the accounts of the customer`, {
      hint: 'See the accounts with:',
      next: [['accounts', 'list', '--customer', customerId]],
    });
  const { accountId, iban, status } = debited;
  if (iban === null) throw new Psd2Error('usage', `The account ${account} has no IBAN`);
  if (others.length > 0) {
    const names = [debited, ...others].map((each) => `${compactIban(iban)}:${each.currency ?? ''}`);
    throw new Psd2Error('usage', `More than one account of the customer has the IBAN ${iban}`, {
      hint: `Name the one that pays by its currency: ${[...new Set(names)].join(', ')}.`,
    });
  }
  const shared = accounts.filter((each) => hasIban(each, iban)).length > 1;
  const own = currency ?? (shared ? debited.currency : undefined);
  return {
    accountId,
    iban,
    ...(own && { currency: own }),
    ...(status && status !== 'enabled' && { status }),
  };
}
