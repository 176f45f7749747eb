import type { Bank } from '../../bank.ts';
import type { CustomerMethod } from '../../customers/sca-methods.ts';
import type { Customer } from '../../customers/seed-customers.ts';
import { find } from '../../faults/spoil.ts';
import type { DoorCall } from '../door-call.ts';
import { doorOf } from '../door-state.ts';
import { linkTo } from '../links.ts';
import { DoorRefusal } from '../refusal.ts';
import { type Asked, askedOf, carryOut, chooseDebtor, isCustomers, plannedSca } from '../sca/asked.ts';
import { type Authorisation, isOver, type ScaStatus, type ScaSubject } from '../sca/authorisations.ts';
import type { ScaAnswer } from '../sca/sca-answer.ts';
import { SCA_OPERATIONS } from '../sca/sca-operations.ts';
import type { ScaWish } from '../sca/sca-wish.ts';
import { makeChallenge } from './challenge.ts';
import { isAtruvias, linksOf, methodShown, methodsAt, progressOf } from './progress.ts';
import type { Step } from './step.ts';

/** How many wrong TANs end an authorisation. */
const MOST_WRONG = 3;

/** Begins an authorisation whose customer the TPP asks. The customer of an access token needs no PIN. */
export function beginEmbedded(bank: Bank, call: DoorCall, subject: ScaSubject, wish: ScaWish): Authorisation {
  const authorisation = doorOf(bank).authorisations.start(subject, wish);
  const customer = bank.customers.find(wish.tokenOf ?? '');
  if (customer) authenticated(bank, call, authorisation, customer);
  return authorisation;
}

/**
 * How the TPP begins an authorisation by a call of its own. Where the customer is known by an access token, the answer has their
 * methods already, or the challenge of the only one.
 */
export function offerEmbedded(bank: Bank, call: DoorCall, subject: ScaSubject, wish: ScaWish): ScaAnswer {
  const start = linkTo(bank, SCA_OPERATIONS[subject.kind].start, subject.path);
  const offer = (name: string, fields: ScaAnswer['fields'] = {}): ScaAnswer => ({
    approach: isAtruvias(bank) ? 'EMBEDDED' : undefined,
    links: { [name]: start },
    fields,
  });
  const { description, variations } = bank.rules;
  if (description.sca.first === 'password' || variations.includes('start-link'))
    return offer('startAuthorisation');
  const customer = bank.customers.find(wish.tokenOf ?? '');
  const methods = customer ? methodsAt(bank, customer) : [];
  if (methods.length > 1)
    return offer('startAuthorisationWithAuthenticationMethodSelection', {
      scaMethods: methods.map(methodShown),
    });
  if (methods.length === 1) {
    const prepared = beginEmbedded(bank, call, subject, wish);
    prepared.embedded.isPrepared = true;
    return offer('startAuthorisationWithTransactionAuthorisation', progressOf(bank, prepared, []).fields);
  }
  const isNamed = wish.psuId !== undefined || subject.kind === 'cancellation' || isAtruvias(bank);
  if (!isNamed) return offer('startAuthorisationWithPsuIdentification');
  const isEncrypted = find(call.faults, 'encrypted-pin') !== undefined;
  return offer(`startAuthorisationWith${isEncrypted ? 'EncryptedPsu' : 'Psu'}Authentication`);
}

/**
 * Takes a step of the customer.
 *
 * @param psuId whom the call names
 * @throws DoorRefusal `PSU_CREDENTIALS_INVALID`, `SCA_METHOD_UNKNOWN`, `STATUS_INVALID`, `FORMAT_ERROR`. A fault refuses what was done
 */
