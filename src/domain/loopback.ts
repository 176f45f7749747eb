/**
 * Whether an address stays on this computer: `http:` or `https:` with a host in 127.0.0.0/8, `[::1]` or
 * `localhost` (RFC 8252 section 7.3, RFC 6761 section 6.3). `URL` normalises the host, so `http://127.1/` is on this
 * computer and `http://127.0.0.1.example.com/` is not.
 */
export function isLoopback(uri: URL): boolean {
  if (uri.protocol !== 'http:' && uri.protocol !== 'https:') return false;
  return uri.hostname === 'localhost' || uri.hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(uri.hostname);
}
