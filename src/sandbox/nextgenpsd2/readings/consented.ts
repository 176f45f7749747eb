import type { Bank } from '../../bank.ts';
import type { Customer, Product } from '../../customers/seed-customers.ts';
import { find } from '../../faults/spoil.ts';
import { header } from '../../strict/headers.ts';
import type { DoorConsent } from '../consents/consent.ts';
import type { Right } from '../consents/consent-request.ts';
import { type DoorCall, inPath } from '../door-call.ts';
import { doorOf } from '../door-state.ts';
import { DoorRefusal } from '../refusal.ts';

/** A reading that a consent allows. */
export interface Consented {
  consent: DoorConsent;
  customer: Customer;
  /** The products that it shows, in the customer's order. */
  products: Product[];
}

/**
 * The consent of a reading (`Consent-ID`), and the products that it shows.
 *
 * @throws DoorRefusal `FORMAT_ERROR`, `CONSENT_UNKNOWN`, `CONSENT_EXPIRED`, `CONSENT_INVALID`, `TOKEN_INVALID`
 */
export function consentedBy(bank: Bank, { request, grant }: DoorCall): Consented {
  const id = header(request, 'consent-id');
  if (id === undefined)
    throw new DoorRefusal('FORMAT_ERROR', 'The reading has no Consent-ID', '', { path: 'Consent-ID' });
  const consent = doorOf(bank).consents.requireValid(id);
  const customer = bank.customers.find(consent.customerId ?? '');
  const isOthers =
    grant !== undefined &&
    (grant.paymentId !== undefined ||
      (grant.customerId === undefined && bank.rules.description.oauth.applicationToken) ||
      (grant.consentId !== undefined && grant.consentId !== id) ||
      (grant.customerId !== undefined && grant.customerId !== consent.customerId));
  if (isOthers || !customer)
    throw new DoorRefusal('TOKEN_INVALID', 'The access token is for another consent');
  return {
    consent,
    customer,
    products: customer.products.filter(({ productId }) => consent.grants.has(productId)),
  };
}

/**
 * The account in the path of a reading, if the consent shows this of it.
 *
 * @param isCard whether the call is about cards
 * @throws DoorRefusal those of {@link consentedBy}, `RESOURCE_UNKNOWN`, `ACCESS_EXCEEDED`
 */
export function consentedAccount(
  bank: Bank,
  call: DoorCall,
  isCard: boolean,
  right: Right,
): Consented & { product: Product } {
  const consented = consentedBy(bank, call);
  if (consented.consent.type.startsWith('list-'))
    throw new DoorRefusal('CONSENT_INVALID', 'The consent is for the list of accounts only', '', {
      path: 'Consent-ID',
    });
  const id = inPath(call, 'account-id');
  const addressed = consented.products.find(
    (one) => idOf(bank, one) === id && (one.kind === 'card') === isCard,
  );
  if (!addressed) throw new DoorRefusal('RESOURCE_UNKNOWN', 'The consent has no such account');
  const other = find(call.faults, 'other-account') && consented.products.find((one) => one !== addressed);
  const product = other ?? addressed;
  requireRight(consented.consent, [product], right);
  return { ...consented, product };
}

/** @throws DoorRefusal `CONSENT_INVALID` */
export function requireRight({ grants }: DoorConsent, products: readonly Product[], right: Right): void {
  const missing = products.find(({ productId }) => !grants.get(productId)?.has(right));
  if (!missing) return;
  throw new DoorRefusal('CONSENT_INVALID', `The consent is not for the ${right} of this account`, '', {
    path: 'Consent-ID',
  });
}

/** Counts a reading that the customer did not ask for. @throws DoorRefusal `ACCESS_EXCEEDED` */
export function countReading(bank: Bank, { request, operation }: DoorCall, consent: DoorConsent): void {
  const address = header(request, 'psu-ip-address');
  const { ipAbsent } = bank.rules.description.psu;
  if (ipAbsent !== undefined && address === undefined)
    throw new DoorRefusal('FORMAT_ERROR', 'The bank needs the header PSU-IP-Address', '', {
      path: 'PSU-IP-Address',
    });
  if (address !== undefined && address !== ipAbsent) return;
  doorOf(bank).readings.count(consent, operation.id, operation.parameters.get('account-id') ?? '');
}

/** The id of an account or a card. The variation `shared-ids` gives a card the id of its customer's current account. */
export function idOf(
  { rules, customers }: Pick<Bank, 'rules' | 'customers'>,
  { productId, kind }: Product,
): string {
  if (kind !== 'card' || !rules.variations.includes('shared-ids')) return productId;
  const owner = customers.byProduct(productId)?.customer;
  return owner?.products.find((one) => one.kind === 'current')?.productId ?? productId;
}