export function takeStep(
  bank: Bank,
  call: DoorCall,
  authorisation: Authorisation,
  { step, psuId }: { step: Step; psuId: string | undefined },
): void {
  identify(authorisation, psuId);
  switch (step.kind) {
    case 'identification':
      requireStatus(authorisation, ['psuIdentified', 'psuAuthenticated', 'scaMethodSelected', 'started']);
      break;
    case 'pin':
      takePin(bank, call, authorisation, step.pin);
      break;
    case 'method':
      select(bank, call, authorisation, step.methodId);
      break;
    case 'tan':
      takeTan(bank, call, authorisation, step.tan);
  }
  bank.calls.tellChange();
  if (step.kind !== 'identification' && find(call.faults, 'credentials-invalid'))
    throw new DoorRefusal('PSU_CREDENTIALS_INVALID', 'not accepted');
}

/** @throws DoorRefusal if the call names another customer than the authorisation, or nobody is named */
function identify(authorisation: Authorisation, psuId: string | undefined): void {
  if (authorisation.psuId === undefined && psuId === undefined)
    throw new DoorRefusal('FORMAT_ERROR', 'The bank needs to know whose PIN it is', '', { path: 'PSU-ID' });
  if (psuId !== undefined && (authorisation.psuId ?? psuId) !== psuId)
    throw new DoorRefusal('PSU_CREDENTIALS_INVALID', 'The authorisation is of another customer', '', {
      path: 'PSU-ID',
    });
  authorisation.psuId ??= psuId;
  if (authorisation.status === 'received') authorisation.status = 'psuIdentified';
}

function takePin(bank: Bank, call: DoorCall, authorisation: Authorisation, pin: string): void {
  requireStatus(authorisation, ['psuIdentified']);
  const customer = namedCustomer(bank, authorisation);
  const { pins } = doorOf(bank);
  if (!pins.take(customer, pin)) {
    const isBlocked = pins.isBlocked(customer);
    if (isBlocked) authorisation.status = 'failed';
    throw new DoorRefusal(
      'PSU_CREDENTIALS_INVALID',
      isBlocked ? 'The PIN is blocked' : 'The PIN is wrong',
      '',
      {
        links: linksOf(bank, authorisation, call.faults),
      },
    );
  }
  authenticated(bank, call, authorisation, customer);
}

/** The customer has given the PIN, or has an access token. A payment of a customer without a method is executed here. */
function authenticated(bank: Bank, call: DoorCall, authorisation: Authorisation, customer: Customer): void {
  const matter = askedFor(bank, authorisation);
  if (!isCustomers(matter, customer, undefined))
    throw new DoorRefusal('FORMAT_ERROR', "The accounts are not the customer's", '', { path: 'PSU-ID' });
  authorisation.psuId = customer.user;
  authorisation.status = 'psuAuthenticated';
  const methods = methodsAt(bank, customer);
  const [only, ...others] = methods;
  if (isExempted(call, matter) || (!only && matter.kind !== 'consent')) {
    finish(bank, authorisation, 'exempted');
    return;
  }
  if (!only) {
    authorisation.status = 'failed';
    throw new DoorRefusal('SCA_METHOD_UNKNOWN', 'The customer has no method to authorise this');
  }
  if (others.length === 0 && !isAtruvias(bank)) challenge(bank, authorisation, only);
}

function select(bank: Bank, call: DoorCall, authorisation: Authorisation, methodId: string): void {
  requireStatus(authorisation, ['psuAuthenticated', 'scaMethodSelected', 'started']);
  const { embedded } = authorisation;
  if (embedded.method && find(call.faults, 'one-method'))
    throw new DoorRefusal('STATUS_INVALID', 'A method was selected before');
  const method = methodsAt(bank, namedCustomer(bank, authorisation)).find(({ id }) => id === methodId);
  if (!method)
    throw new DoorRefusal('SCA_METHOD_UNKNOWN', 'The customer has no such method', '', {
      path: 'authenticationMethodId',
    });
  if (isExempted(call, askedFor(bank, authorisation))) finish(bank, authorisation, 'exempted');
  else challenge(bank, authorisation, method);
}

