import * as z from 'zod/mini';
import type { Bank } from '../../bank.ts';
import { find } from '../../faults/spoil.ts';
import { type DoorAnswer, type DoorCall, inPath } from '../door-call.ts';
import { doorOf } from '../door-state.ts';
import { basketInPath, consentInPath, paymentInPath } from '../in-path.ts';
import { linkTo } from '../links.ts';
import type { OperationId } from '../operations.ts';
import { subjectOf } from '../payments/payment.ts';
import { DoorRefusal, unexpected } from '../refusal.ts';
import { readBody } from '../strict/body.ts';
import { readQuery } from '../strict/query.ts';
import { type Asked, askedOf, carryOut, isWaiting } from './asked.ts';
import { type Authorisation, type ScaSubject, subjectOfBasket, subjectOfConsent } from './authorisations.ts';
import { readScaWish, SCA_STATUS_CALLS, startedSca } from './start-sca.ts';

/** The call with which the TPP sends a confirmation code, by what the customer authorises. */
const CONFIRMING: Record<ScaSubject['kind'], OperationId> = {
  consent: 'updateConsentsPsuData',
  'funds-consent': 'updateConsentConfirmationOfFundsPsuData',
  payment: 'updatePaymentPsuData',
  cancellation: 'updatePaymentCancellationPsuData',
  basket: 'updateSigningBasketPsuData',
};

/** `POST …/authorisations`. The body has nothing: psd2 gives no bank a customer's password. */
export function startAuthorisation(kind: ScaSubject['kind']) {
  return (bank: Bank, call: DoorCall): DoorAnswer => {
    const { subject, asked } = inPathOf(bank, call, kind);
    readBody(call.request, z.strictObject({}), {});
    if (!isWaiting(bank, asked))
      throw new DoorRefusal('STATUS_INVALID', `The ${kind} does not wait for an authorisation`);
    const authorisation = doorOf(bank).authorisations.start(subject, readScaWish(bank, call));
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
  };
}

/** `GET …/authorisations` */
export function listAuthorisations(kind: ScaSubject['kind']) {
  return (bank: Bank, call: DoorCall): DoorAnswer => {
    const { subject } = inPathOf(bank, call, kind);
    return {
      status: 200,
      body: {
        authorisationIds: doorOf(bank)
          .authorisations.of(subject)
          .map(({ id }) => id),
      },
    };
  };
}

/** `GET …/authorisations/{authorisationId}` */
export function readScaStatus(kind: ScaSubject['kind']) {
  return (bank: Bank, call: DoorCall): DoorAnswer => {
    const authorisation = authorisationInPath(bank, call, kind);
    const scaStatus = doorOf(bank).authorisations.statusOf(
      find(call.faults, 'other-sca-status') ? neighbourOf(bank, authorisation) : authorisation,
    );
    const values = { ...authorisation.subject.path, authorisationId: authorisation.id };
    const links = { confirmation: linkTo(bank, CONFIRMING[kind], values) };
    return { status: 200, body: { scaStatus, ...(scaStatus === 'unconfirmed' && { _links: links }) } };
  };
}

/** The authorisation that began before this one, or else after it. */
function neighbourOf(bank: Bank, authorisation: Authorisation): Authorisation {
  const all = doorOf(bank).authorisations.list();
  const at = all.indexOf(authorisation);
  return all[at - 1] ?? all[at + 1] ?? authorisation;
}

/**
 * `PUT …/authorisations/{authorisationId}` with a confirmation code. The other bodies of this call carry the customer's credentials
 * (embedded SCA), which the sandbox does not take.
 */
export function confirmAuthorisation(kind: ScaSubject['kind']) {
  return (bank: Bank, call: DoorCall): DoorAnswer => {
    const authorisation = authorisationInPath(bank, call, kind);
    const { authorisations } = doorOf(bank);
    const { confirmationCode } = readBody(call.request, z.strictObject({ confirmationCode: z.string() }));
    const status = authorisations.statusOf(authorisation);
    const asked = askedOf(bank, authorisation.subject);
    if (status !== 'unconfirmed' || !asked || !isWaiting(bank, asked))
      throw new DoorRefusal(
        'STATUS_INVALID',
        `The authorisation is ${status}, and waits for no confirmation code`,
      );
    if (!authorisations.confirm(authorisation, confirmationCode))
      throw unexpected(
        'SCA_INVALID',
        'confirmationCode',
        'The confirmation code is wrong. The authorisation has failed',
        'the code in the query of the redirect',
        'another one',
      );
    if (authorisation.approvedBy) carryOut(bank, asked, authorisation.approvedBy);
    bank.calls.tellChange();
    const values = { ...authorisation.subject.path, authorisationId: authorisation.id };
    return {
      status: 200,
      body: {
        scaStatus: 'finalised',
        _links: { scaStatus: linkTo(bank, SCA_STATUS_CALLS[kind], values) },
      },
    };
  };
}

/** @throws DoorRefusal if the bank does not have it */
function inPathOf(
  bank: Bank,
  call: DoorCall,
  kind: ScaSubject['kind'],
): { subject: ScaSubject; asked: Asked } {
  readQuery(call.request, []);
  switch (kind) {
    case 'consent':
    case 'funds-consent': {
      const consent = consentInPath(bank, call, kind);
      return { subject: subjectOfConsent(consent), asked: { kind: 'consent', consent } };
    }
    case 'payment':
    case 'cancellation': {
      const payment = paymentInPath(bank, call);
      return { subject: subjectOf(payment, kind), asked: { kind, payment } };
    }
    case 'basket': {
      const basket = basketInPath(bank, call);
      return { subject: subjectOfBasket(basket), asked: { kind, basket } };
    }
  }
}

/** @throws DoorRefusal `RESOURCE_UNKNOWN`, and those of {@link inPathOf} */
function authorisationInPath(bank: Bank, call: DoorCall, kind: ScaSubject['kind']): Authorisation {
  const found = doorOf(bank).authorisations.find(inPath(call, 'authorisationId'));
  // A bank file may have a path with the id of the authorisation alone.
  const parameters = new Map([...Object.entries(found?.subject.path ?? {}), ...call.operation.parameters]);
  const { subject } = inPathOf(bank, { ...call, operation: { ...call.operation, parameters } }, kind);
  if (found?.subject.kind === kind && found.subject.id === subject.id) return found;
  throw new DoorRefusal('RESOURCE_UNKNOWN', `The ${kind} has no such authorisation`, '', { status: 403 });
}
