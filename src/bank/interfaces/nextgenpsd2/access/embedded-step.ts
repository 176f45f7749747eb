import type { EmbeddedStep } from '../../../../domain/embedded.ts';
import { Psd2Error } from '../../../../errors.ts';
import type { ScaLinks } from '../../../ports/customer.ts';
import type { WireScaLinks } from '../wire/consent.ts';
import type { SaidOfMethods } from '../wire/embedded.ts';

// What a bank wants from psd2 of the customer (embedded SCA, docs/embedded.md), read from its answers. Nothing here calls the bank.

/** What an answer says for SCA. */
export type SaidOfSca = SaidOfMethods & {
  scaStatus: string | null;
  psuMessage: string | null;
  authorisationId?: string | null;
  _links?: WireScaLinks;
};

/** What the bank wants from psd2 next, of the customer. Null: nothing. */
export function stepIn(answer: SaidOfSca): EmbeddedStep | null {
  const { _links: links, scaStatus } = answer;
  const methods = answer.scaMethods ?? [];
  const chosen = answer.chosenScaMethod ?? null;
  const challenge = answer.challengeData ?? null;
  const more = {
    ...(methods.length > 0 && { methods }),
    ...(chosen && { chosen }),
    ...(challenge && { challenge }),
  };
  const at = (next: EmbeddedStep['next'], link: string | null | undefined): EmbeddedStep => ({
    next,
    ...(link && { link }),
    ...more,
  });
  const code = links?.authoriseTransaction ?? links?.startAuthorisationWithTransactionAuthorisation;
  const select =
    links?.selectAuthenticationMethod ?? links?.startAuthorisationWithAuthenticationMethodSelection;
  const password = links?.updatePsuAuthentication ?? links?.startAuthorisationWithPsuAuthentication;
  // Both may be offered: the other method, and the TAN for the one that is chosen.
  const isChosen = (chosen ?? challenge) !== null || methods.length === 0;
  if (code && (isChosen || !select)) return at('code', code);
  const lacksChoice = scaStatus === 'psuAuthenticated' && methods.length > 0 && chosen === null;
  if (select || lacksChoice) return at('method', select);
  return password ? at('password', password) : null;
}

/** Whether the bank offers a link as one that begins an authorisation. */
export function beginsAuthorisation(links: WireScaLinks | undefined, href: string | undefined): boolean {
  const names = [
    'startAuthorisationWithPsuAuthentication',
    'startAuthorisationWithAuthenticationMethodSelection',
    'startAuthorisationWithTransactionAuthorisation',
  ] as const;
  return href !== undefined && names.some((name) => links?.[name] === href);
}

/** What comes first at a bank that has begun an authorisation of embedded SCA, and names nothing. */
export function usualStep(
  { authorisationId, _links: links }: SaidOfSca,
  chosen: string | undefined,
): EmbeddedStep | null {
  const isSilent = Object.values(links ?? {}).every((link) => link === null || link === links?.scaStatus);
  return chosen === 'EMBEDDED' && isSilent && (authorisationId ?? links?.scaStatus)
    ? { next: 'password' }
    : null;
}

const ASK_FOR_OTHER_SCA = 'Ask the bank to offer redirect or decoupled SCA to this application.';

/** @throws Psd2Error for what a bank wants of the customer's that psd2 cannot send */
export function refuseUnusual(links: WireScaLinks | undefined): void {
  const names = [
    'updateEncryptedPsuAuthentication',
    'updateAdditionalPsuAuthentication',
    'updateAdditionalEncryptedPsuAuthentication',
    'startAuthorisationWithEncryptedPsuAuthentication',
  ] as const;
  const name = names.find((each) => Boolean(links?.[each]));
  if (name === undefined) return;
  const what = name.includes('Encrypted')
    ? "the customer's password encrypted"
    : 'a second password of the customer';
  throw new Psd2Error('bank_answer', `The bank wants ${what} from psd2 (${name}), which psd2 does not send`, {
    hint: ASK_FOR_OTHER_SCA,
    isDeadEnd: true,
  });
}

/** An authorisation that begins with the customer's password. @param links of the resource. Null: nothing is known */
export function withPassword(links: ScaLinks | null): ScaLinks & { step: EmbeddedStep } {
  const link = links?.start;
  const { start: _, ...others } = links ?? {};
  return {
    ...others,
    approach: 'embedded',
    ...(link !== undefined && { begins: link }),
    step: { next: 'password', ...(link !== undefined && { link }) },
  };
}

/** The links with which another authorisation begins. Null: nothing says where. */
export function anew(links: ScaLinks | null): ScaLinks | null {
  const begins = links?.begins;
  if (begins === undefined) return null;
  return { approach: 'embedded', begins, step: { next: 'password', link: begins } };
}

/** What an earlier answer said of methods, the chosen one and the challenge stays until the authorisation is over. */
export function stepAfter(before: EmbeddedStep | undefined, step: EmbeddedStep): EmbeddedStep {
  const chosen = step.chosen ?? before?.chosen;
  // Another method has another challenge.
  const isSameMethod = step.chosen === undefined || step.chosen.id === before?.chosen?.id;
  const challenge = isSameMethod && step.next === before?.next ? before.challenge : undefined;
  return {
    ...(before?.methods && { methods: before.methods }),
    ...(chosen && { chosen }),
    ...(challenge && { challenge }),
    ...step,
  };
}
