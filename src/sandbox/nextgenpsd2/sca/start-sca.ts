import type { Bank } from '../../bank.ts';
import type { DoorCall } from '../door-call.ts';
import { doorOf } from '../door-state.ts';
import { progressOf } from '../embedded/progress.ts';
import { beginEmbedded, offerEmbedded } from '../embedded/steps.ts';
import { appMessage, customerPage, linkTo, metadataUrl } from '../links.ts';
import type { Authorisation, ScaStatus, ScaSubject } from './authorisations.ts';
import type { ScaAnswer } from './sca-answer.ts';
import { SCA_OPERATIONS } from './sca-operations.ts';
import type { ScaWish } from './sca-wish.ts';

/**
 * What the answer says to a call that asks for what a customer must authorise: of the authorisation that begins with it, or how the TPP
 * begins one.
 *
 * @returns `scaStatus` undefined: none has begun
 */
export function askForSca(
  bank: Bank,
  call: DoorCall,
  subject: ScaSubject,
  wish: ScaWish,
): ScaAnswer & { scaStatus: ScaStatus | undefined } {
  if (!wish.explicit) {
    const authorisation = beginSca(bank, call, subject, wish);
    return { ...startedSca(bank, authorisation, call.faults), scaStatus: authorisation.status };
  }
  return { ...offerSca(bank, call, subject, wish), scaStatus: undefined };
}

/** How the TPP begins an authorisation by a call of its own. */
export function offerSca(bank: Bank, call: DoorCall, subject: ScaSubject, wish: ScaWish): ScaAnswer {
  if (wish.approach === 'embedded') return offerEmbedded(bank, call, subject, wish);
  const startAuthorisation = linkTo(bank, SCA_OPERATIONS[subject.kind].start, subject.path);
  return { approach: undefined, links: { startAuthorisation }, fields: {} };
}

/** Begins an authorisation. */
export function beginSca(bank: Bank, call: DoorCall, subject: ScaSubject, wish: ScaWish): Authorisation {
  return wish.approach === 'embedded'
    ? beginEmbedded(bank, call, subject, wish)
    : doorOf(bank).authorisations.start(subject, wish);
}

/** What an answer says of an authorisation that has started: links, and what the customer has to do. */
export function startedSca(bank: Bank, authorisation: Authorisation, faults: DoorCall['faults']): ScaAnswer {
  const { id, subject, approach } = authorisation;
  const self = linkTo(bank, SCA_OPERATIONS[subject.kind].status, { ...subject.path, authorisationId: id });
  switch (approach) {
    case 'redirect':
      return {
        approach: 'REDIRECT',
        links: {
          scaRedirect: { href: customerPage(bank, id) },
          ...(bank.rules.variations.includes('confirmation-codes') && { confirmation: self }),
          scaStatus: self,
        },
        fields: {},
      };
    case 'oauth':
      return {
        approach: 'REDIRECT',
        fields: {},
        links: { scaOAuth: { href: metadataUrl(bank) }, scaStatus: self },
      };
    case 'decoupled':
      return {
        approach: 'DECOUPLED',
        links: { scaStatus: self },
        fields: { psuMessage: appMessage(bank) },
      };
    case 'embedded':
      return progressOf(bank, authorisation, faults);
  }
}
