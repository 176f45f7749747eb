import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import type { BankCall } from '../../../../../src/bank/call/call.ts';
import type { BankFile } from '../../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { ask } from '../../../../../src/bank/interfaces/nextgenpsd2/wire/answer.ts';
import type { ErrorContext } from '../../../../../src/errors.ts';
import { TRANSACTION_ID } from '../client.ts';
import { failureOf, IDS, LOGIN, PAYING, refused, type Scripted, scriptedCalls } from '../scripted.ts';

// What psd2 tells the operator of each refusal: by the standard's code, by the bank file's word for a code, by the HTTP status.

const READING: BankCall = {
  method: 'GET',
  path: '/v1/accounts/a1/balances?x=1',
  facts: { reads: { account: 'a1', of: 'balances' }, needsConsent: true, login: false },
  transactionId: TRANSACTION_ID,
};
const READ = 'GET /v1/accounts/a1/balances';
const PAY = 'POST /v1/payments/sepa-credit-transfers';

const failure = (call: BankCall, answer: Scripted, file: Omit<BankFile, 'interface'> = {}) =>
  failureOf(ask(scriptedCalls([answer], file).calls.bank, call, z.looseObject({})));

const CONSENT = { hint: 'Ask the customer for a consent:', next: [['consent', 'request']] };
const LOG_IN = { next: [['auth', 'login']] };
const CERTIFICATE = {
  hint: 'The bank checks the QWAC of the connection and the certificate of the signature. See both with:',
  next: [['cert', 'check']],
};
const NAMES = {
  hint: 'Check --psu-id, --psu-id-type and --psu-corporate-id: the customer knows them from the bank.',
};
const FILE = { hint: 'The bank file may say how this bank differs from the standard.' };
const COVERED = {
  hint: 'See the accounts that the consent covers, or ask the customer for another consent:',
  next: [...[['accounts', 'list']], ...CONSENT.next],
};
const LATER = { hint: 'Try again later.' };
const CONTENT = { refusal: 'content' } as const;
const OTHER = { refusal: 'other' } as const;
const UNREAD = { refusal: 'unread' } as const;
const USED_UP = {
  hint: 'Read again tomorrow. While the customer is present, --psu-ip says so, and readings do not count.',
};

const NO_MORE_TODAY = 'The bank allows no more readings of this consent today';

const WRONG_FORM = `The bank does not accept the form of ${READ}`;

type Refusal = [bankCode: string, status: number, says: string];
/** Refusals of one kind: the bank's code, the status and what psd2 says of it differ. */
const kind = (code: string, context: ErrorContext, refusals: Refusal[]) =>
  refusals.map(([bankCode, status, says]) => ({ bankCode, status, says, code, context }));

