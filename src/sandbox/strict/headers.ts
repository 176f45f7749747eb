import { isIP } from 'node:net';
import { expectedAndReceived, Refusal } from '../answers/refusal.ts';
import type { RawRequest } from './raw-request.ts';

/** How far the `Date` of a request may be from the bank's clock. */
export const DATE_WINDOW_MS = 5 * 60 * 1000;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The headers with a meaning to the bank: none of them may come twice. */
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
 * The value of a header, or undefined where it did not come.
 *
 * @param name in lower case
 */
export function header(request: RawRequest, name: string): string | undefined {
  return request.headers.find(([sent]) => sent.toLowerCase() === name)?.[1];
}

/**
 * The value of a header that must have come and not be empty.
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
    `Every request to this endpoint carries ${name}.`,
  );
}

/** @throws Refusal `HEADER_DUPLICATE` when a header that the bank reads came twice. */
export function refuseDuplicates(request: RawRequest): void {
  for (const name of singleHeaders) {
    const count = request.headers.filter(([sent]) => sent.toLowerCase() === name).length;
    if (count > 1) {
      throw new Refusal(
        'HEADER_DUPLICATE',
        `The header ${name} came ${count} times`,
        expectedAndReceived(`${name} once`, `${count} times`),
      );
    }
  }
}

/**
 * A header whose value is a UUID, in lower case.
 *
 * @throws Refusal `HEADER_MISSING`, `HEADER_MALFORMED`
 */
export function uuidHeader(request: RawRequest, name: string): string {
  const value = requiredHeader(request, name);
  if (!UUID.test(value)) {
    throw new Refusal('HEADER_MALFORMED', `${name} is not a UUID`, expectedAndReceived('a UUID', value));
  }
  return value.toLowerCase();
}

/** Whether the text has the form of a UUID. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/**
 * Checks `Date`: IMF-fixdate (RFC 7231, section 7.1.1.1), within five minutes of the bank's clock.
 *
 * @throws Refusal `HEADER_MISSING`, `HEADER_MALFORMED`, `DATE_OUT_OF_RANGE`
 */
export function checkDate(request: RawRequest, now: Date): void {
  const value = requiredHeader(request, 'Date');
  const date = new Date(value);
  // toUTCString writes IMF-fixdate; any other form, or a wrong weekday, does not come back the same.
  if (Number.isNaN(date.getTime()) || date.toUTCString() !== value) {
    throw new Refusal(
      'HEADER_MALFORMED',
      'Date is not an IMF-fixdate (RFC 7231, section 7.1.1.1)',
      expectedAndReceived(`for example "${now.toUTCString()}"`, `"${value}"`),
    );
  }
  const distance = Math.abs(date.getTime() - now.getTime());
  if (distance > DATE_WINDOW_MS) {
    throw new Refusal(
      'DATE_OUT_OF_RANGE',
      `Date is ${Math.round(distance / 1000)} seconds from the bank's clock, and may be 300 at most`,
      expectedAndReceived(`about "${now.toUTCString()}"`, `"${value}"`),
    );
  }
}

/**
 * Checks the headers that are optional, where they came: `Accept`, `PSU-IP-Address`, `CB-Trace-Id`.
 *
 * @throws Refusal `ACCEPT_UNSUPPORTED`, `HEADER_MALFORMED`
 */
export function checkOptionalHeaders(request: RawRequest): void {
  const accept = header(request, 'accept');
  if (accept !== undefined && !/(?:^|[\s,])(?:application\/(?:json|\*)|\*\/\*)(?:$|[\s,;])/i.test(accept)) {
    throw new Refusal(
      'ACCEPT_UNSUPPORTED',
      'The bank answers with application/json only',
      expectedAndReceived('Accept: application/json', accept),
    );
  }
  const psuIp = header(request, 'psu-ip-address');
  if (psuIp !== undefined && isIP(psuIp) === 0) {
    throw new Refusal(
      'HEADER_MALFORMED',
      'PSU-IP-Address is not an IP address',
      expectedAndReceived('an IPv4 or IPv6 address', psuIp),
    );
  }
  const trace = header(request, 'cb-trace-id');
  if (trace !== undefined && !/^viewId=\S+$/.test(trace)) {
    throw new Refusal(
      'HEADER_MALFORMED',
      'CB-Trace-Id does not name a component',
      expectedAndReceived('viewId=<COMPONENT_NAME>', trace),
    );
  }
}
