import type { ErrorCode, ErrorContext } from '../../../../errors.ts';
import { type CallFacts, FIREWALL_ADVICE } from '../../../call/call.ts';
import type { BankDescription } from '../description/schema.ts';

/** What a refusal means for psd2, and for the operator. */
export interface Meaning extends Pick<ErrorContext, 'hint' | 'next'> {
  code: ErrorCode;
  /** The message up to what the bank says. `{call}` stands for the call. */
  says: string;
  /** The advice holds only for the reading of an account. */
  isForReadings?: true;
  /** The consent of a reading may have ended. */
  endsConsent?: true;
  /** To wait and try again is useless today. */
  lasts?: true;
}

const ASK_FOR_CONSENT = { hint: 'Ask the customer for a consent:', next: [['consent', 'request']] };
const LOG_IN = { next: [['auth', 'login']] };
const CERTIFICATE = {
  hint: 'The bank checks the QWAC of the connection and the certificate of the signature. See both with:',
  next: [['cert', 'check']],
};
const CUSTOMER_NAMES = {
  hint: 'Check --psu-id, --psu-id-type and --psu-corporate-id: the customer knows them from the bank.',
};
const BANK_FILE = { hint: 'The bank file may say how this bank differs from the standard.' };

const consent = (says: string): Meaning => ({ code: 'not_logged_in', says, ...ASK_FOR_CONSENT });
const token = (says: string): Meaning => ({ code: 'not_logged_in', says, ...LOG_IN });
const certificate = (says: string): Meaning => ({ code: 'certificate', says, ...CERTIFICATE });
const content = (says: string): Meaning => ({ code: 'bank_refused', says, ...BANK_FILE });
const failing = (says: string): Meaning => ({ code: 'bank_failing', says, hint: 'Try again later.' });

const READS_USED_UP: Meaning = {
  code: 'too_many_calls',
  lasts: true,
  says: 'The bank allows no more readings of this consent today',
  hint: 'Read again tomorrow. While the customer is present, --psu-ip says so, and readings do not count.',
};

/**
 * What a refusal means at this bank. Where only consents or payments bring tokens, or nothing does, no login and no other consent gives psd2 one
 * for a call that reads no account.
 */
export function atBank(meaning: Meaning, { reads, login }: CallFacts, { oauth }: BankDescription): Meaning {
  const hasLogin = oauth.mode === 'pre-step' || oauth.mode === 'client-credentials';
  if (meaning.next !== LOG_IN.next || hasLogin || reads !== null || login) return meaning;
  const { next: _, ...others } = meaning;
  return {
    ...others,
    hint: `By its bank file, no login gives psd2 a token for this (oauth.mode ${oauth.mode}).`,
  };
}

/** The certificate lacks a role. No consent helps. */
const LACKS_ROLE: Meaning = {
  code: 'forbidden',
  says: 'The bank does not allow {call} to the roles in the certificate',
  hint: 'See the roles with:',
  next: [['cert', 'inspect']],
};

/** What a refusal without a known code means by its words alone: the certificate lacks a role. */
export function meaningOfWords(status: number, text: string): Meaning | undefined {
  return status === 403 && /\brole/i.test(text) ? LACKS_ROLE : undefined;
}