const STANDARD = [
  kind('not_logged_in', { ...CONSENT, endsConsent: true, ...CONTENT }, [
    ['CONSENT_UNKNOWN', 403, `The bank does not know the consent of ${READ}`],
    ['CONSENT_INVALID', 401, `The consent does not cover ${READ}`],
    ['CONSENT_EXPIRED', 401, `The consent for ${READ} has ended`],
  ]),
  kind('not_logged_in', { ...LOG_IN, ...UNREAD }, [
    ['TOKEN_UNKNOWN', 401, `The bank does not know the token of ${READ}`],
    ['TOKEN_INVALID', 401, `The bank does not accept the token of ${READ}`],
    ['TOKEN_EXPIRED', 401, `The token of ${READ} has expired`],
  ]),
  kind('too_many_calls', { ...USED_UP, lasts: true, ...UNREAD }, [['ACCESS_EXCEEDED', 429, NO_MORE_TODAY]]),
  kind('too_many_calls', { ...USED_UP, lasts: true }, [['ACCESS_EXCEEDED', 400, NO_MORE_TODAY]]),
  kind('certificate', { ...CERTIFICATE, ...UNREAD }, [
    ['CERTIFICATE_INVALID', 401, 'The bank does not accept the certificate'],
    ['CERTIFICATE_EXPIRED', 401, 'The bank says that the certificate has expired'],
    ['CERTIFICATE_BLOCKED', 401, 'The bank says that the certificate is blocked'],
    ['CERTIFICATE_REVOKED', 401, 'The bank says that the certificate is revoked'],
    ['CERTIFICATE_MISSING', 401, 'The bank misses the certificate'],
  ]),
  kind('forbidden', { hint: 'See the roles with:', next: [['cert', 'inspect']], ...CONTENT }, [
    ['ROLE_INVALID', 401, `The bank does not allow ${READ} to the roles in the certificate`],
  ]),
  kind('config', { hint: "Check this computer's clock, and headers.date of the bank file.", ...CONTENT }, [
    ['TIMESTAMP_INVALID', 400, `The bank does not accept the time of ${READ}`],
  ]),
  kind('forbidden', { ...NAMES, ...CONTENT }, [
    ['PSU_CREDENTIALS_INVALID', 401, 'The bank does not know the customer, or has blocked them'],
    ['CORPORATE_ID_INVALID', 401, 'The bank does not know the company of the customer'],
  ]),
  kind('forbidden', CONTENT, [['FORBIDDEN', 403, `The bank does not allow ${READ}`]]),
  kind('forbidden', { hint: 'Only the customer can ask the bank why.', ...CONTENT }, [
    ['SERVICE_BLOCKED', 403, 'The bank has blocked this service for the customer'],
  ]),
  kind('bank_refused', { ...FILE, ...CONTENT }, [
    ['FORMAT_ERROR', 400, WRONG_FORM],
    ['FORMAT_ERROR', 499, WRONG_FORM],
    ['PARAMETER_NOT_SUPPORTED', 400, `The bank does not have a parameter of ${READ}`],
    ['PARAMETER_NOT_CONSISTENT', 400, `The parameters of ${READ} do not fit together for the bank`],
    ['REQUESTED_FORMATS_INVALID', 406, `The bank has no answer to ${READ} in the format that psd2 accepts`],
    ['SERVICE_INVALID', 405, `The bank does not have the service of ${READ}`],
    ['PRODUCT_INVALID', 403, 'The bank does not offer this product to the customer'],
    ['PRODUCT_UNKNOWN', 404, 'The bank does not have this product'],
    ['SESSIONS_NOT_SUPPORTED', 400, 'The bank does not combine services in one session'],
  ]),
  // It is no refusal if the bank may have done it.
  kind('bank_refused', FILE, [
    ...[500, 503, 408, 302].map((status): Refusal => ['FORMAT_ERROR', status, WRONG_FORM]),
  ]),
  kind('bank_refused', { hint: 'Choose others with --from and --to.', ...CONTENT }, [
    ['PERIOD_INVALID', 400, `The bank does not take the days of ${READ}`],
  ]),
  kind('bank_refused', { ...COVERED, ...OTHER }, [
    ['RESOURCE_UNKNOWN', 404, `The bank does not know what ${READ} is about`],
  ]),
  kind('bank_refused', OTHER, [
    ['RESOURCE_EXPIRED', 403, `What ${READ} is about has expired at the bank`],
    ['RESOURCE_BLOCKED', 409, `What ${READ} is about is blocked at the bank`],
    ['RESOURCE_BLOCKED', 412, `What ${READ} is about is blocked at the bank`],
    ['STATUS_INVALID', 400, `The bank does not allow ${READ} in the present state`],
  ]),
  kind('bank_refused', CONTENT, [
    ['RESOURCE_BLOCKED', 400, `What ${READ} is about is blocked at the bank`],
    ['SCA_METHOD_UNKNOWN', 400, 'The bank does not know the way to authenticate'],
    ['SCA_INVALID', 400, 'The bank does not accept the authentication'],
  ]),
  kind('bank_refused', CONTENT, [
    ...['PAYMENT_FAILED', 'FUNDS_NOT_AVAILABLE', 'EXECUTION_DATE_INVALID'].map((code): Refusal => {
      return [code, 403, `The bank refused ${READ}`];
    }),
  ]),
  kind('bank_failing', LATER, [
    ['INTERNAL_SERVER_ERROR', 400, `The bank failed on ${READ}`],
    ['SERVICE_UNAVAILABLE', 503, `The bank is not available for ${READ}`],
  ]),
].flat();

