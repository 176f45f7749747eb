import { createServer, type Server } from 'node:http';
import { isIP } from 'node:net';
import { hostname as systemName } from 'node:os';
import { urlFrom } from '../../domain/url.ts';
import { Psd2Error } from '../../errors.ts';

/** Where a monitor finds the metrics of a sync. */
export interface MetricsServer {
  /** With the port that the system chose, if it was 0. */
  readonly address: string;
  close(): Promise<void>;
}

/**
 * Serves `/metrics` and `/healthz` until it is closed.
 *
 * @param metrics gives the current metrics
 * @throws Psd2Error `config` if it cannot listen
 */
export async function serveMetrics(
  host: string,
  port: number,
  metrics: () => Promise<string>,
): Promise<MetricsServer> {
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0];
    const answer = (status: number, type: string, text: string) => {
      response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) });
      // Node leaves the text out after HEAD.
      response.end(text);
    };
    if (isForeign(request.headers.host, host)) answer(403, PLAIN, 'The Host is not of this server.\n');
    else if (request.method !== 'GET' && request.method !== 'HEAD')
      answer(405, PLAIN, 'Only GET is allowed.\n');
    else if (path === '/healthz') answer(200, PLAIN, 'ok\n');
    else if (path === '/metrics')
      metrics().then(
        (text) => answer(200, PROMETHEUS, text),
        () => answer(500, PLAIN, 'The metrics cannot be read.\n'),
      );
    else answer(404, PLAIN, 'See /metrics and /healthz.\n');
  });
  server.requestTimeout = 5_000;
  await listen(server, host, port);
  // The sync decides when the process ends.
  server.unref();
  const bound = server.address();
  const shown = host.includes(':') ? `[${host}]` : host;
  return {
    address: `http://${shown}:${typeof bound === 'object' && bound ? bound.port : port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/**
 * Whether a page of another site asks: its name led to this machine (DNS rebinding). A monitor asks by an address, by a name of this
 * machine, or by the name that `--metrics-host` gives. Inside a cluster a service has one of its names, without a dot or in `.local`.
 */
function isForeign(header: string | undefined, own: string): boolean {
  const url = urlFrom(`http://${header ?? ''}`);
  if (!url) return true;
  const { hostname } = url;
  const name = hostname.replace(/^\[|\]$/g, '');
  const machine = systemName().toLowerCase();
  const isOwn = name === own.toLowerCase() || name === machine || name.startsWith(`${machine}.`);
  return isIP(name) === 0 && !isOwn && name.includes('.') && !/\.(local|localhost|internal)$/.test(name);
}

const PLAIN = 'text/plain; charset=utf-8';
const PROMETHEUS = 'text/plain; version=0.0.4; charset=utf-8';

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) =>
      reject(
        new Psd2Error(
          'config',
          `The metrics cannot be served at ${host} port ${port} (${cause.code ?? 'unknown'})`,
          {
            hint: 'Choose a free port with --metrics-port, and an address of this machine with --metrics-host.',
            cause,
          },
        ),
      ),
    );
    server.listen(port, host, resolve);
  });
}