/** What the codes of the standard mean (NextGenPSD2 1.3, message codes). The same code comes with several HTTP statuses. */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  CONSENT_UNKNOWN: { ...consent('The bank does not know the consent of {call}'), endsConsent: true },
  // Some banks say so of a consent that the customer has withdrawn.
  CONSENT_INVALID: { ...consent('The consent does not cover {call}'), endsConsent: true },
  CONSENT_EXPIRED: { ...consent('The consent for {call} has ended'), endsConsent: true },
  NO_PIIS_ACTIVATION: {
    code: 'not_logged_in',
    says: 'The customer has not activated confirmations of funds at the bank',
    hint: 'Only the customer can activate them, for example in online banking. Then ask again.',
  },
  TOKEN_UNKNOWN: token('The bank does not know the token of {call}'),
  TOKEN_INVALID: token('The bank does not accept the token of {call}'),
  TOKEN_EXPIRED: token('The token of {call} has expired'),
  ACCESS_EXCEEDED: READS_USED_UP,
  CERTIFICATE_INVALID: certificate('The bank does not accept the certificate'),
  CERTIFICATE_EXPIRED: certificate('The bank says that the certificate has expired'),
  CERTIFICATE_BLOCKED: certificate('The bank says that the certificate is blocked'),
  CERTIFICATE_REVOKED: certificate('The bank says that the certificate is revoked'),
  CERTIFICATE_MISSING: certificate('The bank misses the certificate'),
  ROLE_INVALID: LACKS_ROLE,
  TIMESTAMP_INVALID: {
    code: 'config',
    says: 'The bank does not accept the time of {call}',
    hint: "Check this computer's clock, and headers.date of the bank file.",
  },
  PSU_CREDENTIALS_INVALID: {
    code: 'forbidden',
    says: 'The bank does not know the customer, or has blocked them',
    ...CUSTOMER_NAMES,
  },
  CORPORATE_ID_INVALID: {
    code: 'forbidden',
    says: 'The bank does not know the company of the customer',
    ...CUSTOMER_NAMES,
  },
  FORBIDDEN: { code: 'forbidden', says: 'The bank does not allow {call}' },
  SERVICE_BLOCKED: {
    code: 'forbidden',
    says: 'The bank has blocked this service for the customer',
    hint: 'Only the customer can ask the bank why.',
  },
  FORMAT_ERROR: content('The bank does not accept the form of {call}'),
  PARAMETER_NOT_SUPPORTED: content('The bank does not have a parameter of {call}'),
  PARAMETER_NOT_CONSISTENT: content('The parameters of {call} do not fit together for the bank'),
  REQUESTED_FORMATS_INVALID: content('The bank has no answer to {call} in the format that psd2 accepts'),
  SERVICE_INVALID: content('The bank does not have the service of {call}'),
  PRODUCT_INVALID: content('The bank does not offer this product to the customer'),
  PRODUCT_UNKNOWN: content('The bank does not have this product'),
  SESSIONS_NOT_SUPPORTED: content('The bank does not combine services in one session'),
  PERIOD_INVALID: {
    code: 'bank_refused',
    says: 'The bank does not take the days of {call}',
    hint: 'Choose others with --from and --to.',
    isForReadings: true,
  },
  RESOURCE_UNKNOWN: {
    code: 'bank_refused',
    says: 'The bank does not know what {call} is about',
    hint: 'See the accounts that the consent covers, or ask the customer for another consent:',
    next: [
      ['accounts', 'list'],
      ['consent', 'request'],
    ],
    isForReadings: true,
  },
  RESOURCE_EXPIRED: { code: 'bank_refused', says: 'What {call} is about has expired at the bank' },
  RESOURCE_BLOCKED: { code: 'bank_refused', says: 'What {call} is about is blocked at the bank' },
  STATUS_INVALID: { code: 'bank_refused', says: 'The bank does not allow {call} in the present state' },
  ...Object.fromEntries(
    ['PAYMENT_FAILED', 'FUNDS_NOT_AVAILABLE', 'EXECUTION_DATE_INVALID'].map((each) => [
      each,
      { code: 'bank_refused', says: 'The bank refused {call}' } satisfies Meaning,
    ]),
  ),
  SCA_METHOD_UNKNOWN: { code: 'bank_refused', says: 'The bank does not know the way to authenticate' },
  SCA_INVALID: { code: 'bank_refused', says: 'The bank does not accept the authentication' },
  INTERNAL_SERVER_ERROR: failing('The bank failed on {call}'),
  SERVICE_UNAVAILABLE: failing('The bank is not available for {call}'),
};

const SIGNATURE_CODES = ['SIGNATURE_INVALID', 'SIGNATURE_MISSING', 'KID_MISSING'];

/** Codes with which a bank may answer a request that it has carried out before. */
export const MAY_BE_DONE: readonly string[] = ['STATUS_INVALID', 'RESOURCE_UNKNOWN', 'RESOURCE_EXPIRED'];

/** Whether the bank refuses whoever sends it, so that it has not read the request. */
export function isAboutSender(bankCode: string): boolean {
  return SIGNATURE_CODES.includes(bankCode) || bankCode.startsWith('CERTIFICATE_');
}

/** Codes about the token. Only after them a new token helps. */
export const TOKEN_CODES = ['TOKEN_UNKNOWN', 'TOKEN_INVALID', 'TOKEN_EXPIRED', 'invalid_token'];