describe('a code of the standard', () => {
  it.each(STANDARD)('$bankCode with HTTP $status', async ({ bankCode, status, code, says, context }) => {
    expect(await failure(READING, refused(bankCode, status))).toEqual({
      ...{ code, message: `${says} (HTTP ${status}): No`, httpStatus: status, bankCode },
      ...{ ...IDS, ...context, isBanks: true },
    });
  });

  const NO_CONSENT = { ...CONSENT, ...CONTENT };
  it.each<[string, string, string, ErrorContext]>([
    ['PERIOD_INVALID', 'bank_refused', `The bank does not take the days of ${PAY}`, CONTENT],
    ['RESOURCE_UNKNOWN', 'bank_refused', `The bank does not know what ${PAY} is about`, OTHER],
    ['CONSENT_INVALID', 'not_logged_in', `The consent does not cover ${PAY}`, NO_CONSENT],
  ])('%s has no advice about readings, and ends no consent', async (bankCode, code, says, context) => {
    expect(await failure(PAYING, refused(bankCode, 400))).toEqual({
      ...{ code, message: `${says} (HTTP 400): No`, httpStatus: 400, bankCode },
      ...{ ...IDS, ...context, isBanks: true },
    });
  });

  it('a call that reads nothing is not used up for the day', async () => {
    expect(await failure(PAYING, refused('ACCESS_EXCEEDED', 400))).toEqual({
      code: 'too_many_calls',
      message: 'The bank allows no more calls at the moment (HTTP 400): No',
      ...{ hint: 'Wait, then try again.', httpStatus: 400, bankCode: 'ACCESS_EXCEEDED' },
      ...{ ...IDS, isBanks: true },
    });
  });
});

