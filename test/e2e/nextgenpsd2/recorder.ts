import { once } from 'node:events';
import { createServer, request as httpsRequest, type Server } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { EC, type PemPair, withOpenssl } from '../../certificates/openssl.ts';

/** A request as it arrived. */
export interface Recorded {
  method: string;
  /** Path and query, below the base URL. */
  target: string;
  /** Names are in lower case. */
  headers: Record<string, string>;
  body: Buffer;
}

/** Stands before the sandbox's second door, and keeps what psd2 sends. */
export interface Recorder {
  baseUrl: string;
  /** PEM of the authority of its certificate. */
  ca: string;
  recorded: Recorded[];
  close(): Promise<void>;
}

/** @param door base URL of the door. @param client the QWAC, with which the recorder calls the door */
export async function openRecorder(door: string, client: PemPair): Promise<Recorder> {
  const { ca, server } = withOpenssl((openssl) => {
    const authority = openssl.authority('Recorder CA');
    return { ca: authority.cert, server: openssl.issued(authority, 'recorder', EC, ['IP:127.0.0.1']) };
  });
  const base = new URL(door);
  const recorded: Recorded[] = [];
  let own = '';
  const listener: Server = createServer(
    { ...server, requestCert: true, rejectUnauthorized: false },
    (incoming, outgoing) => {
      const { method = '', url = '', headers } = incoming;
      const pass = async () => {
        const body = await buffer(incoming);
        recorded.push({
          method,
          target: url.slice(base.pathname.length),
          headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
          body,
        });
        const call = httpsRequest(new URL(url, base), {
          method,
          headers: { ...headers, host: base.host },
          ...client,
          rejectUnauthorized: false,
          agent: false,
        });
        call.end(body);
        const [answer] = await once(call, 'response');
        // The door's own addresses are absolute in the metadata of its OAuth server. Its issuer stays.
        const text = (await buffer(answer))
          .toString('utf8')
          .replaceAll(`"${base.origin}${base.pathname}/oauth`, `"${own}${base.pathname}/oauth`);
        const { 'content-length': _length, 'transfer-encoding': _coding, ...kept } = answer.headers;
        outgoing.writeHead(answer.statusCode ?? 500, { ...kept, 'content-length': Buffer.byteLength(text) });
        outgoing.end(text);
      };
      void pass().catch(() => outgoing.destroy());
    },
  );
  await once(listener.listen(0, '127.0.0.1'), 'listening');
  const address = listener.address();
  if (address === null || typeof address === 'string') throw new TypeError('A TCP listener has no port');
  own = `https://127.0.0.1:${address.port}`;
  return {
    baseUrl: `${own}${base.pathname}`,
    ca,
    recorded,
    close: async () => {
      listener.closeAllConnections();
      listener.close();
      await once(listener, 'close');
    },
  };
}
