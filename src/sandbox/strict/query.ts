import { Refusal, wrongValue } from '../answers/refusal.ts';
import type { RawRequest } from './raw-request.ts';

/**
 * The parameters of the request's query, percent-decoded.
 *
 * @throws Refusal `PARAMETER_INVALID` if one was sent twice.
 */
export function readQuery({ target }: RawRequest): ReadonlyMap<string, string> {
  const start = target.indexOf('?');
  const parameters = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(start < 0 ? '' : target.slice(start + 1))) {
    if (parameters.has(name)) throw new Refusal('PARAMETER_INVALID', `The parameter ${name} was sent twice`);
    parameters.set(name, value);
  }
  return parameters;
}

/**
 * Checks the address that the customer's browser returns to: `https`, or `http` on the loopback interface at
 * any port (RFC 8252, section 7.3), without a fragment (RFC 6749, section 3.1.2).
 *
 * @param name the parameter or header with the address
 * @throws Refusal `REDIRECT_URI_INVALID`
 */
export function checkRedirectUri(name: string, value: string): void {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const loopback = url?.protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname);
  if (url && (loopback || url.protocol === 'https:') && !value.includes('#')) return;
  throw wrongValue(
    'REDIRECT_URI_INVALID',
    `${name} is not an address that the bank redirects to`,
    'an https address, or http on 127.0.0.1, [::1] or localhost, without a fragment',
    value,
  );
}
