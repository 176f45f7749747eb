import { expectedAndReceived, Refusal } from '../answers/refusal.ts';
import type { Bank } from '../bank.ts';
import type { Customer, Product } from '../customers/seed-customers.ts';
import type { TppRole } from '../rules.ts';

/** The API categories of the interface specification ("Consent request"). */
export type Category = 'ACCOUNT_INFO' | 'FUNDS_AVAILABILITY' | 'PAYMENTS';

/** Who may ask for a category, and call what it is for. */
const rolesOf: Record<Category, readonly TppRole[]> = {
  ACCOUNT_INFO: ['AISP'],
  FUNDS_AVAILABILITY: ['PIISP', 'PISP'],
  PAYMENTS: ['PISP'],
};

/**
 * The ACL: what the TPP is licensed for.
 *
 * @throws Refusal `ROLE_MISSING`
 */
export function requireRole({ rules: { roles } }: Bank, category: Category): void {
  const needed = rolesOf[category];
  if (!roles || needed.some((role) => roles.includes(role))) return;
  throw new Refusal(
    'ROLE_MISSING',
    `The TPP has not the role for ${category}`,
    expectedAndReceived(needed.join(' or '), roles.join(', ') || 'no role'),
  );
}

/**
 * The customer's consent for one product, where consents are enforced.
 *
 * @throws Refusal `CONSENT_MISSING`, naming the command that gets it
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
    `Get it with: psd2 consent request --category ${category} --product ${productId}`,
  );
}

/**
 * For a token without a customer: only one who gave some consent can be asked about, where consents are enforced.
 * What was granted through the other application holds for this one.
 *
 * @throws Refusal `CONSENT_MISSING`
 */
export function requireAnyConsent(bank: Bank, { customerId }: Customer): void {
  if (bank.rules.consents === 'recorded') return;
  if (bank.consents.inForce().some((consent) => consent.customerId === customerId)) return;
  throw new Refusal(
    'CONSENT_MISSING',
    `The customer ${customerId} has given no consent, and client credentials may not ask about them`,
    'Get one with: psd2 consent request --category ACCOUNT_INFO --all-products',
  );
}
