import { expect, it } from 'vitest';
import { BANK_CODES } from '../../src/smoke/bank-codes.ts';
import { vocabularyOf } from '../../src/smoke/vocabulary.ts';

// The lists of names and codes, whole: one that is missing or too many is a finding, or shows what must not be shown.

it('psd2 knows these codes of fields, and no others', () => {
  const { codes } = vocabularyOf('cb', new Set());
  expect(Object.fromEntries(Object.entries(codes).map(([name, known]) => [name, [...known]]))).toEqual({
    transactionStatus: [
      ...['ACCC', 'ACCP', 'ACSC', 'ACSP', 'ACTC', 'ACWC', 'ACWP'],
      ...['RCVD', 'PDNG', 'RJCT', 'CANC', 'ACFC', 'PATC', 'PART'],
    ],
    scaStatus: [
      ...['received', 'psuIdentified', 'psuAuthenticated', 'scaMethodSelected', 'started'],
      ...['unconfirmed', 'finalised', 'failed', 'exempted'],
    ],
    consentStatus: [
      ...['received', 'rejected', 'partiallyAuthorised', 'valid', 'revokedByPsu', 'expired'],
      ...['terminatedByTpp', 'replaced'],
    ],
    balanceType: [
      ...['closingBooked', 'expected', 'openingBooked', 'interimAvailable', 'interimBooked'],
      ...['forwardAvailable', 'nonInvoiced', 'authorised'],
    ],
    outcome: ['SUCCESS', 'WARNING', 'ERROR', 'INFO'],
  });
});

it('the names of fields are those that the readers look at, and what the interface has besides', () => {
  const read = new Set(['bookingDate', 'next', 'nextAccounting', 'nextNotAccounting', 'download']);
  const [cb, standard] = [vocabularyOf('cb', read), vocabularyOf('nextgenpsd2', read)];
  // Whether there are more pages depends on how long a list is.
  for (const { reads } of [cb, standard]) expect([...reads]).toEqual(['bookingDate']);
  for (const { names } of [cb, standard]) for (const name of read) expect(names).toContain(name);
  expect([cb.names.has('curies'), cb.names.has('currencies'), cb.names.has('checkId')]).toEqual([
    true,
    true,
    false,
  ]);
  expect(['first', 'checkId', 'scaStatusLink', 'curies'].map((name) => standard.names.has(name))).toEqual([
    true,
    true,
    true,
    false,
  ]);
  // A name with a space, or none, is not one.
  for (const { names } of [cb, standard]) for (const name of names) expect(name).toMatch(/^[\w-]+$/);
});

it('the standard requires these fields, and the other interface none', () => {
  expect([...vocabularyOf('nextgenpsd2', new Set()).required]).toEqual([
    ...['accounts', 'balances', 'balanceAmount', 'balanceType', 'transactionAmount', 'amount'],
    ...['transactionStatus', 'paymentId', 'consentStatus', 'consentId', 'fundsAvailable'],
  ]);
  expect([...vocabularyOf('cb', new Set()).required]).toEqual([]);
});

it('reports show these codes of errors', () => {
  expect([...BANK_CODES].toSorted()).toEqual(
    [
      ...['CERTIFICATE_INVALID', 'ROLE_INVALID', 'CERTIFICATE_EXPIRED', 'CERTIFICATE_BLOCKED'],
      ...['CERTIFICATE_REVOKED', 'CERTIFICATE_MISSING', 'SIGNATURE_INVALID', 'SIGNATURE_MISSING'],
      ...['FORMAT_ERROR', 'PARAMETER_NOT_CONSISTENT', 'PARAMETER_NOT_SUPPORTED', 'PSU_CREDENTIALS_INVALID'],
      ...['SERVICE_INVALID', 'SERVICE_BLOCKED', 'CORPORATE_ID_INVALID', 'CONSENT_UNKNOWN', 'CONSENT_INVALID'],
      ...['CONSENT_EXPIRED', 'TOKEN_UNKNOWN', 'TOKEN_INVALID', 'TOKEN_EXPIRED', 'RESOURCE_UNKNOWN'],
      ...[
        'RESOURCE_EXPIRED',
        'RESOURCE_BLOCKED',
        'TIMESTAMP_INVALID',
        'PERIOD_INVALID',
        'SCA_METHOD_UNKNOWN',
      ],
      ...['SCA_INVALID', 'STATUS_INVALID', 'TRANSACTION_ID_INVALID', 'PRODUCT_INVALID', 'PRODUCT_UNKNOWN'],
      ...['PAYMENT_FAILED', 'REQUIRED_KID_MISSING', 'KID_MISSING', 'FUNDS_NOT_AVAILABLE'],
      ...['EXECUTION_DATE_INVALID', 'CANCELLATION_INVALID', 'SESSIONS_NOT_SUPPORTED', 'ACCESS_EXCEEDED'],
      ...['REQUESTED_FORMATS_INVALID', 'CARD_INVALID', 'NO_PIIS_ACTIVATION', 'REFERENCE_MIX_INVALID'],
      ...['REFERENCE_STATUS_INVALID', 'INTERNAL_SERVER_ERROR', 'SERVICE_UNAVAILABLE', 'FORBIDDEN'],
      ...['UNSUPPORTED_MEDIA_TYPE', 'PSD2_SCA_REQUIRED'],
      ...['invalid_request', 'invalid_client', 'invalid_grant', 'unauthorized_client', 'invalid_scope'],
      ...['unsupported_grant_type', 'access_denied', 'unsupported_response_type', 'server_error'],
      ...['temporarily_unavailable', 'invalid_token', 'insufficient_scope'],
    ].toSorted(),
  );
});
