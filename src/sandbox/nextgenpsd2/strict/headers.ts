import { isIPv4 } from 'node:net';
import type { BankDescription } from '../../../bank/interfaces/nextgenpsd2/description/schema.ts';
import { variableOf } from '../../../bank-file/kinds.ts';
import { DATE_WINDOW_MS, header, readFixdate } from '../../strict/headers.ts';
import type { RawRequest } from '../../strict/raw-request.ts';
import type { Addressed, OperationId } from '../operations.ts';
import { DoorRefusal, unexpected } from '../refusal.ts';
import { bestOf, mediaTypeOf } from './media-types.ts';

/** A UUID of version 4 (RFC 9562, section 5.4). */
const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** Headers of the first door. The standard has no such headers. */
export const FOREIGN = [
  'tpp-certificate',
  'tpp-transaction-id',
  'tpp-request-id',
  'cb-trace-id',
  'cb-apitrack-id',
];

const PSU = ['psu-id', 'psu-id-type', 'psu-corporate-id', 'psu-corporate-id-type'];
const START = [
  'tpp-redirect-uri',
  'tpp-nok-redirect-uri',
  'tpp-redirect-preferred',
  'tpp-decoupled-preferred',
  'tpp-explicit-authorisation-preferred',
  'tpp-notification-uri',
  'tpp-notification-content-preferred',
  'tpp-brand-logging-information',
];

/** Where a payment begins, and the only headers with which one is cancelled. */
export const INITIATION = [...PSU, ...START, 'consent-id', 'tpp-rejection-nofunds-preferred'];
const CANCEL = START.slice(0, 5);

/** The headers that only some operations have, by kind of operation (NextGenPSD2, the tables of each call). */
export const ALLOWED: Record<Addressed['kind'], readonly string[]> = {
  start: [...PSU, ...START],
  initiation: INITIATION,
  cancel: CANCEL,
  update: PSU,
  resource: [],
  reading: ['consent-id'],
  funds: ['consent-id'],
};

/**
 * Checks `X-Request-ID`: a UUID of version 4. Every answer repeats it.
 *
 * @throws DoorRefusal `FORMAT_ERROR`
 */
export function checkRequestId(request: RawRequest): void {
  const value = header(request, 'x-request-id');
  if (value !== undefined && UUID_V4.test(value)) return;
  throw unexpected(
    'FORMAT_ERROR',
    'X-Request-ID',
    'X-Request-ID is not a UUID of version 4',
    'a UUID of version 4',
    value,
  );
}

/**
 * Checks that no header came twice, is empty, or belongs to another call or to another interface.
 *
 * @throws DoorRefusal `FORMAT_ERROR`
 */
export function checkHeaderNames(request: RawRequest, { kind }: Addressed, { psu }: BankDescription): void {
  const allowed = ALLOWED[kind];
  const seen = new Set<string>();
  for (const [sent, value] of request.headers) {
    const name = sent.toLowerCase();
    if (seen.has(name))
      throw new DoorRefusal('FORMAT_ERROR', `The header ${sent} came twice`, '', { path: sent });
    seen.add(name);
    const belongsToInitiation = INITIATION.includes(name);
    if (FOREIGN.includes(name) || (belongsToInitiation && !allowed.includes(name)))
      throw new DoorRefusal('FORMAT_ERROR', `${sent} is no header of this call`, '', { path: sent });
    const mayBeEmpty = name === 'psu-id' && psu.id === 'empty';
    if (value === '' && !mayBeEmpty && (belongsToInitiation || /^(?:psu|tpp)-/.test(name)))
      throw new DoorRefusal('FORMAT_ERROR', `The header ${sent} is empty. Leave it out`, '', { path: sent });
  }
}

/**
 * Checks `headers.static` and `headers.perOperation`: each with its value, and none of another operation.
 *
 * @throws DoorRefusal `FORMAT_ERROR`
 */
