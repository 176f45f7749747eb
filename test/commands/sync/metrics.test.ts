import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import parse from 'parse-prometheus-text-format';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { writeMetrics } from '../../../src/commands/sync/metrics.ts';
import { replaceReadable } from '../../../src/store/disk/replace.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
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
  const samples = found.flatMap(({ name, metrics }) =>
    metrics.map(({ labels, value }) => [name, Number(value), labels]),
  );
  const profile = 'bank';
  expect(samples).toEqual(
    expect.arrayContaining([
      ['psd2_sync_calls_total', 120, { profile }],
      ['psd2_sync_errors_total', 2, { profile, code: 'sca_required' }],
      ['psd2_sync_customers_done_total', 10, { profile, status: 'synced' }],
      ['psd2_sync_customers_done_total', 2, { profile, status: 'failed' }],
      ['psd2_sync_customers_due', 7, { profile }],
      ['psd2_sync_pace_wait_seconds_total', 1.5, { profile }],
      ['psd2_sync_token_renewals_total', 3, { profile }],
      ['psd2_sync_start_time_seconds', 1_795_341_600, { profile }],
      ['psd2_sync_calls_by_result_total', 118, { profile, result: '2xx' }],
      ['psd2_sync_calls_by_result_total', 2, { profile, result: 'none' }],
      ['psd2_payments', 1, { profile, state: 'unknown' }],
      ['psd2_oldest_sync_age_seconds', 3600, { profile }],
      ['psd2_ending', 4, { profile, kind: 'login' }],
    ]),
  );
  expect(samples).toHaveLength(13);
  for (const { name, type } of found) expect(type, name).toBe(name.endsWith('_total') ? 'COUNTER' : 'GAUGE');
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
