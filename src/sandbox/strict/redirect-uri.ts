import { expectedAndReceived, Refusal } from '../answers/refusal.ts';

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
  throw new Refusal(
    'REDIRECT_URI_INVALID',
    `${name} is not an address that the bank redirects to`,
    expectedAndReceived(
      'an https address, or http on 127.0.0.1, [::1] or localhost, without a fragment',
      value,
    ),
  );
}
