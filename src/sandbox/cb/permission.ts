import { Refusal, wrongValue } from '../answers/refusal.ts';
import type { Bank } from '../bank.ts';
import type { Customer, Product } from '../customers/seed-customers.ts';
import type { TppRole } from '../rules.ts';
import type { Grant } from './grant.ts';

/** The API categories of the interface specification ("Consent request"). */
export type Category = 'ACCOUNT_INFO' | 'FUNDS_AVAILABILITY' | 'PAYMENTS';

/** The roles that may request a category and make its calls. */
const rolesOf: Record<Category, readonly TppRole[]> = {
  ACCOUNT_INFO: ['AISP'],
  FUNDS_AVAILABILITY: ['PIISP', 'PISP'],
  PAYMENTS: ['PISP'],
};

/**
 * The grant of an access token.
 *
 * @throws Refusal `TOKEN_INVALID`, `TOKEN_EXPIRED`
 */
export function grantOf({ tokens }: Bank, accessToken: string): Grant {
  const token = tokens.accessToken(accessToken);
  if (!token) throw new Refusal('TOKEN_INVALID', 'The access token is not valid');
  if (!tokens.isOver(token)) return token.grant;
  const endedAt = token.expiresAt.toISOString();
  throw new Refusal('TOKEN_EXPIRED', 'The access token has expired', `It ended at ${endedAt}.`);
}

/**
 * Checks that the TPP has a role for the category (the bank's ACL).
 *
 * @throws Refusal `ROLE_MISSING`
 */
export function requireRole({ rules: { roles } }: Bank, category: Category): void {
  const needed = rolesOf[category];
  if (!roles || needed.some((role) => roles.includes(role))) return;
  throw wrongValue(
    'ROLE_MISSING',
    `The TPP does not have the role for ${category}`,
    needed.join(' or '),
    roles.join(', ') || 'no role',
  );
}

/**
 * Checks the customer's consent for one product, if the bank enforces consents.
 *
 * @throws Refusal `CONSENT_MISSING`, with the command that requests the consent
 */
export function requireConsent(
  bank: Bank,
  { customerId }: Customer,
  { productId }: Product,
  category: Category,
): void {
  if (bank.rules.consents === 'recorded' || bank.consents.has({ customerId, category, productId })) return;
  throw new Refusal(
    'CONSENT_MISSING',
    `The customer ${customerId} has given no consent ${category} for the product ${productId}`,
    `Get it with: psd2 consent request --category ${category} --account ${productId}`,
  );
}

/**
 * For a token without a customer. If the bank enforces consents, it answers only about customers who gave a consent, even if
 * they gave it through the other application.
 *
 * @throws Refusal `CONSENT_MISSING`
 */
export function requireAnyConsent(bank: Bank, { customerId }: Customer): void {
  if (bank.rules.consents === 'recorded') return;
  if (bank.consents.inForce().some((consent) => consent.customerId === customerId)) return;
  throw new Refusal(
    'CONSENT_MISSING',
    `The customer ${customerId} has given no consent, so client credentials may not ask about them`,
    'Get one with: psd2 consent request --category ACCOUNT_INFO --all-accounts',
  );
}
