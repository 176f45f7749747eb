import { Psd2Error } from '../../errors.ts';
import type { KeptAccount, KeptConsent } from '../../store/ports/customers.ts';
import type { Context } from '../context.ts';
import { bestOf, validOf } from './kept-customer.ts';

// The accounts that payments debit, at a bank whose payments name an IBAN.

/** An account, as the bank lists it. */
type ListedAccount = Pick<KeptAccount, 'accountId'> & { iban: string | null };

/** Whether the operator named an account by its IBAN, not by its id. */
export function looksLikeIban(account: string): boolean {
  return /^[A-Z]{2}\d{2}[A-Z0-9]{10,30}$/i.test(account);
}

/**
 * An account of the customer, by its id or its IBAN. psd2 asks the bank once, and keeps the answer with the consent: a payment
 * must not use up the readings of the day. What a consent has listed ends with it.
 *
 * @param list reads the accounts of the customer
 * @throws Psd2Error `usage` for an account that is not the customer's, or that has no IBAN; what `list` throws
 */
export async function debitedAccount(
  context: Context,
  customerId: string,
  account: string,
  list: () => Promise<readonly ListedAccount[]>,
): Promise<KeptAccount> {
  const { customers } = await context.store();
  const isMeant = ({ accountId, iban }: ListedAccount) =>
    accountId === account || iban === account.toUpperCase();
  const { consents = [] } = (await customers.read(customerId)) ?? {};
  const valid = validOf(consents, context.world.now());
  const known = valid.flatMap(({ listed = [] }) => listed).find(isMeant);
  if (known) return known;
  const accounts = await list();
  const consent = bestOf(valid, 'list');
  if (consent) await keepListed(context, customerId, consent, accounts);
  const found = accounts.find(isMeant);
  if (!found) {
    throw new Psd2Error('usage', `The account ${account} is not among the accounts of the customer`, {
      hint: 'See the accounts with:',
      next: [['accounts', 'list', '--customer', customerId]],
    });
  }
  const { accountId, iban } = found;
  if (iban === null) throw new Psd2Error('usage', `The account ${account} has no IBAN`);
  return { accountId, iban };
}

/** Keeps what a consent has listed, unless the consent has ended meanwhile, or psd2 has forgotten the customer. */
async function keepListed(
  context: Context,
  customerId: string,
  { consentId }: KeptConsent,
  accounts: readonly ListedAccount[],
): Promise<void> {
  const { customers } = await context.store();
  const listed = accounts.flatMap(({ accountId, iban }) => (iban === null ? [] : { accountId, iban }));
  const ended = new Error('The consent has ended');
  const keeping = customers.change(customerId, (before) => {
    if (!before.consents.some((each) => each.consentId === consentId)) throw ended;
    return {
      ...before,
      consents: before.consents.map((each) => (each.consentId === consentId ? { ...each, listed } : each)),
    };
  });
  await keeping.catch((error: unknown) => {
    if (error !== ended) throw error;
  });
}
