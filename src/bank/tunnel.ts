import { request as httpRequest } from 'node:http';
import { Agent, request as httpsRequest, type RequestOptions } from 'node:https';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect } from 'node:tls';
import { ProxyRefused } from './proxy-refused.ts';

/** Options of a request that goes through a {@link TunnelAgent}. */
export interface TunnelledRequestOptions extends RequestOptions {
  tunnel: {
    /** Certificates and rules of the TLS inside the tunnel. */
    tls: ConnectionOptions;
    /** Ends a tunnel that is still being opened. */
    signal: AbortSignal;
  };
}

/**
 * Reaches servers through a proxy (CONNECT; RFC 9110, section 9.3.6). TLS begins inside the tunnel: the client
 * certificate is never shown to the proxy.
 */
export class TunnelAgent extends Agent {
  readonly #proxy: URL;

  /** @param proxy `http:` or `https:`, with the user name and password that it asks for */
  constructor(proxy: URL) {
    super({ keepAlive: true });
    this.#proxy = proxy;
  }

  override createConnection(
    options: TunnelledRequestOptions,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    const { username, password, hostname, port, protocol } = this.#proxy;
    const host = options.host?.includes(':') ? `[${options.host}]` : options.host;
    const target = `${host}:${options.port}`;
    const credentials = username || password ? `${decoded(username)}:${decoded(password)}` : undefined;
    const tunnel = (protocol === 'https:' ? httpsRequest : httpRequest)({
      method: 'CONNECT',
      host: hostname.replace(/^\[|\]$/g, ''),
      port,
      path: target,
      headers: {
        host: target,
        ...(credentials && {
          'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}`,
        }),
      },
      agent: false,
      rejectUnauthorized: true,
      signal: options.tunnel.signal,
    });
    // The stream beside an error is not looked at.
    const fail = (error: Error) => callback?.(error, new Socket());
    tunnel.once('error', fail);
    tunnel.once('connect', ({ statusCode = 0 }, socket, head) => {
      tunnel.off('error', fail);
      if (statusCode === 200) {
        socket.unshift(head);
        const { host, servername = '' } = options;
        callback?.(null, connect({ ...options.tunnel.tls, socket, servername, ...(host && { host }) }));
      } else {
        socket.destroy();
        fail(new ProxyRefused(statusCode));
      }
    });
    tunnel.end();
    return undefined;
  }
}

/** A user name or password as the URL means it; one that is no percent-encoding is taken as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
