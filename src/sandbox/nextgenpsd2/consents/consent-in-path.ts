import type { Bank } from '../../bank.ts';
import { type DoorCall, inPath } from '../door-call.ts';
import { DoorRefusal } from '../refusal.ts';
import type { ScaSubject } from '../sca/authorisations.ts';
import { readQuery } from '../strict/query.ts';
import type { DoorConsent } from './consent.ts';

/** The consent in the path of a call. @throws DoorRefusal `CONSENT_UNKNOWN` */
export function consentInPath(bank: Bank, call: DoorCall): DoorConsent {
  readQuery(call.request, []);
  const consent = bank.door.consents.find(inPath(call, 'consentId'));
  if (consent) return consent;
  throw new DoorRefusal('CONSENT_UNKNOWN', 'The bank does not know this consent');
}

/** A consent as what a customer authorises. */
export function subjectOfConsent({ id }: DoorConsent): ScaSubject {
  return { kind: 'consent', id, path: { consentId: id } };
}
