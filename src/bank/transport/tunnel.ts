import { ProxyRefused } from './explain-failure.ts';
import { Line, NotConnected, type OpenSocket, plainSocketsTo, secureSocketsTo } from './line.ts';

/**
 * Opens tunnels through a proxy (CONNECT; RFC 9110, section 9.3.6). TLS runs inside them, so the proxy never sees the client
 * certificate.
 *
 * @param proxy an `http:` or `https:` address, with user name and password if it needs them
 * @param bank the other end of the tunnels
 */
export function tunnelsThrough(proxy: URL, bank: URL): OpenSocket {
  const { username, password } = proxy;
  const credentials =
    username || password ? `${percentDecoded(username)}:${percentDecoded(password)}` : undefined;
  const headers = credentials && {
    'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}`,
  };
  const target = `${bank.hostname}:${bank.port || 443}`;
  const sockets =
    proxy.protocol === 'https:'
      ? secureSocketsTo(proxy, { rejectUnauthorized: true, minVersion: 'TLSv1.2' })
      : plainSocketsTo(proxy);
  return (opened, failed) => {
    const line = new Line(proxy, sockets);
    line.connect(target, headers || {}).then(
      ({ status, tunnel }) => {
        if (status === 200) return opened(tunnel);
        tunnel.destroy();
        failed(new ProxyRefused(status));
      },
      (error) => failed(error instanceof NotConnected ? error.cause : error),
    );
    return () => void line.destroy();
  };
}

/** Percent-decodes a user name or password. Returns the text unchanged if it is not percent-encoded. */
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
