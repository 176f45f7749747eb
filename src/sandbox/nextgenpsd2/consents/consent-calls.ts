import * as z from 'zod/mini';
import type { Bank } from '../../bank.ts';
import { type DoorAnswer, type DoorCall, inPath } from '../door-call.ts';
import { consentStatus } from '../door-state.ts';
import { linkTo } from '../links.ts';
import { DoorRefusal, unexpected } from '../refusal.ts';
import { readBody } from '../strict/body.ts';
import { readQuery } from '../strict/query.ts';
import type { Authorisation } from './authorisations.ts';
import type { DoorConsent } from './consent.ts';
import { readConsentOrder } from './consent-request.ts';
import { readScaWish, startedSca } from './start-sca.ts';

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
  const started = wish.explicit ? undefined : startedSca(bank, door.authorisations.start(consentId, wish));
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

/** `POST /consents/{consentId}/authorisations`. The body has nothing: psd2 gives no bank a customer's password. */
export function startConsentAuthorisation(bank: Bank, call: DoorCall): DoorAnswer {
  const consent = consentInPath(bank, call);
  readBody(call.request, z.strictObject({}), {});
  requireReceived(bank, consent);
  const authorisation = bank.door.authorisations.start(consent.id, readScaWish(bank, call));
  const { approach, links, psuMessage } = startedSca(bank, authorisation);
  return {
    status: 201,
    headers: { 'ASPSP-SCA-Approach': approach },
    body: {
      scaStatus: authorisation.status,
      authorisationId: authorisation.id,
      _links: links,
      ...(psuMessage !== undefined && { psuMessage }),
    },
  };
}

function requireReceived(bank: Bank, consent: DoorConsent): void {
  const status = consentStatus(bank.door, consent);
  if (status === 'received') return;
  throw new DoorRefusal(
    'STATUS_INVALID',
    `The consent is ${status}`,
    'Only a received consent can be authorised.',
  );
}

/** `GET /consents/{consentId}/authorisations` */
export function getConsentAuthorisation(bank: Bank, call: DoorCall): DoorAnswer {
  const { id } = consentInPath(bank, call);
  return { status: 200, body: { authorisationIds: bank.door.authorisations.of(id).map((one) => one.id) } };
}

/** `GET /consents/{consentId}/authorisations/{authorisationId}` */
export function getConsentScaStatus(bank: Bank, call: DoorCall): DoorAnswer {
  const authorisation = authorisationInPath(bank, call);
  const scaStatus = bank.door.authorisations.statusOf(authorisation);
  const links = {
    confirmation: linkTo(bank, 'updateConsentsPsuData', {
      consentId: authorisation.consentId,
      authorisationId: authorisation.id,
    }),
  };
  return { status: 200, body: { scaStatus, ...(scaStatus === 'unconfirmed' && { _links: links }) } };
}

/**
 * `PUT /consents/{consentId}/authorisations/{authorisationId}` with a confirmation code. The other bodies of this call carry the
 * customer's credentials (embedded SCA), which the sandbox does not take.
 */
export function updateConsentsPsuData(bank: Bank, call: DoorCall): DoorAnswer {
  const authorisation = authorisationInPath(bank, call);
  const { consentId, id: authorisationId } = authorisation;
  const { door } = bank;
  const { confirmationCode } = readBody(call.request, z.strictObject({ confirmationCode: z.string() }));
  const status = door.authorisations.statusOf(authorisation);
  if (status !== 'unconfirmed') {
    throw new DoorRefusal(
      'STATUS_INVALID',
      `The authorisation is ${status}, and waits for no confirmation code`,
    );
  }
  if (!door.authorisations.confirm(authorisation, confirmationCode)) {
    throw unexpected(
      'SCA_INVALID',
      'confirmationCode',
      'The confirmation code is wrong. The authorisation has failed',
      'the code in the query of the redirect',
      'another one',
    );
  }
  const consent = door.consents.find(consentId);
  const customer = bank.customers.find(authorisation.approvedBy?.customerId ?? '');
  if (consent && customer) door.consents.give(consent, customer, authorisation.approvedBy?.chosen);
  bank.calls.tellChange();
  return {
    status: 200,
    body: {
      scaStatus: 'finalised',
      _links: { scaStatus: linkTo(bank, 'getConsentScaStatus', { consentId, authorisationId }) },
    },
  };
}

/** @throws DoorRefusal `CONSENT_UNKNOWN` */
function consentInPath(bank: Bank, call: DoorCall): DoorConsent {
  readQuery(call.request, []);
  const consent = bank.door.consents.find(inPath(call, 'consentId'));
  if (consent) return consent;
  throw new DoorRefusal('CONSENT_UNKNOWN', 'The bank does not know this consent');
}

/** @throws DoorRefusal `CONSENT_UNKNOWN`, `RESOURCE_UNKNOWN` */
function authorisationInPath(bank: Bank, call: DoorCall): Authorisation {
  const { id } = consentInPath(bank, call);
  const found = bank.door.authorisations.find(inPath(call, 'authorisationId'));
  if (found?.consentId === id) return found;
  throw new DoorRefusal('RESOURCE_UNKNOWN', 'The consent has no such authorisation', '', { status: 403 });
}