export function checkBankHeaders(
  request: RawRequest,
  { headers, oauth }: BankDescription,
  { id }: Addressed,
  environment: NodeJS.ProcessEnv = process.env,
): void {
  const due = new Map([...Object.entries(headers.static), ...Object.entries(headers.perOperation[id] ?? {})]);
  for (const [name, value] of due) {
    const received = header(request, name.toLowerCase());
    const variable = variableOf(value);
    const expected = variable === undefined ? value : environment[variable];
    // The sandbox may run without the client's environment. Then any value is right.
    const right = expected === undefined ? received !== undefined && received !== '' : received === expected;
    if (right) continue;
    const shown = variable === undefined ? `"${value}"` : `the value of ${variable}`;
    throw unexpected(
      'FORMAT_ERROR',
      name,
      `The bank needs the header ${name}`,
      shown,
      received && 'another value',
    );
  }
  // The header of the token may be the bank's own at some calls.
  const names = [...due.keys(), oauth.tokenHeader].map((name) => name.toLowerCase());
  for (const name of Object.values(headers.perOperation).flatMap(Object.keys)) {
    if (names.includes(name.toLowerCase()) || header(request, name.toLowerCase()) === undefined) continue;
    throw new DoorRefusal('FORMAT_ERROR', `${name} is no header of this call`, '', { path: name });
  }
}

/** Whether the bank wants `Date`. @param isSigned whether the request must have a signature */
export function wantsDate({ date }: BankDescription['headers'], isSigned: boolean): boolean {
  return date === 'always' || (date === 'signed' && isSigned);
}

/**
 * Checks `Date`: present if the bank wants it, IMF-fixdate, and within five minutes of the bank's clock.
 *
 * @param isSigned whether the request must have a signature
 * @throws DoorRefusal `FORMAT_ERROR`, `TIMESTAMP_INVALID`
 */
export function checkDate(
  request: RawRequest,
  { headers }: BankDescription,
  isSigned: boolean,
  now: Date,
): void {
  const value = header(request, 'date');
  if (!wantsDate(headers, isSigned)) {
    if (value === undefined) return;
    throw unexpected('FORMAT_ERROR', 'Date', 'The bank does not take the header Date', 'no Date', value);
  }
  const date = readFixdate(value ?? '');
  if (!date)
    throw unexpected('FORMAT_ERROR', 'Date', 'Date is not an IMF-fixdate', `"${now.toUTCString()}"`, value);
  if (Math.abs(date.getTime() - now.getTime()) <= DATE_WINDOW_MS) return;
  throw unexpected(
    'TIMESTAMP_INVALID',
    'Date',
    "Date is more than five minutes from the bank's clock",
    `about "${now.toUTCString()}"`,
    value,
  );
}

export const XML = 'application/xml';
export const TEXT = 'text/plain';
const MULTIPART = 'multipart/form-data';

/** The form in which the bank takes the payments that a call is about: a standing order in pain.001 has two parts. */
export function bodyForm(
  { payments }: BankDescription,
  { parameters }: Pick<Addressed, 'parameters'>,
): 'json' | 'xml' | 'multipart' {
  const service = parameters.get('payment-service');
  if (service === 'bulk-payments') return (payments.bulk?.format ?? 'json') === 'json' ? 'json' : 'xml';
  if (!parameters.get('payment-product')?.startsWith('pain.001')) return 'json';
  return service === 'periodic-payments' ? 'multipart' : 'xml';
}

/** The media type that the body of a call has. Of several parts, the client chooses the boundary. */
export function bodyType(
  description: BankDescription,
  operation: Addressed,
  sent: string | undefined,
): string {
  const form = operation.id === 'initiatePayment' ? bodyForm(description, operation) : 'json';
  if (form !== 'multipart') return form === 'xml' ? XML : description.headers.contentType;
  return mediaTypeOf(sent ?? '') === MULTIPART && sent ? sent : MULTIPART;
}