/** The customer's device gets what they need: a TAN, or the request itself. Another TAN is not valid any more. */
function challenge(bank: Bank, authorisation: Authorisation, method: CustomerMethod): void {
  const { embedded, id } = authorisation;
  embedded.method = method;
  authorisation.status = isAtruvias(bank) ? 'started' : 'scaMethodSelected';
  authorisation.approach = method.device === 'push' ? 'decoupled' : 'embedded';
  embedded.tan = undefined;
  embedded.challengeData = undefined;
  if (method.device === 'push') return;
  const { tan, text, image, challengeData } = makeChallenge(
    askedFor(bank, authorisation),
    method,
    isAtruvias(bank),
  );
  embedded.tan = tan;
  embedded.challengeData = challengeData;
  const { customerId } = namedCustomer(bank, authorisation);
  const about = { customerId, at: bank.now(), authorisationId: id, method: method.name };
  doorOf(bank).devices.show({ ...about, text, tan, image });
}

function takeTan(bank: Bank, call: DoorCall, authorisation: Authorisation, tan: string): void {
  const { embedded } = authorisation;
  requireStatus(authorisation, ['scaMethodSelected', 'started']);
  if (embedded.tan === undefined)
    throw new DoorRefusal('STATUS_INVALID', 'The authorisation waits for no TAN');
  if (tan !== embedded.tan) {
    embedded.wrongTans += 1;
    if (embedded.wrongTans >= MOST_WRONG) authorisation.status = 'failed';
    throw new DoorRefusal('PSU_CREDENTIALS_INVALID', whyWrong(bank, authorisation, tan), '', {
      links: linksOf(bank, authorisation, call.faults),
    });
  }
  embedded.tan = undefined;
  const planned = plannedSca(askedFor(bank, authorisation));
  if (planned === 'PENDING') return;
  embedded.leavesOpen = find(call.faults, 'sca-fails') !== undefined;
  if (planned !== undefined || embedded.leavesOpen) authorisation.status = 'failed';
  else finish(bank, authorisation, 'finalised');
}

/** A TAN is valid for its own payment and amount only (RTS (EU) 2018/389, article 5). */
function whyWrong(bank: Bank, { id }: Authorisation, tan: string): string {
  const message = doorOf(bank)
    .devices.list()
    .find((one) => one.tan === tan);
  if (!message) return 'The TAN is wrong';
  return message.authorisationId === id
    ? 'The TAN is not valid any more'
    : 'The TAN belongs to another authorisation';
}

function finish(bank: Bank, authorisation: Authorisation, word: 'finalised' | 'exempted'): void {
  const matter = askedFor(bank, authorisation);
  const customer = namedCustomer(bank, authorisation);
  chooseDebtor(matter, customer, undefined);
  const by = { customerId: customer.customerId, chosen: undefined };
  if (word === 'exempted') doorOf(bank).authorisations.exempt(authorisation, by);
  else doorOf(bank).authorisations.approve(authorisation, by);
  carryOut(bank, matter, by);
}

/** Whether the bank lets a payment pass without SCA (RTS (EU) 2018/389, articles 10 to 18). */
function isExempted({ faults }: DoorCall, { kind }: Asked): boolean {
  return kind !== 'consent' && find(faults, 'no-sca') !== undefined;
}

function askedFor(bank: Bank, { subject }: Authorisation): Asked {
  const matter = askedOf(bank, subject);
  if (matter) return matter;
  throw new DoorRefusal('RESOURCE_UNKNOWN', 'The bank does not have what this authorises any more');
}

function namedCustomer({ customers }: Bank, { psuId }: Authorisation): Customer {
  const customer = customers.byUser(psuId ?? '');
  if (customer) return customer;
  throw new DoorRefusal('PSU_CREDENTIALS_INVALID', 'The bank has no such customer', '', { path: 'PSU-ID' });
}

/** @throws DoorRefusal `STATUS_INVALID` */
function requireStatus({ status }: Authorisation, possible: readonly ScaStatus[]): void {
  if (possible.includes(status)) return;
  throw new DoorRefusal(
    'STATUS_INVALID',
    isOver(status)
      ? `The authorisation is ${status}`
      : `The authorisation is ${status}, another step comes first`,
  );
}
