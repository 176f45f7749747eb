import { Psd2Error } from '../../errors.ts';
import type { KeptAccount } from '../../store/ports/customers.ts';
import type { Context } from '../context.ts';
import { validOf } from './kept-customer.ts';

// The accounts that payments debit, at a bank whose payments name an IBAN.

/** Whether the operator named an account by its IBAN, not by its id. */
export function looksLikeIban(account: string): boolean {
  return /^[A-Z]{2}\d{2}[A-Z0-9]{10,30}$/i.test(account);
}

/**
 * An account of the customer, by its id or its IBAN. What a list had is kept with its consent
 * ({@link readKept}), and ends with it: a payment must not use up the readings of the day.
 *
 * @param list reads the accounts of the customer
 * @throws Psd2Error `usage` for an account that is not the customer's, or that has no IBAN; what `list` throws
 */
export async function debitedAccount(
  context: Context,
  customerId: string,
  account: string,
  list: () => Promise<readonly KeptAccount[]>,
): Promise<{ accountId: string; iban: string }> {
  const { customers } = await context.store();
  const isMeant = ({ accountId, iban }: KeptAccount) =>
    accountId === account || iban === account.toUpperCase();
  const { consents = [] } = (await customers.read(customerId)) ?? {};
  const valid = validOf(consents, context.world.now());
  const found = valid.flatMap(({ listed = [] }) => listed).find(isMeant) ?? (await list()).find(isMeant);
  if (!found)
    throw new Psd2Error('usage', `The account ${account} is not among the accounts of the customer`, {
      hint: 'See the accounts with:',
      next: [['accounts', 'list', '--customer', customerId]],
    });
  const { accountId, iban } = found;
  if (iban === null) throw new Psd2Error('usage', `The account ${account} has no IBAN`);
  return { accountId, iban };
}
