import { connect, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { OpenSocket } from './line.ts';

/** Certificates and rules of a TLS connection. */
export type TlsRules = Pick<ConnectionOptions, 'secureContext' | 'rejectUnauthorized' | 'minVersion'>;

/** Opens plain connections to a server. */
export function plainSocketsTo(server: URL): OpenSocket {
  return (opened, failed) => {
    const socket: Socket = connect({ ...placeOf(server), port: Number(server.port || 80), ...KEPT });
    socket.once('connect', () => opened(socket)).once('error', failed);
    return () => socket.destroy();
  };
}

/**
 * Opens TLS connections to a server. Later connections resume the TLS session.
 *
 * @param tunnels opens the tunnels for TLS. Default: direct connections
 */
export function secureSocketsTo(server: URL, rules: TlsRules, tunnels?: OpenSocket): OpenSocket {
  const place = placeOf(server);
  const port = Number(server.port || 443);
  const servername = isIP(place.host) === 0 ? place.host : '';
  let session: Buffer | undefined;
  return (opened, failed) => {
    let giveUp = () => {};
    const secure = (through: { socket: Socket } | { port: number }) => {
      const socket = connectTls({
        ...rules,
        ...place,
        ...through,
        servername,
        ALPNProtocols: ['http/1.1'],
        ...KEPT,
        ...(session && { session }),
      });
      giveUp = () => socket.destroy();
      const fail = (error: Error) => {
        session = undefined;
        failed(error);
      };
      socket
        .on('session', (next) => (session = next))
        .once('error', fail)
        .once('secureConnect', () => {
          // Later errors do not belong to the handshake.
          socket.off('error', fail);
          opened(socket);
        });
    };
    if (tunnels) giveUp = tunnels((socket) => secure({ socket }), failed);
    else secure({ port });
    return () => giveUp();
  };
}

const KEPT = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 1000 } as const;

function placeOf({ hostname }: URL): { host: string } {
  return { host: hostname.replace(/^\[|\]$/g, '') };
}
