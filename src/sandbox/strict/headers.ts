import { isIP } from 'node:net';
import { Refusal, wrongValue } from '../answers/refusal.ts';
import type { RawRequest } from './raw-request.ts';

/** The maximum difference between the `Date` of a request and the bank's clock. */
export const DATE_WINDOW_MS = 5 * 60 * 1000;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The headers that the bank reads. None of them may be sent twice. */
const singleHeaders = [
  'accept',
  'authorization',
  'cb-apitrack-id',
  'cb-trace-id',
  'content-type',
  'date',
  'digest',
  'psu-ip-address',
  'signature',
  'tpp-certificate',
  'tpp-redirect-uri',
  'tpp-request-id',
  'tpp-transaction-id',
];

/**
 * The value of a header, or undefined if it is missing.
 *
 * @param name in lower case
 */
export function header(request: RawRequest, name: string): string | undefined {
  return request.headers.find(([sent]) => sent.toLowerCase() === name)?.[1];
}

/**
 * The value of a required header. It must not be empty.
 *
 * @param name as the interface specification writes it
 * @throws Refusal `HEADER_MISSING`
 */
export function requiredHeader(request: RawRequest, name: string): string {
  const value = header(request, name.toLowerCase());
  if (value) return value;
  throw new Refusal(
    'HEADER_MISSING',
    `The header ${name} is ${value === undefined ? 'missing' : 'empty'}`,
    `Every request to this endpoint needs ${name}.`,
  );
}

/** @throws Refusal `HEADER_DUPLICATE` if a header that the bank reads was sent twice. */
export function refuseDuplicates(request: RawRequest): void {
  for (const name of singleHeaders) {
    const count = request.headers.filter(([sent]) => sent.toLowerCase() === name).length;
    if (count > 1)
      throw wrongValue(
        'HEADER_DUPLICATE',
        `The header ${name} was sent ${count} times`,
        `${name} once`,
        `${count} times`,
      );
  }
}

/**
 * The UUID in a header, in lower case.
 *
 * @throws Refusal `HEADER_MISSING`, `HEADER_MALFORMED`
 */
export function uuidHeader(request: RawRequest, name: string): string {
  const value = requiredHeader(request, name);
  if (!UUID.test(value)) throw wrongValue('HEADER_MALFORMED', `${name} is not a UUID`, 'a UUID', value);
  return value.toLowerCase();
}

/** Whether a text is a UUID. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** Reads an IMF-fixdate (RFC 7231, section 7.1.1.1). Undefined for another format, or a wrong weekday. */
export function readFixdate(text: string): Date | undefined {
  const date = new Date(text);
  // toUTCString writes IMF-fixdate.
  return !Number.isNaN(date.getTime()) && date.toUTCString() === text ? date : undefined;
}

/**
 * Checks `Date`: IMF-fixdate (RFC 7231, section 7.1.1.1), within five minutes of the bank's clock.
 *
 * @throws Refusal `HEADER_MISSING`, `HEADER_MALFORMED`, `DATE_OUT_OF_RANGE`
 */
export function checkDate(request: RawRequest, now: Date): void {
  const value = requiredHeader(request, 'Date');
  const date = readFixdate(value);
  if (!date)
    throw wrongValue(
      'HEADER_MALFORMED',
      'Date is not an IMF-fixdate (RFC 7231, section 7.1.1.1)',
      `for example "${now.toUTCString()}"`,
      `"${value}"`,
    );
  const distance = Math.abs(date.getTime() - now.getTime());
  if (distance > DATE_WINDOW_MS)
    throw wrongValue(
      'DATE_OUT_OF_RANGE',
      `Date is ${Math.round(distance / 1000)} seconds from the bank's clock. At most 300 are allowed`,
      `about "${now.toUTCString()}"`,
      `"${value}"`,
    );
}

/**
 * Checks the optional headers `Accept`, `PSU-IP-Address` and `CB-Trace-Id`, if they were sent.
 *
 * @throws Refusal `ACCEPT_UNSUPPORTED`, `HEADER_MALFORMED`
 */
export function checkOptionalHeaders(request: RawRequest): void {
  const accept = header(request, 'accept');
  if (accept !== undefined && !/(?:^|[\s,])(?:application\/(?:json|\*)|\*\/\*)(?:$|[\s,;])/i.test(accept))
    throw wrongValue(
      'ACCEPT_UNSUPPORTED',
      'The bank answers with application/json only',
      'Accept: application/json',
      accept,
    );
  const psuIp = header(request, 'psu-ip-address');
  if (psuIp !== undefined && isIP(psuIp) === 0)
    throw wrongValue(
      'HEADER_MALFORMED',
      'PSU-IP-Address is not an IP address',
      'an IPv4 or IPv6 address',
      psuIp,
    );
  const trace = header(request, 'cb-trace-id');
  if (trace !== undefined && !/^viewId=\S+$/.test(trace))
    throw wrongValue(
      'HEADER_MALFORMED',
      'CB-Trace-Id does not name a component',
      'viewId=<COMPONENT_NAME>',
      trace,
    );
}
