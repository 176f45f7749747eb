import { Logins } from '../access/logins.ts';
import { Tokens } from '../access/tokens.ts';
import type { BankRules } from '../rules.ts';
import { Shelf } from '../shelf.ts';
import { DoorBaskets } from './baskets/baskets.ts';
import type { ConsentStatus, DoorConsent } from './consents/consent.ts';
import { DoorConsents } from './consents/consents.ts';
import { ReadingsOfDay } from './consents/readings-of-day.ts';
import type { AuthorizationRequest, DoorGrant } from './oauth/grant.ts';
import type { DoorPayment } from './payments/payment.ts';
import { RepeatedRequests } from './payments/repeated-requests.ts';
import { Authorisations, subjectOfConsent } from './sca/authorisations.ts';

/** What the second door remembers: parts of the state of the bank. */
export interface DoorState {
  consents: DoorConsents;
  authorisations: Authorisations;
  payments: Shelf<DoorPayment>;
  repeated: RepeatedRequests;
  baskets: DoorBaskets;
  readings: ReadingsOfDay;
  tokens: Tokens<DoorGrant>;
  logins: Logins<AuthorizationRequest, DoorGrant>;
}

export function newDoorState(rules: BankRules): DoorState {
  const { now } = rules;
  return {
    consents: new DoorConsents(rules),
    authorisations: new Authorisations(rules),
    payments: new Shelf(({ debtor }) => (debtor ? [debtor.customer.customerId] : [])),
    repeated: new RepeatedRequests(rules),
    baskets: new DoorBaskets(now),
    readings: new ReadingsOfDay(now),
    tokens: new Tokens(rules, Number.POSITIVE_INFINITY, rules.description.psu.id === 'token-sub'),
    logins: new Logins(now),
  };
}

/** The state of a consent now. If all its authorisations failed, the customer did not give it. */
export function consentStatus({ consents, authorisations }: DoorState, consent: DoorConsent): ConsentStatus {
  const subject = subjectOfConsent(consent);
  const failed = authorisations.haveFailed(subject);
  if (consent.status === 'received' && failed) consents.end(consent, 'rejected');
  const status = consents.statusOf(consent);
  // Of a company account, one holder may have authorised already.
  const isPartly = status === 'received' && authorisations.approvedBy(subject).length > 0;
  return isPartly ? 'partiallyAuthorised' : status;
}
