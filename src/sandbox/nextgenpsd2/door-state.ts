import type { BankRules } from '../rules.ts';
import { Authorisations } from './consents/authorisations.ts';
import type { ConsentStatus, DoorConsent } from './consents/consent.ts';
import { DoorConsents } from './consents/consents.ts';
import { ReadingsOfDay } from './consents/readings-of-day.ts';
import { AuthorizationRequests } from './oauth/authorization-requests.ts';
import { DoorTokens } from './oauth/door-tokens.ts';

/** What the second door remembers: parts of the state of the bank. */
export interface DoorState {
  consents: DoorConsents;
  authorisations: Authorisations;
  readings: ReadingsOfDay;
  tokens: DoorTokens;
  authorizationRequests: AuthorizationRequests;
}

export function newDoorState(rules: BankRules): DoorState {
  const { now } = rules;
  return {
    consents: new DoorConsents(rules),
    authorisations: new Authorisations(rules),
    readings: new ReadingsOfDay(now),
    tokens: new DoorTokens(rules),
    authorizationRequests: new AuthorizationRequests(now),
  };
}

/** The state of a consent now. If all its authorisations failed, the customer did not give it. */
export function consentStatus({ consents, authorisations }: DoorState, consent: DoorConsent): ConsentStatus {
  const started = authorisations.of(consent.id);
  const failed = started.length > 0 && started.every((one) => authorisations.statusOf(one) === 'failed');
  if (consent.status === 'received' && failed) consents.end(consent, 'rejected');
  return consents.statusOf(consent);
}
