import * as z from 'zod/mini';
import { textOf } from '../../../../domain/odd-values.ts';
import { maskedMembers } from '../../../../domain/order/card-number.ts';
import { link } from './accounts.ts';
import { costPart } from './costs.ts';
import { embeddedPart } from './embedded.ts';
import {
  day,
  headerId,
  optionalFlag,
  optionalMessage,
  optionalStatusOf,
  optionalWords,
  statusOf,
} from './fields.ts';

/** A link that a flow keeps. One that it cannot keep counts as none. */
const scaLink = z.pipe(
  link,
  z.transform((href) => (href && /^[^\p{Cc}\p{Cs}]{1,8192}$/u.test(href) ? href : null)),
);

/** The links that say what is next for SCA. */
const scaLinks = z.catch(
  z.nullish(
    z.object({
      scaRedirect: scaLink,
      scaOAuth: scaLink,
      startAuthorisation: scaLink,
      startAuthorisationWithPsuIdentification: scaLink,
      scaStatus: scaLink,
      confirmation: scaLink,
      updatePsuIdentification: scaLink,
      startAuthorisationWithPsuAuthentication: scaLink,
      startAuthorisationWithEncryptedPsuAuthentication: scaLink,
      startAuthorisationWithAuthenticationMethodSelection: scaLink,
      startAuthorisationWithTransactionAuthorisation: scaLink,
      updatePsuAuthentication: scaLink,
      updateEncryptedPsuAuthentication: scaLink,
      updateAdditionalPsuAuthentication: scaLink,
      updateAdditionalEncryptedPsuAuthentication: scaLink,
      selectAuthenticationMethod: scaLink,
      authoriseTransaction: scaLink,
    }),
  ),
  null,
);
export type WireScaLinks = z.infer<typeof scaLinks>;

/** The standard's words for the status of an authorisation. */
export const SCA_STATUSES = [
  'received',
  'psuIdentified',
  'psuAuthenticated',
  'scaMethodSelected',
  'started',
  'unconfirmed',
  'finalised',
  'failed',
  'exempted',
];
/** The standard's words for the status of a consent. */
const CONSENT_STATUSES = [
  'received',
  'rejected',
  'partiallyAuthorised',
  'valid',
  'revokedByPsu',
  'expired',
  'terminatedByTpp',
];
const consentStatus = statusOf(CONSENT_STATUSES);

/** What an answer says about SCA. All of it is optional. */
export const scaPart = {
  authorisationId: optionalWords,
  scaStatus: optionalStatusOf(SCA_STATUSES),
  psuMessage: optionalMessage,
  ...embeddedPart,
  _links: scaLinks,
};

/** The answer to a new consent. */
export const consentAnswer = z.object({ consentId: headerId, consentStatus, ...scaPart });

/** The answer to the start of an authorisation. Some banks leave out its id: psd2 does not need it. */
export const startAnswer = z.object({ ...scaPart, ...costPart });

/** The status of an authorisation, and the answer to a confirmation code. */
export const scaStatusAnswer = z.object({
  scaStatus: statusOf(SCA_STATUSES),
  psuMessage: optionalMessage,
  ...costPart,
});

/** The status of a consent. One that names its consent must name the one that was asked for. */
export const consentStatusAnswer = z.object({
  consentStatus,
  consentId: optionalWords,
  psuMessage: optionalMessage,
});

const wholeNumber = z.pipe(
  z.nullish(z.unknown()),
  z.transform((value) => {
    const digits = textOf(value)?.trim() ?? '';
    return /^\d{1,15}$/.test(digits) ? Number(digits) : null;
  }),
);

/** More than the access of thousands of accounts is none. */
const LONGEST_ACCESS = 1_000_000;
const accessOfConsent = z
  .looseObject({})
  .check(z.refine((access) => JSON.stringify(access).length <= LONGEST_ACCESS, 'expected less'));

/** What the bank says that a consent covers. The number of a card stays with it, but for a few digits. */
const accessIn = z.catch(
  z.nullish(
    z.pipe(
      accessOfConsent,
      z.transform((access) => maskedMembers(access)),
    ),
  ),
  null,
);

/** A consent as the bank has it. */
export const consentDetailsAnswer = z.object({
  consentStatus,
  consentId: optionalWords,
  validUntil: z.catch(day, null),
  frequencyPerDay: wholeNumber,
  recurringIndicator: optionalFlag,
  access: accessIn,
  /** Of a consent for confirmations of funds. */
  account: accessIn,
  psuMessage: optionalMessage,
});
