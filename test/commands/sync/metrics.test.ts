import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import fc from 'fast-check';
import parse from 'parse-prometheus-text-format';
import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { writeMetrics } from '../../../src/commands/sync/metrics.ts';
import { type MetricsServer, serveMetrics } from '../../../src/commands/sync/metrics-server.ts';
import { replaceReadable } from '../../../src/store/disk/replace.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { freePort } from '../../support/free-port.ts';
import { failureOf } from '../failure.ts';

const folder = temporaryFolder();
const families = z.array(
  z.object({
    name: z.string(),
    help: z.string().min(1),
    type: z.enum(['COUNTER', 'GAUGE']),
    metrics: z.array(z.object({ value: z.string(), labels: z.optional(z.record(z.string(), z.string())) })),
  }),
);
const read = (text: string) => new Map(families.parse(parse(text)).map((family) => [family.name, family]));

const METRICS = {
  profile: 'bank',
  calls: 120,
  errors: new Map([['sca_required', 2]]),
  done: { synced: 10, failed: 2 },
  due: 7,
  secondsWaited: 1.5,
  renewals: 3,
  startedAt: new Date('2026-11-22T10:00:00.000Z'),
  roundEndedAt: null,
  callsByResult: new Map([
    ['2xx', 118],
    ['none', 2],
  ]),
  state: {
    payments: new Map([['unknown', 1]]),
    oldestReadAt: new Date('2026-11-22T09:00:00.000Z'),
    endings: new Map([['login', 4]]),
  },
  now: new Date('2026-11-22T10:00:00.000Z'),
};

it('a Prometheus parser reads the metrics, each with its help and type', () => {
  const found = [...read(writeMetrics(METRICS)).values()];
  for (const { name, type } of found) expect(type, name).toBe(name.endsWith('_total') ? 'COUNTER' : 'GAUGE');
  const samples = found.flatMap(({ name, metrics }) =>
    metrics.map(({ labels, value }) => [name, ...Object.values(labels ?? {}), value].join(' ')),
  );
  const labels = found.flatMap(({ metrics }) => metrics.flatMap((each) => Object.keys(each.labels ?? {})));
  expect([...new Set(labels)]).toEqual(['profile', 'code', 'status', 'result', 'state', 'kind']);
  expect(samples).toEqual([
    ...['psd2_sync_calls_total bank 120', 'psd2_sync_errors_total bank sca_required 2'],
    ...['psd2_sync_customers_done_total bank synced 10', 'psd2_sync_customers_done_total bank failed 2'],
    ...['psd2_sync_customers_due bank 7', 'psd2_sync_pace_wait_seconds_total bank 1.5'],
    ...['psd2_sync_token_renewals_total bank 3', 'psd2_sync_start_time_seconds bank 1795341600'],
    'psd2_sync_calls_by_result_total bank 2xx 118',
    ...['psd2_sync_calls_by_result_total bank none 2', 'psd2_payments bank unknown 1'],
    ...['psd2_oldest_sync_age_seconds bank 3600', 'psd2_ending bank login 4'],
  ]);
});

it('the profile name in the metrics is exact, whatever characters it contains', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (profile) => {
      const [metric] =
        read(writeMetrics({ ...METRICS, profile })).get('psd2_sync_calls_total')?.metrics ?? [];
      expect(metric?.labels?.profile).toBe(profile);
    }),
  );
});

it('psd2 replaces the file atomically, others can read it, and no other file is left', () => {
  const place = join(folder, 'metrics');
  mkdirSync(place);
  const path = join(place, 'psd2.prom');
  replaceReadable(path, 'a 1\n');
  const before = statSync(path).ino;
  replaceReadable(path, 'a 2\n');
  expect(readFileSync(path, 'utf8')).toBe('a 2\n');
  expect(statSync(path).ino).not.toBe(before);
  expect(statSync(path).mode & 0o777).toBe(0o644);
  expect(readdirSync(place)).toEqual(['psd2.prom']);
});

it.each([
  ['is-a-folder', 'EISDIR'],
  [join('not-there', 'psd2.prom'), 'ENOENT'],
])('the path %s cannot be written', async (name, reason) => {
  mkdirSync(join(folder, 'is-a-folder'), { recursive: true });
  const path = join(folder, name);
  expect(await failureOf(Promise.resolve().then(() => replaceReadable(path, 'a 1\n')))).toEqual({
    ...{ code: 'config', exitCode: 3, message: `The file ${path} cannot be written (${reason})` },
    hint: 'Give a file in an existing folder that this user can write to.',
  });
});

