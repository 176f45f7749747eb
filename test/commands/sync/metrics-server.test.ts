import { request } from 'node:http';
import { hostname } from 'node:os';
import { text } from 'node:stream/consumers';
import { afterEach, expect, it } from 'vitest';
import { type MetricsServer, serveMetrics } from '../../../src/commands/sync/metrics-server.ts';
import { freePort } from '../../support/free-port.ts';
import { failureOf } from '../failure.ts';

const PLAIN = 'text/plain; charset=utf-8';
const servers: MetricsServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function serve(metrics = async () => 'a 1\n', host = '127.0.0.1', port = 0): Promise<MetricsServer> {
  const server = await serveMetrics(host, port, metrics);
  servers.push(server);
  return server;
}

interface Answer {
  status: number | undefined;
  type: string | undefined;
  length: string | undefined;
  text: string;
}

const ask = (address: string, method = 'GET', host?: string) =>
  new Promise<Answer>((resolve, reject) => {
    const call = request(address, { method, ...(host !== undefined && { headers: { host } }) }, (answer) => {
      const { statusCode: status, headers } = answer;
      const head = { status, type: headers['content-type'], length: headers['content-length'] };
      text(answer).then((body) => resolve({ ...head, text: body }), reject);
    });
    call.on('error', reject);
    call.end();
  });

it.each([
  ['evil.example', 403],
  ['127.0.0.1.evil.example:80', 403],
  ['not a host', 403],
  ['localhost:9', 200],
  ['[::1]:9', 200],
  ['10.0.0.7', 200],
  ['psd2-sync', 200],
  ['psd2-sync.default.svc.cluster.local', 200],
  [hostname(), 200],
  [`${hostname()}.corp.example`, 200],
])('a request for the host %s is answered with %i', async (host, status) => {
  const { address } = await serve();
  expect((await ask(`${address}/metrics`, 'GET', host)).status).toBe(status);
});

const METRICS = 'text/plain; version=0.0.4; charset=utf-8';
it.each([
  ['GET', '/metrics', 200, METRICS, 'a 1\n'],
  ['GET', '/metrics?name=a', 200, METRICS, 'a 1\n'],
  ['GET', '/healthz', 200, PLAIN, 'ok\n'],
  ['GET', '/healthz?from=probe', 200, PLAIN, 'ok\n'],
  ['HEAD', '/metrics', 200, METRICS, 'a 1\n'],
  ['HEAD', '/healthz', 200, PLAIN, 'ok\n'],
  ['GET', '/', 404, PLAIN, 'See /metrics and /healthz.\n'],
  ['POST', '/metrics', 405, PLAIN, 'Only GET is allowed.\n'],
  ['DELETE', '/other', 405, PLAIN, 'Only GET is allowed.\n'],
])('%s %s is answered with %i', async (method, path, status, type, body) => {
  const { address } = await serve();
  const answer = { status, type, length: String(body.length) };
  expect(await ask(address + path, method)).toEqual({ ...answer, text: method === 'HEAD' ? '' : body });
});

it('metrics that cannot be read are the fault of the server, which still answers probes', async () => {
  const { address } = await serve(() => Promise.reject(new Error('no')));
  const body = 'The metrics cannot be read.\n';
  expect(await ask(`${address}/metrics`)).toEqual({
    ...{ status: 500, type: PLAIN, length: String(body.length), text: body },
  });
  expect((await ask(`${address}/healthz`)).status).toBe(200);
});

it('the address has the port that was asked for, and an address with colons in brackets', async () => {
  const port = await freePort();
  expect((await serve(undefined, '127.0.0.1', port)).address).toBe(`http://127.0.0.1:${port}`);
  const { address } = await serve(undefined, '::1');
  expect(address).toMatch(/^http:\/\/\[::1\]:[1-9]\d*$/);
  expect((await ask(`${address}/healthz`)).text).toBe('ok\n');
});

it('a port that is taken is a configuration error', async () => {
  const { address } = await serve();
  const port = Number(new URL(address).port);
  expect(await failureOf(serve(undefined, '127.0.0.1', port))).toEqual({
    ...{ code: 'config', exitCode: 3 },
    message: `The metrics cannot be served at 127.0.0.1 port ${port} (EADDRINUSE)`,
    hint: 'Choose a free port with --metrics-port, and an address of this machine with --metrics-host.',
  });
});

it('after the end nobody answers, also over an open connection', async () => {
  const { address, close } = await serve();
  await ask(`${address}/healthz`);
  await close();
  await expect(ask(`${address}/healthz`)).rejects.toMatchObject({
    code: expect.stringMatching(/^ECONN(REFUSED|RESET)$/),
  });
});