/** The error codes that a bank file can give to a bank's own codes, with what psd2 says then. */
const BY_OUR_CODE: Partial<Record<ErrorCode, Meaning>> = {
  invalid_iban: { code: 'invalid_iban', says: 'The bank does not accept an IBAN of {call}' },
  invalid_amount: { code: 'invalid_amount', says: 'The bank does not accept the amount of {call}' },
  invalid_date: { code: 'invalid_date', says: 'The bank does not accept a date of {call}' },
  invalid_product_id: { code: 'invalid_product_id', says: 'The bank does not accept the account of {call}' },
  invalid_text: { code: 'invalid_text', says: 'The bank does not accept a text of {call}' },
  duplicate_reference: {
    code: 'duplicate_reference',
    says: 'The bank knows the reference of {call} already',
  },
  further_data_needed: { code: 'further_data_needed', says: 'The bank wants further data for {call}' },
  login_refused: { code: 'login_refused', says: 'The bank did not log the customer in for {call}' },
  outcome_unknown: { code: 'outcome_unknown', says: 'The bank does not say what became of {call}' },
  not_logged_in: token('The bank does not accept the token or the client for {call}'),
  forbidden: { code: 'forbidden', says: 'The bank does not allow {call}' },
  sca_required: {
    code: 'sca_required',
    says: 'The bank requires the customer to authenticate again before {call}',
    ...ASK_FOR_CONSENT,
  },
  not_authorised: { code: 'not_authorised', says: 'The customer did not authorise {call}' },
  authorisation_expired: {
    code: 'authorisation_expired',
    says: 'The customer did not authorise {call} in time',
  },
  too_many_calls: { code: 'too_many_calls', says: 'The bank allows no more calls at the moment' },
  reads_used_up: READS_USED_UP,
  certificate: certificate('The bank does not accept the certificate'),
  bank_refused: { code: 'bank_refused', says: 'The bank refused {call}' },
  bank_answer: { code: 'bank_answer', says: 'The bank gave no usable answer to {call}' },
  bank_failing: failing('The bank failed on {call}'),
  payment_failed: { code: 'payment_failed', says: 'The bank did not carry out {call}' },
};

/**
 * What a code of the bank means: first what the bank file says, then the standard.
 *
 * @returns undefined for a code that neither knows: the HTTP status decides
 */
export function meaningOfCode(bankCode: string, bank: BankDescription): Meaning | undefined {
  const mapped = own(bank.errors, bankCode);
  if (mapped !== undefined) return own(BY_OUR_CODE, mapped);
  return SIGNATURE_CODES.includes(bankCode) ? signatureRefused(bankCode, bank) : own(MEANINGS, bankCode);
}

function own<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** What an HTTP status means, for answers whose codes say nothing. @param of the call. `isPage`: the answer is HTML */
export function meaningOfStatus(
  status: number,
  { login: isLogin, reads, isPage = false }: Pick<CallFacts, 'login' | 'reads'> & { isPage?: boolean },
): Meaning {
  if (status === 401) {
    const says = 'The bank does not accept the token or the client for {call}';
    return isLogin
      ? {
          code: 'not_logged_in',
          says,
          hint: 'Check the OAuth client: oauth.clientId and oauth.clientAuth of the bank file.',
        }
      : token(says);
  }
  if (status === 403) {
    const says = 'The bank does not allow {call}';
    if (isPage) return { code: 'forbidden', says, hint: FIREWALL_ADVICE };
    if (reads === null)
      return {
        ...LACKS_ROLE,
        says,
        hint: `The certificate may lack the PSD2 role for this call. ${LACKS_ROLE.hint}`,
      };
    const hint =
      'The certificate may lack the PSD2 role for this call, or the customer has not consented. Ask for it with:';
    return { code: 'forbidden', says, hint, next: [['consent', 'request']] };
  }
  if (status === 420 || status === 429) {
    const says = 'The bank allows no more calls at the moment';
    return { code: 'too_many_calls', says, hint: 'Wait, then try again.' };
  }
  if (status >= 500) return { code: 'bank_failing', says: 'The bank failed on {call}' };
  if (status >= 300 && status < 400)
    return { code: 'bank_answer', says: 'The bank answered {call} with a redirect. psd2 does not follow it' };
  return { code: 'bank_refused', says: 'The bank refused {call}' };
}

/** What was signed, and what else the bank may expect. */
function signatureRefused(bankCode: string, { signing }: BankDescription): Meaning {
  const signed = [...signing.headers, ...signing.ifSent.map((name) => `${name} if it is sent`)].join(', ');
  const form =
    signing.keyId.form === 'sn-ca'
      ? `sn-ca with a ${signing.keyId.serial} serial, ${signing.keyId.case} case, the ${signing.keyId.dn} in ${signing.keyId.format}, spaces: ${signing.keyId.spaces}`
      : signing.keyId.form;
  const did =
    signing.when === 'never'
      ? 'psd2 did not sign, because signing.when of the bank file is never. Set it to always, or have psd2 find out with psd2 bank learn.'
      : `psd2 signed with ${signing.algorithm}: ${signed}. keyId has the form ${form}.`;
  const says =
    bankCode === 'SIGNATURE_MISSING'
      ? 'The bank misses the signature of {call}'
      : 'The bank does not accept the signature of {call}';
  return {
    code: 'config',
    says,
    hint:
      signing.when === 'never'
        ? did
        : `${did} Banks differ most in keyId: try signing.keyId with serial hex or decimal, case lower or upper, dn issuer or subject, format rfc2253 or rfc1779, spaces keep, percent or strip, separator "," or ", "; or form sn, or organization-id. psd2 api with --dry-run shows what a call signs.`,
  };
}
