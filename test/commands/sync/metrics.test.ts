import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import parse from 'parse-prometheus-text-format';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { replaceMetricsFile, writeMetrics } from '../../../src/commands/sync/metrics.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';

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
  const found = read(writeMetrics(METRICS));
  const valuesOf = (name: string) =>
    found.get(name)?.metrics.map(({ labels, value }) => [labels, Number(value)]);
  expect(valuesOf('psd2_sync_calls_total')).toEqual([[{ profile: 'bank' }, 120]]);
  expect(valuesOf('psd2_sync_errors_total')).toEqual([[{ profile: 'bank', code: 'sca_required' }, 2]]);
  expect(valuesOf('psd2_sync_customers_done_total')).toEqual([
    [{ profile: 'bank', status: 'synced' }, 10],
    [{ profile: 'bank', status: 'failed' }, 2],
  ]);
  expect(valuesOf('psd2_sync_customers_due')).toEqual([[{ profile: 'bank' }, 7]]);
  expect(valuesOf('psd2_sync_pace_wait_seconds_total')).toEqual([[{ profile: 'bank' }, 1.5]]);
  expect(valuesOf('psd2_sync_token_renewals_total')).toEqual([[{ profile: 'bank' }, 3]]);
  expect(valuesOf('psd2_sync_calls_by_result_total')).toEqual([
    [{ profile: 'bank', result: '2xx' }, 118],
    [{ profile: 'bank', result: 'none' }, 2],
  ]);
  expect(valuesOf('psd2_payments')).toEqual([[{ profile: 'bank', state: 'unknown' }, 1]]);
  expect(valuesOf('psd2_oldest_sync_age_seconds')).toEqual([[{ profile: 'bank' }, 3600]]);
  expect(valuesOf('psd2_ending')).toEqual([[{ profile: 'bank', kind: 'login' }, 4]]);
  for (const { name, type } of found.values())
    expect(type, name).toBe(name.endsWith('_total') ? 'COUNTER' : 'GAUGE');
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
  replaceMetricsFile(path, 'a 1\n');
  const before = statSync(path).ino;
  replaceMetricsFile(path, 'a 2\n');
  expect(readFileSync(path, 'utf8')).toBe('a 2\n');
  expect(statSync(path).ino).not.toBe(before);
  expect(statSync(path).mode & 0o777).toBe(0o644);
  expect(readdirSync(place)).toEqual(['psd2.prom']);
});

it('an unwritable path is a configuration error', () => {
  const place = join(folder, 'is-a-folder');
  mkdirSync(place);
  chmodSync(place, 0o755);
  for (const path of [place, join(folder, 'not-there', 'psd2.prom')])
    expect(() => replaceMetricsFile(path, 'a 1\n')).toThrow(
      expect.objectContaining({ code: 'config', message: expect.stringContaining(path) }),
    );
});
