import type { Bank } from '../../bank.ts';
import { type CustomerMethod, methodsOf } from '../../customers/sca-methods.ts';
import type { Customer } from '../../customers/seed-customers.ts';
import type { Fault } from '../../faults/fault.ts';
import { find } from '../../faults/spoil.ts';
import { appMessage, type Href, linkTo } from '../links.ts';
import { amountOf } from '../readings/account-view.ts';
import type { Authorisation } from '../sca/authorisations.ts';
import type { ScaAnswer } from '../sca/sca-answer.ts';
import { SCA_OPERATIONS } from '../sca/sca-operations.ts';

/** Whether the door has the shape of Atruvia's public recordings. */
export function isAtruvias({ rules }: Pick<Bank, 'rules'>): boolean {
  return rules.variations.includes('embedded-atruvia');
}

/** The methods of a customer at this bank. */
export function methodsAt(bank: Bank, customer: Customer): readonly CustomerMethod[] {
  return methodsOf(customer, isAtruvias(bank) ? 'atruvia' : 'standard');
}

/** A method in an answer (NextGenPSD2, "Authentication Object"). */
export function methodShown({ id, type, version, name, explanation }: CustomerMethod) {
  return {
    authenticationType: type,
    authenticationMethodId: id,
    ...(version !== undefined && { authenticationVersion: version }),
    name,
    ...(explanation !== undefined && { explanation }),
  };
}

/**
 * What an answer says of an authorisation of embedded SCA: how far it is, and what the TPP may send next.
 *
 * @param faults of the call that it answers
 */
export function progressOf(bank: Bank, authorisation: Authorisation, faults: readonly Fault[]): ScaAnswer {
  const { approach, status, embedded, psuId } = authorisation;
  const { method, challengeData } = embedded;
  const customer = bank.customers.byUser(psuId ?? '');
  const isDecoupled = approach === 'decoupled';
  const isSelected = status === 'scaMethodSelected' || status === 'started';
  const fee = isSelected ? find(faults, 'sca-fee') : undefined;
  return {
    approach: isDecoupled ? 'DECOUPLED' : 'EMBEDDED',
    links: linksOf(bank, authorisation, faults),
    fields: {
      ...(status === 'psuAuthenticated' &&
        customer && { scaMethods: methodsAt(bank, customer).map(methodShown) }),
      ...(isSelected && method && !isAtruvias(bank) && { chosenScaMethod: methodShown(method) }),
      ...(isSelected && challengeData && { challengeData }),
      ...(isSelected && isDecoupled && { psuMessage: appMessage(bank) }),
      ...(fee && { transactionFees: amountOf(fee.value), transactionFeeIndicator: true }),
    },
  };
}

/** The links from the state of an authorisation. */
export function linksOf(
  bank: Bank,
  authorisation: Authorisation,
  faults: readonly Fault[],
): Record<string, Href> {
  const { id, subject, approach } = authorisation;
  const operations = SCA_OPERATIONS[subject.kind];
  const values = { ...subject.path, authorisationId: id };
  const next = nextStep(authorisation, faults);
  const tellsStatus = !isAtruvias(bank) || approach === 'decoupled';
  return {
    ...(next !== undefined && { [next]: linkTo(bank, operations.update, values) }),
    ...(tellsStatus && { scaStatus: linkTo(bank, operations.status, values) }),
  };
}

/** The name of the link to the next step. Undefined: the TPP has nothing to send. */
function nextStep({ status, embedded }: Authorisation, faults: readonly Fault[]): string | undefined {
  switch (status) {
    case 'received':
      return 'updatePsuIdentification';
    case 'psuIdentified':
      return find(faults, 'encrypted-pin') ? 'updateEncryptedPsuAuthentication' : 'updatePsuAuthentication';
    case 'psuAuthenticated':
      return find(faults, 'second-password')
        ? 'updateAdditionalPsuAuthentication'
        : 'selectAuthenticationMethod';
    default:
      return embedded.tan === undefined ? undefined : 'authoriseTransaction';
  }
}