describe("the bank file's word for a code", () => {
  const NO_LOGIN = {
    hint: 'By its bank file, no login gives psd2 a token for this (oauth.mode none).',
    ...CONTENT,
  };
  const ASK_AGAIN = { ...CONSENT, ...CONTENT };
  type Ours = NonNullable<BankFile['errors']>[string];
  it.each<[Ours, string, ErrorContext]>([
    ['invalid_iban', `The bank does not accept an IBAN of ${PAY}`, CONTENT],
    ['invalid_amount', `The bank does not accept the amount of ${PAY}`, CONTENT],
    ['invalid_date', `The bank does not accept a date of ${PAY}`, CONTENT],
    ['invalid_product_id', `The bank does not accept the account of ${PAY}`, CONTENT],
    ['invalid_text', `The bank does not accept a text of ${PAY}`, CONTENT],
    ['duplicate_reference', `The bank knows the reference of ${PAY} already`, CONTENT],
    ['further_data_needed', `The bank wants further data for ${PAY}`, CONTENT],
    ['login_refused', `The bank did not log the customer in for ${PAY}`, CONTENT],
    ['outcome_unknown', `The bank does not say what became of ${PAY}`, {}],
    ['not_logged_in', `The bank does not accept the token or the client for ${PAY}`, NO_LOGIN],
    ['forbidden', `The bank does not allow ${PAY}`, CONTENT],
    ['sca_required', `The bank requires the customer to authenticate again before ${PAY}`, ASK_AGAIN],
    ['not_authorised', `The customer did not authorise ${PAY}`, CONTENT],
    ['authorisation_expired', `The customer did not authorise ${PAY} in time`, CONTENT],
    ['too_many_calls', 'The bank allows no more calls at the moment', {}],
    ['certificate', 'The bank does not accept the certificate', { ...CERTIFICATE, ...CONTENT }],
    ['bank_refused', `The bank refused ${PAY}`, CONTENT],
    ['bank_answer', `The bank gave no usable answer to ${PAY}`, {}],
    ['bank_failing', `The bank failed on ${PAY}`, LATER],
    ['payment_failed', `The bank did not carry out ${PAY}`, CONTENT],
  ])('%s', async (ours, message, context) => {
    expect(await failure(PAYING, refused('OWN-7', 400), { errors: { 'OWN-7': ours } })).toEqual({
      ...{ code: ours, message: `${message} (HTTP 400): No`, httpStatus: 400, bankCode: 'OWN-7' },
      ...{ ...IDS, ...context, isBanks: true },
    });
  });

  it('reads_used_up: nothing more is read today', async () => {
    expect(await failure(READING, refused('OWN-7', 400), { errors: { 'OWN-7': 'reads_used_up' } })).toEqual({
      code: 'too_many_calls',
      message: `${NO_MORE_TODAY} (HTTP 400): No`,
      ...{ ...USED_UP, lasts: true, httpStatus: 400, bankCode: 'OWN-7', ...IDS, isBanks: true },
    });
  });

  it('comes before that of the standard, also for a signature', async () => {
    const errors = { SIGNATURE_INVALID: 'forbidden', FORMAT_ERROR: 'invalid_iban' } as const;
    for (const [word, code] of Object.entries(errors))
      expect(await failure(PAYING, refused(word, 400), { errors })).toMatchObject({ code });
  });
});

describe('a refused signature', () => {
  const DIFFER =
    'Banks differ most in keyId: try signing.keyId with serial hex or decimal, case lower or upper, dn issuer or subject, format rfc2253 or rfc1779, spaces keep, percent or strip, separator "," or ", "; or form sn, or organization-id. psd2 api with --dry-run shows what a call signs.';
  const ACCEPT = `The bank does not accept the signature of ${READ}`;
  const SIGNED =
    'psd2 signed with rsa-sha256: digest, x-request-id, psu-id if it is sent, psu-corporate-id if it is sent, tpp-redirect-uri if it is sent.';
  const KEY_ID =
    'keyId has the form sn-ca with a hex serial, lower case, the issuer in rfc2253, spaces: keep.';
  const OF_ORGANISATION = `${SIGNED} keyId has the form organization-id.`;
  const NOT_SIGNED =
    'psd2 did not sign, because signing.when of the bank file is never. Set it to always, or have psd2 find out with psd2 bank learn.';
  const OWN_WAY: BankFile['signing'] = {
    ...{ algorithm: 'rsa-sha512', headers: ['digest', 'date'], ifSent: [], when: 'with-body' },
  };

  it.each<[string, BankFile['signing'], string, string]>([
    ['SIGNATURE_INVALID', {}, ACCEPT, `${SIGNED} ${KEY_ID}`],
    ['KID_MISSING', { keyId: { form: 'organization-id' } }, ACCEPT, OF_ORGANISATION],
    ['SIGNATURE_MISSING', { when: 'never' }, `The bank misses the signature of ${READ}`, NOT_SIGNED],
    ['SIGNATURE_INVALID', OWN_WAY, ACCEPT, `psd2 signed with rsa-sha512: digest, date. ${KEY_ID}`],
  ])('%s, with the bank file %j', async (bankCode, signing, message, did) => {
    expect(await failure(READING, refused(bankCode, 401), { signing })).toEqual({
      ...{ code: 'config', message: `${message} (HTTP 401): No`, httpStatus: 401, bankCode },
      ...{ hint: did === NOT_SIGNED ? did : `${did} ${DIFFER}`, refusal: 'unread', isBanks: true, ...IDS },
    });
  });
});

