import type { Bank } from '../../bank.ts';
import type { DoorAnswer, DoorCall } from '../door-call.ts';
import { consentStatus, doorOf } from '../door-state.ts';
import { consentInPath } from '../in-path.ts';
import { linkTo } from '../links.ts';
import type { OperationId } from '../operations.ts';
import { DoorRefusal } from '../refusal.ts';
import { subjectOfConsent } from '../sca/authorisations.ts';
import { approachHeader } from '../sca/sca-answer.ts';
import { readScaWish } from '../sca/sca-wish.ts';
import { askForSca } from '../sca/start-sca.ts';
import { readQuery } from '../strict/query.ts';
import type { ConsentKind, DoorConsent } from './consent.ts';
import { type ConsentOrder, readConsentOrder, readFundsOrder } from './consent-request.ts';

/** The calls of each kind of consents that links lead to. */
const CALLS = {
  consent: {
    self: 'getConsentInformation',
    status: 'getConsentStatus',
  },
  'funds-consent': {
    self: 'getConsentConfirmationOfFunds',
    status: 'getConsentConfirmationOfFundsStatus',
  },
} as const satisfies Record<ConsentKind, Record<string, OperationId>>;

/** `POST /consents` */
export function createConsent(bank: Bank, call: DoorCall): DoorAnswer {
  readQuery(call.request, []);
  return created(bank, call, readConsentOrder(bank, call.request), 'consent');
}

/** `POST /v2/consents/confirmation-of-funds` */
export function createFundsConsent(bank: Bank, call: DoorCall): DoorAnswer {
  readQuery(call.request, []);
  return created(bank, call, readFundsOrder(bank, call.request), 'funds-consent');
}

function created(bank: Bank, call: DoorCall, order: ConsentOrder, kind: ConsentKind): DoorAnswer {
  const wish = readScaWish(bank, call);
  const door = doorOf(bank);
  const consent = door.consents.add(order);
  const { id: consentId } = consent;
  const self = linkTo(bank, CALLS[kind].self, { consentId });
  const common = { self, status: linkTo(bank, CALLS[kind].status, { consentId }) };
  const sca = askForSca(bank, call, subjectOfConsent(consent), wish);
  return {
    status: 201,
    headers: {
      Location: self.href,
      ...approachHeader(sca),
      ...(kind === 'consent' &&
        bank.rules.variations.includes('multiple-consents') && { 'ASPSP-Multiple-Consent-Support': 'true' }),
    },
    body: {
      consentStatus: consentStatus(bank, consent),
      consentId,
      _links: { ...sca.links, ...common },
      ...sca.fields,
    },
  };
}

/** @throws DoorRefusal `SERVICE_INVALID` at a bank that tells no status of consents */
function refuseStatus({ rules }: Bank): void {
  if (rules.description.consent.status === 'none')
    throw new DoorRefusal('SERVICE_INVALID', 'The bank does not tell how consents are', '', { status: 405 });
}

/** `GET /consents/{consentId}` */
export function getConsentInformation(bank: Bank, call: DoorCall): DoorAnswer {
  refuseStatus(bank);
  const consent = consentInPath(bank, call, 'consent');
  const status = consentStatus(bank, consent);
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

/** `GET /v2/consents/confirmation-of-funds/{consentId}` */
export function getFundsConsent(bank: Bank, call: DoorCall): DoorAnswer {
  const consent: DoorConsent = consentInPath(bank, call, 'funds-consent');
  const status = consentStatus(bank, consent);
  return {
    status: 200,
    body: { account: consent.access.accounts?.[0], ...consent.card, consentStatus: status },
  };
}

/** `GET /consents/{consentId}/status` */
export function getConsentStatus(kind: ConsentKind) {
  return (bank: Bank, call: DoorCall): DoorAnswer => {
    if (kind === 'consent') refuseStatus(bank);
    const status = consentStatus(bank, consentInPath(bank, call, kind));
    return { status: 200, body: { consentStatus: status } };
  };
}

/** `DELETE /consents/{consentId}`. A consent that has ended stays as it is. */
export function deleteConsent(kind: ConsentKind) {
  return (bank: Bank, call: DoorCall): DoorAnswer => {
    const consent = consentInPath(bank, call, kind);
    const rule = bank.rules.description.consent.delete;
    if (rule === 'authorised' && consentStatus(bank, consent) === 'received')
      throw new DoorRefusal('STATUS_INVALID', 'Nobody has authorised this consent', '');
    doorOf(bank).consents.end(consent, 'terminatedByTpp');
    return { status: 204 };
  };
}
