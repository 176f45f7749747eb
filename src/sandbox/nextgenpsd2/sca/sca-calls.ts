import * as z from 'zod/mini';
import type { Bank } from '../../bank.ts';
import { find } from '../../faults/spoil.ts';
import { type DoorAnswer, type DoorCall, inPath } from '../door-call.ts';
import { doorOf } from '../door-state.ts';
import { isAtruvias, progressOf } from '../embedded/progress.ts';
import { readStep, type Step } from '../embedded/step.ts';
import { takeStep } from '../embedded/steps.ts';
import { basketInPath, consentInPath, paymentInPath } from '../in-path.ts';
import { linkTo } from '../links.ts';
import { subjectOf } from '../payments/payment.ts';
import { DoorRefusal, unexpected } from '../refusal.ts';
import { readBody } from '../strict/body.ts';
import { readQuery } from '../strict/query.ts';
import { type Asked, askedOf, carryOut, isWaiting } from './asked.ts';
import {
  type Authorisation,
  isOver,
  type ScaSubject,
  subjectOfBasket,
  subjectOfConsent,
} from './authorisations.ts';
import { approachHeader } from './sca-answer.ts';
import { SCA_OPERATIONS } from './sca-operations.ts';
import { namedPsu, readScaWish } from './sca-wish.ts';
import { beginSca, startedSca } from './start-sca.ts';

/** `POST …/authorisations`. The body has nothing, or with embedded SCA what the customer has to give. */
export function startAuthorisation(kind: ScaSubject['kind']) {
  return (bank: Bank, call: DoorCall): DoorAnswer => {
    const { subject, matter } = inPathOf(bank, call, kind);
    const wish = readScaWish(bank, call);
    const step = wish.approach === 'embedded' ? readFirstStep(bank, call) : undefined;
    if (!step) readBody(call.request, z.strictObject({}), {});
    if (!isWaiting(bank, matter))
      throw new DoorRefusal('STATUS_INVALID', `The ${kind} does not wait for an authorisation`);
    const authorisation =
      (step?.kind === 'tan' ? doorOf(bank).authorisations.takePrepared(subject) : undefined) ??
      beginSca(bank, call, subject, wish);
    if (step && step.kind !== 'identification')
      takeStep(bank, call, authorisation, { step, psuId: wish.psuId });
    const sca = startedSca(bank, authorisation, call.faults);
    return {
      status: 201,
      headers: approachHeader(sca),
      body: {
        scaStatus: authorisation.status,
        ...(!isAtruvias(bank) && { authorisationId: authorisation.id }),
        _links: sca.links,
        ...sca.fields,
      },
    };
  };
}

/** @throws DoorRefusal `FORMAT_ERROR` if the bank wants the PIN first */
function readFirstStep({ rules }: Bank, { request }: DoorCall): Step {
  const step = readStep(request);
  if (rules.description.sca.first === 'password' && step.kind === 'identification')
    throw new DoorRefusal('FORMAT_ERROR', 'The bank wants the PIN first', '', { path: 'psuData.password' });
  return step;
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
          .filter(({ embedded }) => !embedded.isPrepared)
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
    const unknown = find(call.faults, 'finished-unknown')?.value ?? (isAtruvias(bank) ? 403 : undefined);
    if (unknown !== undefined && isOver(scaStatus))
      throw new DoorRefusal('RESOURCE_UNKNOWN', 'RESOURCE_UNKNOWN', '', { status: unknown });
    if (find(call.faults, 'no-sca-status')) return { status: 200, body: {} };
    const values = { ...authorisation.subject.path, authorisationId: authorisation.id };
    const links = { confirmation: linkTo(bank, SCA_OPERATIONS[kind].update, values) };
    return { status: 200, body: { scaStatus, ...(scaStatus === 'unconfirmed' && { _links: links }) } };
  };
}

/** The authorisation that began before this one, or else after it. */
function neighbourOf(bank: Bank, authorisation: Authorisation): Authorisation {
  const all = doorOf(bank).authorisations.list();
  const at = all.indexOf(authorisation);
  return all[at - 1] ?? all[at + 1] ?? authorisation;
}