it.each([
  ['text of a role', READING, { text: 'TPP has not the role PSP_AI' }, 'to the roles in the certificate'],
  ['no reading', PAYING, {}, ''],
] as const)('a 403 leads to the certificate: %s', async (_, call, message, words) => {
  const said = {
    status: 403,
    body: JSON.stringify({ tppMessages: [{ category: 'ERROR', code: 'OTHER', text: 'No', ...message }] }),
  };
  const failed = await failure(call, said);
  expect(failed).toMatchObject({
    code: 'forbidden',
    next: [['cert', 'inspect']],
    message: expect.stringContaining(words),
  });
});

describe('an HTTP status without a code', () => {
  const FORBIDDEN = {
    hint: 'The certificate may lack the PSD2 role for this call, or the customer has not consented. Ask for it with:',
    next: [['consent', 'request']],
  };
  const CLIENT = {
    hint: 'Check the OAuth client: oauth.clientId and oauth.clientAuth of the bank file.',
  };
  const SLOW = { hint: 'Wait, then try again.' };
  const TOKEN = 'The bank does not accept the token or the client for';
  it.each<[number, BankCall, string, string, ErrorContext]>([
    [400, READING, 'bank_refused', `The bank refused ${READ}`, CONTENT],
    [417, READING, 'bank_refused', `The bank refused ${READ}`, CONTENT],
    [422, READING, 'bank_refused', `The bank refused ${READ}`, CONTENT],
    [404, READING, 'bank_refused', `The bank refused ${READ}`, OTHER],
    [408, READING, 'bank_refused', `The bank refused ${READ}`, {}],
    [409, READING, 'bank_refused', `The bank refused ${READ}`, OTHER],
    [499, READING, 'bank_refused', `The bank refused ${READ}`, OTHER],
    [401, READING, 'not_logged_in', `${TOKEN} ${READ}`, { ...LOG_IN, refusal: 'unread' }],
    [401, LOGIN, 'not_logged_in', `${TOKEN} POST /token`, { ...CLIENT, refusal: 'unread' }],
    [403, READING, 'forbidden', `The bank does not allow ${READ}`, { ...FORBIDDEN, ...OTHER }],
    [420, READING, 'too_many_calls', 'The bank allows no more calls at the moment', SLOW],
    [429, READING, 'too_many_calls', 'The bank allows no more calls at the moment', SLOW],
    [500, READING, 'bank_failing', `The bank failed on ${READ}`, {}],
    [599, READING, 'bank_failing', `The bank failed on ${READ}`, {}],
    [300, READING, 'bank_answer', `The bank answered ${READ} with a redirect. psd2 does not follow it`, {}],
    [302, READING, 'bank_answer', `The bank answered ${READ} with a redirect. psd2 does not follow it`, {}],
    [399, READING, 'bank_answer', `The bank answered ${READ} with a redirect. psd2 does not follow it`, {}],
    [199, READING, 'bank_refused', `The bank refused ${READ}`, {}],
  ])('%i', async (status, call, code, message, context) => {
    expect(await failure(call, { status })).toEqual({
      ...{ code, message: `${message} (HTTP ${status}): the answer is empty`, httpStatus: status },
      ...{ ...IDS, ...context },
    });
  });

  it('a 403 whose answer is a page says nothing of roles and consents', async () => {
    const page = { status: 403, headers: { 'content-type': 'text/html' }, body: '<title>Blocked</title>' };
    expect(await failure(READING, page)).toMatchObject({
      message: expect.stringContaining('Blocked'),
      hint: expect.stringMatching(/^A firewall or gateway/),
    });
    expect(await failure(READING, page)).not.toHaveProperty('next');
    expect(await failure(READING, { ...page, body: '{}' })).toMatchObject(FORBIDDEN);
  });
});