it('what psd2 does not know yet has no sample, and the rest is in the format of Prometheus', () => {
  const profile = 'a\\b"c\nd';
  const { state: _, ...metrics } = METRICS;
  const text = writeMetrics({ ...metrics, profile, due: null, done: {}, errors: new Map() });
  expect(text).toMatchInlineSnapshot(`
    "# HELP psd2_sync_calls_total Calls that this sync has made to the bank.
    # TYPE psd2_sync_calls_total counter
    psd2_sync_calls_total{profile="a\\\\b\\"c\\nd"} 120
    # HELP psd2_sync_errors_total Customers and accounts that could not be synced, by error code.
    # TYPE psd2_sync_errors_total counter
    # HELP psd2_sync_customers_done_total Customers processed, by result.
    # TYPE psd2_sync_customers_done_total counter
    # HELP psd2_sync_customers_due Customers of the round not processed yet.
    # TYPE psd2_sync_customers_due gauge
    # HELP psd2_sync_pace_wait_seconds_total Seconds that calls waited because the bank limits their rate.
    # TYPE psd2_sync_pace_wait_seconds_total counter
    psd2_sync_pace_wait_seconds_total{profile="a\\\\b\\"c\\nd"} 1.5
    # HELP psd2_sync_token_renewals_total Access tokens that were renewed.
    # TYPE psd2_sync_token_renewals_total counter
    psd2_sync_token_renewals_total{profile="a\\\\b\\"c\\nd"} 3
    # HELP psd2_sync_start_time_seconds When this sync started, in seconds since 1970.
    # TYPE psd2_sync_start_time_seconds gauge
    psd2_sync_start_time_seconds{profile="a\\\\b\\"c\\nd"} 1795341600
    # HELP psd2_sync_round_end_time_seconds When the last round ended, in seconds since 1970.
    # TYPE psd2_sync_round_end_time_seconds gauge
    # HELP psd2_sync_calls_by_result_total Calls to the bank, by the class of the HTTP status; none: without an answer.
    # TYPE psd2_sync_calls_by_result_total counter
    psd2_sync_calls_by_result_total{profile="a\\\\b\\"c\\nd",result="2xx"} 118
    psd2_sync_calls_by_result_total{profile="a\\\\b\\"c\\nd",result="none"} 2
    "
  `);
});

it('data that was read in the future has no age below zero, and no data has none', () => {
  const ages = [new Date('2026-11-22T11:00:00.000Z'), null].map((oldestReadAt) => {
    const text = writeMetrics({ ...METRICS, state: { ...METRICS.state, oldestReadAt } });
    return /^psd2_oldest_sync_age_seconds\{.*$/m.exec(text)?.[0];
  });
  expect(ages).toEqual(['psd2_oldest_sync_age_seconds{profile="bank"} 0', undefined]);
});

describe('the server of the metrics', () => {
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

  async function ask(address: string, method = 'GET', host?: string) {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = host === undefined ? {} : { host };
      request(address, { method, headers }, resolve).on('error', reject).end();
    });
    const { statusCode: status, headers } = answer;
    const head = { status, type: headers['content-type'], length: headers['content-length'] };
    return { ...head, text: await textOf(answer) };
  }

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
    [`${hostname()}x.corp.example`, 403],
    ...['a.local', 'a.b.localhost', 'a.internal:9'].map((host): [string, number] => [host, 200]),
    ...['a.local.example', 'a.xlocal', 'a.internals', '1.2.3.4.5'].map((host): [string, number] => [
      host,
      403,
    ]),
  ])('a request for the host %s is answered with %i', async (host, status) => {
    const { address } = await serve();
    expect((await ask(`${address}/metrics`, 'GET', host)).status).toBe(status);
  });

  const PROMETHEUS = 'text/plain; version=0.0.4; charset=utf-8';
  it.each([
    ['GET', '/metrics', 200, PROMETHEUS, 'a 1\n'],
    ['GET', '/metrics?name=a', 200, PROMETHEUS, 'a 1\n'],
    ['GET', '/healthz', 200, PLAIN, 'ok\n'],
    ['GET', '/healthz?from=probe', 200, PLAIN, 'ok\n'],
    ['HEAD', '/metrics', 200, PROMETHEUS, 'a 1\n'],
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
});
