import { urlFrom } from '../../domain/url.ts';
import { Refusal, wrongValue } from '../answers/refusal.ts';
import type { RawRequest } from './raw-request.ts';

/**
 * The fields of a query or a form, percent-decoded.
 *
 * @param twice the refusal of one that came twice
 */
export function parametersOf(text: string, twice: (name: string) => Error): Map<string, string> {
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (fields.has(name)) throw twice(name);
    fields.set(name, value);
  }
  return fields;
}

/** The query of a request, without the question mark. */
export function queryOf({ target }: RawRequest): string {
  const start = target.indexOf('?');
  return start < 0 ? '' : target.slice(start + 1);
}

/**
 * The parameters of the request's query, percent-decoded.
 *
 * @throws Refusal `PARAMETER_INVALID` if one was sent twice.
 */
export function readQuery(request: RawRequest): ReadonlyMap<string, string> {
  return parametersOf(
    queryOf(request),
    (name) => new Refusal('PARAMETER_INVALID', `The parameter ${name} was sent twice`),
  );
}

/** What such an address is. */
export const RETURN_ADDRESS =
  'an https address, or http on 127.0.0.1, [::1] or localhost, without a fragment';

/**
 * Whether the bank sends a customer's browser to this address: `https`, or `http` on the loopback interface at any port (RFC 8252,
 * section 7.3), without a fragment (RFC 6749, section 3.1.2).
 */
export function isReturnAddress(value: string): boolean {
  const url = urlFrom(value);
  const loopback = url?.protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname);
  return url !== undefined && (loopback || url.protocol === 'https:') && !value.includes('#');
}

/**
 * Checks the address that the customer's browser returns to.
 *
 * @param name the parameter or header with the address
 * @throws Refusal `REDIRECT_URI_INVALID`
 */
export function checkRedirectUri(name: string, value: string): void {
  if (isReturnAddress(value)) return;
  throw wrongValue(
    'REDIRECT_URI_INVALID',
    `${name} is not an address that the bank redirects to`,
    RETURN_ADDRESS,
    value,
  );
}
