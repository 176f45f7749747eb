import { Logins } from '../access/logins.ts';
import { Tokens } from '../access/tokens.ts';
import { Pins } from '../customers/pins.ts';
import { Shelf } from '../shelf.ts';
import { DoorMemory } from '../state-part.ts';
import { DoorBaskets } from './baskets/baskets.ts';
import type { ConsentStatus, DoorConsent } from './consents/consent.ts';
import { DoorConsents, ReadingsOfDay } from './consents/consents.ts';
import { Devices } from './embedded/devices.ts';
import type { AuthorizationRequest, DoorGrant } from './oauth/grant.ts';
import type { DoorPayment } from './payments/payment.ts';
import { RepeatedRequests } from './payments/repeated-requests.ts';
import { Authorisations, subjectOfConsent } from './sca/authorisations.ts';

/** What the second door remembers. */
export const doorMemory = new DoorMemory((rules) => ({
  consents: new DoorConsents(rules),
  authorisations: new Authorisations(rules),
  payments: new Shelf<DoorPayment>(({ debtor }) => (debtor ? [debtor.customer.customerId] : [])),
  repeated: new RepeatedRequests(rules),
  baskets: new DoorBaskets(rules.now),
  pins: new Pins(),
  devices: new Devices(),
  readings: new ReadingsOfDay(rules.now),
  tokens: new Tokens<DoorGrant>(rules, Number.POSITIVE_INFINITY, rules.description.psu.id === 'token-sub'),
  logins: new Logins<AuthorizationRequest, DoorGrant>(rules.now),
}));

/** What the second door remembers of this bank. */
export const doorOf = (bank: Parameters<typeof doorMemory.of>[0]) => doorMemory.of(bank);

/** The state of a consent now. If all its authorisations failed, the customer did not give it. */
export function consentStatus(bank: Parameters<typeof doorOf>[0], consent: DoorConsent): ConsentStatus {
  const { consents, authorisations } = doorOf(bank);
  const subject = subjectOfConsent(consent);
  const failed = authorisations.haveFailed(subject);
  if (consent.status === 'received' && failed) consents.end(consent, 'rejected');
  const status = consents.statusOf(consent);
  // Of a company account, one holder may have authorised already.
  const isPartly = status === 'received' && authorisations.approvedBy(subject).length > 0;
  return isPartly ? 'partiallyAuthorised' : status;
}
