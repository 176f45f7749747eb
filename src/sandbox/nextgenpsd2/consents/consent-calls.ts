import type { Bank } from '../../bank.ts';
import type { DoorAnswer, DoorCall } from '../door-call.ts';
import { consentStatus } from '../door-state.ts';
import { consentInPath } from '../in-path.ts';
import { linkTo } from '../links.ts';
import { subjectOfResource } from '../sca/authorisations.ts';
import { readScaWish, startedSca } from '../sca/start-sca.ts';
import { readQuery } from '../strict/query.ts';
import { readConsentOrder } from './consent-request.ts';

/** `POST /consents` */
export function createConsent(bank: Bank, call: DoorCall): DoorAnswer {
  readQuery(call.request, []);
  const order = readConsentOrder(bank, call.request);
  const wish = readScaWish(bank, call);
  const { door } = bank;
  const consent = door.consents.add(order);
  const { id: consentId } = consent;
  const self = linkTo(bank, 'getConsentInformation', { consentId });
  const common = { self, status: linkTo(bank, 'getConsentStatus', { consentId }) };
  const started = wish.explicit
    ? undefined
    : startedSca(bank, door.authorisations.start(subjectOfResource('consent', consent), wish));
  const links = started?.links ?? {
    startAuthorisation: linkTo(bank, 'startConsentAuthorisation', { consentId }),
  };
  return {
    status: 201,
    headers: {
      Location: self.href,
      ...(started && { 'ASPSP-SCA-Approach': started.approach }),
      ...(bank.rules.variations.includes('multiple-consents') && {
        'ASPSP-Multiple-Consent-Support': 'true',
      }),
    },
    body: {
      consentStatus: 'received',
      consentId,
      _links: { ...links, ...common },
      ...(started?.psuMessage !== undefined && { psuMessage: started.psuMessage }),
    },
  };
}

/** `GET /consents/{consentId}` */
export function getConsentInformation(bank: Bank, call: DoorCall): DoorAnswer {
  const consent = consentInPath(bank, call);
  const status = consentStatus(bank.door, consent);
  return {
    status: 200,
    body: {
      access: consent.access,
      recurringIndicator: consent.recurring,
      validUntil: consent.validUntil,
      frequencyPerDay: consent.frequencyPerDay,
      lastActionDate: consent.lastAction,
      consentStatus: status,
      ...(status === 'valid' && { _links: { account: linkTo(bank, 'getAccountList') } }),
    },
  };
}

/** `GET /consents/{consentId}/status` */
export function getConsentStatus(bank: Bank, call: DoorCall): DoorAnswer {
  const status = consentStatus(bank.door, consentInPath(bank, call));
  return { status: 200, body: { consentStatus: status } };
}

/** `DELETE /consents/{consentId}`. A consent that has ended stays as it is. */
export function deleteConsent(bank: Bank, call: DoorCall): DoorAnswer {
  bank.door.consents.end(consentInPath(bank, call), 'terminatedByTpp');
  return { status: 204 };
}