/** `PUT …/authorisations/{authorisationId}`: a confirmation code, or with embedded SCA a step of the customer. */
export function updateAuthorisation(kind: ScaSubject['kind']) {
  return (bank: Bank, call: DoorCall): DoorAnswer => {
    const authorisation = authorisationInPath(bank, call, kind);
    return authorisation.approach === 'embedded'
      ? stepped(bank, call, authorisation)
      : confirmed(bank, call, authorisation);
  };
}

function stepped(bank: Bank, call: DoorCall, authorisation: Authorisation): DoorAnswer {
  const step = readStep(call.request);
  const status = doorOf(bank).authorisations.statusOf(authorisation);
  const matter = askedOf(bank, authorisation.subject);
  if (isOver(status) || !matter || !isWaiting(bank, matter))
    throw new DoorRefusal('STATUS_INVALID', `The authorisation is ${status}, and waits for nothing`);
  takeStep(bank, call, authorisation, { step, psuId: namedPsu(bank, call) });
  const sca = progressOf(bank, authorisation, call.faults);
  return {
    status: 200,
    headers: approachHeader(sca),
    body: {
      scaStatus: authorisation.status,
      ...(Object.keys(sca.links).length > 0 && { _links: sca.links }),
      ...sca.fields,
    },
  };
}

function confirmed(bank: Bank, call: DoorCall, authorisation: Authorisation): DoorAnswer {
  const { authorisations } = doorOf(bank);
  const { confirmationCode } = readBody(call.request, z.strictObject({ confirmationCode: z.string() }));
  const status = authorisations.statusOf(authorisation);
  const matter = askedOf(bank, authorisation.subject);
  if (status !== 'unconfirmed' || !matter || !isWaiting(bank, matter))
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
  if (authorisation.approvedBy) carryOut(bank, matter, authorisation.approvedBy);
  bank.calls.tellChange();
  const { subject } = authorisation;
  const values = { ...subject.path, authorisationId: authorisation.id };
  return {
    status: 200,
    body: {
      scaStatus: 'finalised',
      _links: { scaStatus: linkTo(bank, SCA_OPERATIONS[subject.kind].status, values) },
    },
  };
}

/** @throws DoorRefusal if the bank does not have it */
function inPathOf(
  bank: Bank,
  call: DoorCall,
  kind: ScaSubject['kind'],
): { subject: ScaSubject; matter: Asked } {
  readQuery(call.request, []);
  switch (kind) {
    case 'consent':
    case 'funds-consent': {
      const consent = consentInPath(bank, call, kind);
      return { subject: subjectOfConsent(consent), matter: { kind: 'consent', consent } };
    }
    case 'payment':
    case 'cancellation': {
      const payment = paymentInPath(bank, call);
      return { subject: subjectOf(payment, kind), matter: { kind, payment } };
    }
    case 'basket': {
      const basket = basketInPath(bank, call);
      return { subject: subjectOfBasket(basket), matter: { kind, basket } };
    }
  }
}

/** @throws DoorRefusal `RESOURCE_UNKNOWN`, and those of {@link inPathOf} */
function authorisationInPath(bank: Bank, call: DoorCall, kind: ScaSubject['kind']): Authorisation {
  const authorisation = doorOf(bank).authorisations.find(inPath(call, 'authorisationId'));
  // A bank file may have a path with the id of the authorisation alone.
  const parameters = new Map([
    ...Object.entries(authorisation?.subject.path ?? {}),
    ...call.operation.parameters,
  ]);
  const { subject } = inPathOf(bank, { ...call, operation: { ...call.operation, parameters } }, kind);
  if (authorisation?.subject.kind === kind && authorisation.subject.id === subject.id) return authorisation;
  throw new DoorRefusal('RESOURCE_UNKNOWN', `The ${kind} has no such authorisation`, '', { status: 403 });
}