/** The media types in which the bank answers a call, the usual one first. */
export function answerTypes(description: BankDescription, operation: Addressed): string[] {
  const { headers, accounts } = description;
  if (REPORTS.includes(operation.id) || isDocument(operation)) {
    const types = { json: headers.accept, camt: XML, mt940: TEXT };
    return accounts.reports.map((format) => types[format]);
  }
  const isXmlStatus =
    bodyForm(description, operation) !== 'json' && operation.id === 'getPaymentInitiationStatus';
  return [headers.accept, ...(isXmlStatus ? [XML] : [])];
}

const REPORTS: readonly OperationId[] = ['getTransactionList', 'getCardAccountTransactionList'];

/** In the place of the id of a transaction: the document with all transactions (the variation `report-links`). */
export const DOCUMENT = 'download';

/** A link leads there, so its reader cannot know the media type. */
function isDocument({ id, parameters }: Addressed): boolean {
  return id === 'getTransactionDetails' && parameters.get('transactionId') === DOCUMENT;
}

/**
 * Checks `Accept` and `Content-Type` against the exact values of the bank file. A call without a body has no `Content-Type`.
 *
 * @throws DoorRefusal `REQUESTED_FORMATS_INVALID`, `FORMAT_ERROR` with 415
 */
export function checkMediaTypes(
  request: RawRequest,
  description: BankDescription,
  operation: Addressed,
): void {
  const accept = header(request, 'accept');
  const offered = answerTypes(description, operation);
  const isTaken = isDocument(operation)
    ? bestOf(offered, accept) !== undefined
    : offered.includes(accept ?? '');
  if (!isTaken)
    throw unexpected(
      'REQUESTED_FORMATS_INVALID',
      'Accept',
      'The bank does not answer in this format',
      `Accept: ${offered.join(', ')}`,
      accept,
    );
  const type = header(request, 'content-type');
  const expected = request.body.length > 0 ? bodyType(description, operation, type) : undefined;
  if (type === expected) return;
  throw new DoorRefusal(
    'FORMAT_ERROR',
    'Content-Type is not what the bank takes',
    `Expected: ${expected ?? 'no Content-Type without a body'}. Received: ${type ?? 'nothing'}.`,
    { path: 'Content-Type', status: 415 },
  );
}

/** The words of `psu.id` and `psu.idType` that are no value of the header. */
const NOT_FIXED = ['optional', 'required', 'never', 'token-sub'];

/** Checks `psu.*`, and `PSU-IP-Address`: IPv4, and demanded where a consent, a payment or a basket begins. @throws DoorRefusal `FORMAT_ERROR` */
export function checkPsuHeaders(
  request: RawRequest,
  { psu }: BankDescription,
  { id, kind }: Addressed,
): void {
  if (kind === 'start' || kind === 'initiation') {
    for (const [name, presence] of [
      ['PSU-ID', psu.id],
      ['PSU-ID-Type', psu.idType],
      ['PSU-Corporate-ID', psu.corporateId],
    ] as const) {
      const value = header(request, name.toLowerCase());
      const fixed = presence === 'empty' ? '' : presence;
      if (!NOT_FIXED.includes(presence) && value !== fixed)
        throw unexpected('FORMAT_ERROR', name, `The bank takes one ${name} alone`, `"${fixed}"`, value);
      if (presence === 'required' && value === undefined)
        throw new DoorRefusal('FORMAT_ERROR', `The bank needs the header ${name}`, '', { path: name });
      if (presence === 'never' && value !== undefined)
        throw new DoorRefusal('FORMAT_ERROR', `The bank does not take the header ${name}`, '', {
          path: name,
        });
    }
  }
  const address = header(request, 'psu-ip-address');
  if (address === undefined && kind !== 'initiation' && id !== 'createConsent') return;
  if (address !== undefined && isIPv4(address)) return;
  throw unexpected(
    'FORMAT_ERROR',
    'PSU-IP-Address',
    'PSU-IP-Address is not an IPv4 address',
    'an IPv4 address',
    address,
  );
}
