import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { CallLog, type LoggedCall } from '../../../src/store/machine/call-log.ts';
import { callIn, parsedCall, rollUpCalls } from '../../../src/store/machine/call-stats.ts';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand, ranIn } from '../command.ts';
import { failureOf } from '../failure.ts';
import { call } from './calls.ts';

const temporary = temporaryFolder();
const NOW = '2026-11-26T12:00:00.000Z';

type Line = Partial<LoggedCall>;

/** What the tests compute with; the rest they compare. */
const row = z.looseObject({
  ...{ period: z.string(), calls: z.number(), own: z.number() },
  ais: z.looseObject({ calls: z.number(), p50: z.number().nullable(), p95: z.number().nullable() }),
  ...{ secondsDown: z.number().nullable(), uptime: z.number().nullable() },
});
const printed = z.looseObject({
  ...{ rows: z.array(row), total: row, definitions: z.record(z.string(), z.string()) },
  published: z.array(z.looseObject({ ours: z.number().nullable(), difference: z.number().nullable() })),
});

/** A log with these calls. */
function logWith(lines: readonly Line[]): StoreFolder {
  const folder = newConfigFolder(temporary);
  mkdirSync(folder.log, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder.log, 'calls.ndjson'), '', { mode: 0o600 });
  add(folder, 'calls.ndjson', lines);
  return folder;
}

function add({ log }: StoreFolder, name: string, lines: readonly Line[]): void {
  const usual = { host: 'bank.example', path: '/v1/accounts', route: '/v1/accounts', kind: 'ais' } as const;
  const text = lines.map((line) => JSON.stringify(call({ ...usual, milliseconds: 100, ...line })));
  appendFileSync(join(log, name), text.map((line) => `${line}\n`).join(''), { mode: 0o600 });
}

async function stats(folder: StoreFolder, ...words: string[]) {
  return printed.parse((await ranIn(openCommand(folder, NOW), 'log', 'stats', ...words)).data);
}

/** Calls of a day, a second apart, of every kind of outcome: from a small generator, so that the test counts them itself. */
function mixed(day: string, count: number): Line[] {
  let seed = 7;
  const next = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % below;
  };
  const outcomes: Line[] = [
    {},
    {},
    { status: 503 },
    { status: null, failure: 'it did not answer within 30 s', milliseconds: 30_001 },
    { status: 404 },
    { status: 429 },
    { status: null, failure: 'it is the machine', failureKind: 'own' },
    { status: null, failure: 'it is the answer', failureKind: 'unusable' },
    { kind: 'pis' },
    { kind: 'auth', status: 500 },
  ];
  return Array.from({ length: count }, (_, index) => ({
    at: new Date(Date.parse(`${day}T08:00:00.000Z`) + index * 1000).toISOString(),
    milliseconds: 20 + next(900),
    ...outcomes[next(outcomes.length)],
  }));
}

describe('psd2 log stats', () => {
  it('counts what a second implementation of the definitions counts', async () => {
    const lines = mixed('2026-11-25', 3_000);
    const { rows, definitions } = await stats(logWith(lines), '--since', '2026-11-25');
    const [day] = rows;
    const own = lines.filter(({ failureKind }) => failureKind === 'own');
    const calls = lines.filter((line) => !own.includes(line));
    const of = (is: (line: Line) => boolean) => calls.filter(is).length;
    const noReply = of(({ failure }) => failure?.includes('30 s') === true);
    const serverErrors = of(({ status }) => (status ?? 0) >= 500);
    const unusable = of(({ failureKind }) => failureKind === 'unusable');
    const ais = calls
      .filter(({ kind = 'ais', failure }) => kind === 'ais' && failure?.includes('30 s') !== true)
      .map(({ milliseconds = 0 }) => milliseconds);
    expect(day).toMatchObject({
      ...{ period: '2026-11-25', calls: calls.length, own: own.length, noReply, serverErrors, unusable },
      clientErrors: of(({ status }) => status === 404),
      limited: of(({ status }) => status === 429),
      errors: noReply + serverErrors + unusable,
      errorRate: Math.round(((noReply + serverErrors + unusable) / calls.length) * 100_000) / 1000,
      few: false,
    });
    const sorted = ais.toSorted((one, other) => one - other);
    expect(day?.ais.mean).toBe(Math.round(ais.reduce((sum, each) => sum + each, 0) / ais.length));
    expect(day?.ais.max).toBe(sorted.at(-1));
    for (const [share, found] of [
      [0.5, day?.ais.p50],
      [0.95, day?.ais.p95],
    ] as const) {
      const exact = sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
      // A class of times is a third wide.
      expect((found ?? 0) / exact).toBeGreaterThanOrEqual(1);
      expect((found ?? 0) / exact).toBeLessThan(1.35);
    }
    expect(Object.keys(definitions)).toEqual(['requests', 'errorRate', 'mean', 'downtime', 'uptime']);
  });

  it('counts an answer that psd2 could not use as an error of the call that it belongs to, also once the day was counted', async () => {
    const folder = newConfigFolder(temporary);
    const log = new CallLog(folder.log);
    const calls = [22, 40, 60].map((milliseconds, index) =>
      call({
        ...{ at: `2026-11-25T10:00:0${index}.000Z`, milliseconds, tppRequestId: `q${index}` },
        ...{ host: 'bank.example', path: '/v1/accounts', route: '/v1/accounts', kind: 'ais' },
      }),
    );
    for (const each of calls) log.append(each);
    log.appendUnusable(call({ ...calls[1] }));
    log.close();
    const counted = async () => {
      const { rows } = await stats(folder, '--since', '2026-11-25');
      return rows.map(({ period, calls: count, unusable, errors, errorRate, ais }) => [
        ...[period, count, unusable, errors, errorRate],
        ...[ais.calls, ais.mean],
      ]);
    };
    const expected = [['2026-11-25', 3, 1, 1, 33.333, 3, 41]];
    expect(await counted()).toEqual(expected);
    await rollUpCalls(folder, new Date(NOW));
    rmSync(join(folder.log, 'calls.ndjson'));
    expect(await counted()).toEqual(expected);
  });

  const late = { status: null, failure: 'it did not answer within 30 s', milliseconds: 30_000 };
  const at = (minute: number, day = '25') => `2026-11-${day}T10:${String(minute).padStart(2, '0')}:00.000Z`;
  const row5 = (...minutes: number[]): Line[] => minutes.map((minute) => ({ at: at(minute), ...late }));

  const ok = (minute: number, more: Line = {}): Line => ({ at: at(minute), ...more });
  const broken = [...row5(0, 1, 2), ok(3, { status: 503 }), ...row5(4, 5), ok(6)];
  const consents = [...row5(0, 1, 2, 3), ok(3, { kind: 'consent' }), ...row5(4), ok(6)];
  it.each<[string, Line[], string[], number]>([
    ['five in a row, until the next answer', [...row5(0, 1, 2, 3, 4), ok(7)], [], 420],
    ['four in a row', [...row5(0, 1, 2, 3), ok(4)], [], 0],
    ['five with a reply between them', [...row5(0, 1), ok(2), ...row5(3, 4, 5), ok(6)], [], 0],
    ['a 5xx, which is a reply', broken, [], 0],
    ['a 5xx, if the operator counts it', broken, ['--down-5xx'], 360],
    ['five in parallel', [...row5(0, 0, 0, 0, 0), ok(2)], [], 120],
    ['consents between them, which do not count', consents, [], 360],
    ['lines that are not in order', [ok(7), ...row5(4, 2, 0, 3, 1)], [], 420],
  ])('after %s the bank was down as long as the law says', async (_, lines, options, seconds) => {
    const { rows } = await stats(logWith(lines), '--since', '2026-11-25', ...options);
    expect(rows[0]).toMatchObject({ secondsDown: seconds, few: true });
    expect(rows[0]?.uptime).toBeCloseTo(100 - seconds / 864, 2);
  });

  it('cuts downtime at midnight in Rome', async () => {
    const before = [50, 52, 54, 56, 58].map((minute) => ({ at: `2026-11-24T22:${minute}:00.000Z`, ...late }));
    const folder = logWith([...before, { at: '2026-11-24T23:10:00.000Z' }]);
    const down = async () =>
      (await stats(folder, '--since', '2026-11-24')).rows.map(
        (each) => `${each.period}: ${each.secondsDown}`,
      );
    const expected = ['2026-11-24: 600', '2026-11-25: 600'];
    expect(await down()).toEqual(expected);
    for (const day of ['2026-11-25', '2026-11-26'])
      await rollUpCalls(folder, new Date(`${day}T12:00:00.000Z`));
    expect(await down()).toEqual(expected);
    rmSync(join(folder.log, 'calls.ndjson'));
    expect(await down()).toEqual(expected);
  });

  it('counts days and hours of the bank, whatever the zone of this machine', async () => {
    vi.stubEnv('TZ', 'Asia/Tokyo');
    const folder = logWith([
      { at: '2026-11-24T22:59:59.000Z' },
      { at: '2026-11-24T23:10:00.000Z' },
      { at: '2026-11-25T22:59:59.000Z' },
    ]);
    const periods = async (...words: string[]) =>
      (await stats(folder, ...words)).rows.map(({ period, calls }) => `${period}: ${calls}`);
    expect(await periods('--since', '2026-11-25')).toEqual(['2026-11-25: 2']);
    expect(await periods('--until', '2026-11-24')).toEqual(['2026-11-24: 1']);
    const hours = ['2026-11-24 23: 1', '2026-11-25 00: 1', '2026-11-25 23: 1'];
    expect(await periods('--by', 'hour')).toEqual(hours);
    const wrong = await failureOf(stats(folder, '--since', '2026-11-25', '--until', '2026-11-24'));
    expect(wrong).toMatchObject({ code: 'invalid_date', exitCode: 2 });
    vi.unstubAllEnvs();
  });

  it('adds the calls and the daily counts of other machines, and refuses a file that has neither', async () => {
    const folder = logWith([{ at: at(0) }]);
    const other = logWith([{ at: at(1) }]);
    const old = 'calls-2026-11-24T100000.000Z-1.ndjson';
    add(other, old, mixed('2026-11-24', 100));
    await rollUpCalls(other, new Date(NOW));
    rmSync(join(other.log, old));
    // A full disk has cut a line short.
    appendFileSync(other.stats, '{"day":"2026-11-24","prof\n{"profile":"env"}\n');
    const calls = join(other.log, 'calls.ndjson');
    const { rows } = await stats(folder, '--files', calls, '--files', other.stats);
    const counts = rows.map(({ period, calls: count, own }) => `${period}: ${count + own}`);
    expect(counts).toEqual(['2026-11-24: 100', '2026-11-25: 2']);
    writeFileSync(join(folder.root, 'notes'), 'no calls\n');
    for (const [name, code, says] of [
      ['nowhere', 'usage', 'does not exist'],
      ['notes', 'config', 'has neither calls nor daily counts'],
      ['log', 'config', 'is a folder'],
    ] as const)
      expect(await failureOf(stats(folder, '--files', join(folder.root, name)))).toMatchObject({
        ...{ code, message: expect.stringContaining(says) },
      });
  });

  it('counts each call once, whatever the log has lost, and wherever the counting was killed', async () => {
    const folder = logWith(mixed('2026-11-26', 50));
    const file = (name: string) => join(folder.log, `calls-2026-11-${name}-1.ndjson`);
    add(folder, basename(file('24T100000.000Z')), mixed('2026-11-24', 300));
    add(folder, basename(file('25T100000.000Z')), mixed('2026-11-25', 300));
    const part = file('26T080000.000Z');
    add(folder, basename(part), mixed('2026-11-26', 300));
    const rows = async () => (await stats(folder, '--since', '2026-11-20', '--until', '2026-11-26')).rows;
    const before = await rows();
    expect(before).toHaveLength(3);
    const same = async (what: string) => expect(await rows(), what).toEqual(before);
    await rollUpCalls(folder, new Date(NOW));
    await same('counted');
    await rollUpCalls(folder, new Date(NOW));
    await same('counted again');
    rmSync(file('24T100000.000Z'));
    await same('a day is gone');
    // The log is full: it keeps no longer what was before the newest 40 MiB.
    const copy = readFileSync(part);
    const filled = `${' '.repeat(1024 ** 2)}\n`.repeat(21);
    for (const name of ['26T090000.000Z', '26T100000.000Z'])
      writeFileSync(file(name), filled, { mode: 0o600 });
    await rollUpCalls(folder, new Date(NOW));
    expect([existsSync(part), existsSync(file('26T100000.000Z'))]).toEqual([false, true]);
    await same('a part of the day is gone');
    writeFileSync(part, copy, { mode: 0o600 });
    await same('it was killed before it removed that part');
    await rollUpCalls(folder, new Date('2026-11-27T12:00:00.000Z'));
    expect(existsSync(part)).toBe(false);
    await same('the next one has removed it');
    for (const name of readdirSync(folder.log)) if (name.startsWith('calls')) rmSync(join(folder.log, name));
    await same('all calls are gone');
    expect(readFileSync(folder.stats, 'utf8')).not.toMatch(/tppRequestId|transactionId/);
    await rollUpCalls(folder, new Date('2029-03-01T12:00:00.000Z'));
    expect(readFileSync(folder.stats, 'utf8')).toBe('');
  });

  // In the order in which psd2 writes the fields.
  const whole = {
    ...{ at: at(0), profile: 'env', host: 'bank.example:8443', method: 'GET', path: '/v1/accounts/Ä-1' },
    ...{ status: 200, failure: null, milliseconds: 0, tppRequestId: 'q', transactionId: 't', requestId: 'r' },
    ...{ apiTrackId: null, flow: 'tr-1', connectMs: 7, firstByteMs: 9, route: '/v1/{id}', kind: 'ais' },
  };
  const line = JSON.stringify(whole);

  const neverLeft = line.replace(
    '"flow":"tr-1"',
    '"flow":null,"neverLeft":true,"irrevocable":true,"begun":"p"',
  );
  const ours = line
    .replace('"status":200,"failure":null', '"status":null,"failure":"x"')
    .replace('"connectMs"', '"customer":"anna","failureKind":"own","connectMs"');
  const inside = JSON.stringify({ ...whole, flow: '","run":"sm-1' });
  it.each<[string, string, 'usual' | 'parsed']>([
    ['an answered call', line, 'usual'],
    ['a call of a run', JSON.stringify({ ...whole, run: 'sm-1' }), 'usual'],
    ['a call that never left', neverLeft, 'usual'],
    ['a call of which psd2 says whose the failure is', ours, 'usual'],
    ['a field of a later psd2', line.replace('"route"', '"later":"x","route"'), 'usual'],
    ['a text that JSON escapes', JSON.stringify({ ...whole, path: '/"\\\n' }), 'parsed'],
    ['a field of its own that looks like another', inside, 'parsed'],
    ['a field twice', line.replace('"flow"', '"status":500,"flow"'), 'parsed'],
    ['a number with a fraction', JSON.stringify({ ...whole, milliseconds: 1.5 }), 'parsed'],
    ['a line after the beginning of another', line.slice(0, 90) + line, 'parsed'],
    ['a line that was cut short', line.slice(0, -1), 'parsed'],
    ['a raw control character', line.replace('/v1/', '/v1\t/'), 'parsed'],
    ['no line', 'x', 'parsed'],
  ])('reads %s as JSON.parse does', (_name, text, how) => {
    const parse = vi.spyOn(JSON, 'parse');
    const read = callIn(text);
    expect(parse).toHaveBeenCalledTimes(how === 'usual' ? 0 : 1);
    parse.mockRestore();
    expect(read).toEqual(parsedCall(text));
  });

  it('reads lines across the pieces of a file, and a last one without an end', async () => {
    const lines = mixed('2026-11-25', 2_000).map((each, index) => ({ ...each, run: 'ä'.repeat(index % 97) }));
    const folder = logWith(lines);
    const path = join(folder.log, 'calls.ndjson');
    expect(readFileSync(path).length).toBeGreaterThan(600_000);
    writeFileSync(path, readFileSync(path, 'utf8').trimEnd());
    const { total } = await stats(folder, '--since', '2026-11-25');
    expect(total.calls + total.own).toBe(2_000);
  });

  it('leaves out the calls of psd2 smoke, or shows them alone', async () => {
    const folder = logWith([{ at: at(0), run: 'sm-1' }, { at: at(1) }, { at: at(2), run: 'mine' }]);
    const count = async (...words: string[]) =>
      (await stats(folder, '--since', '2026-11-25', ...words)).total.calls;
    expect([await count(), await count('--exclude-smoke'), await count('--only-smoke')]).toEqual([3, 2, 1]);
  });

  it('is a table with units, and the figures of the bank are below it', async () => {
    const folder = logWith([
      ...mixed('2026-11-24', 80),
      ...row5(0, 1, 2, 3, 4),
      ...[{ at: at(7) }, { at: at(8), kind: 'pis' as const }, { at: at(9), kind: 'piis' as const }],
    ]);
    const csv = join(folder.root, 'bank.csv');
    const figures = [
      '2026-11-25,ais,uptime_pct,100',
      '2026-11-25,,error_rate_pct,1.5',
      '2026-11-01,ais,mean_ms,80',
    ];
    writeFileSync(csv, `date,service,metric,value\n${figures.join('\n')}\n`);
    const shown = async (columns?: number) => {
      const how = { format: 'table' as const, ...(columns !== undefined && { columns }) };
      const words = ['log', 'stats', '--since', '2026-11-24', '--published', csv];
      const { printed, said } = await ranIn(openCommand(folder, NOW, how), ...words);
      return { lines: printed.split('\n').map((line) => line.trimEnd()), said };
    };
    const { lines, said } = await shown();
    expect(lines.join('\n')).toMatchInlineSnapshot(`
      "2026-11-24	61	0	17	17	27.87 %	445 ms	465	896	326 ms		0 s	100.00 %
      2026-11-25	8	5	0	5	62.50 %	100 ms	100	100	100 ms	100 ms	420 s	(few calls)
      2026-11-25	ais	uptime_pct	100	99.514	-0.486
      2026-11-25		error_rate_pct	1.5	62.5	61
      2026-11-01	ais	mean_ms	80
      "
    `);
    expect(said).toMatchInlineSnapshot(`
      "Calls to bank.example, this machine's, days in Europe/Rome, 2026-11-24 to 2026-11-26
      Measured here, with network and connection; a bank measures from the last byte received to the last byte sent.
      The log is whole from 2026-11-24T08:00:00.000Z. Before, the daily counts are known.
      "
    `);
    expect((await shown(200)).lines.join('\n')).toMatchInlineSnapshot(`
      "DATE        CALLS  NO REPLY  5XX  ERRORS     RATE  AIS MEAN  P50  P95  PIS MEAN  FUNDS MEAN   DOWN     UPTIME ≥
      2026-11-24     61         0   17      17  27.87 %    445 ms  465  896    326 ms                0 s     100.00 %
      2026-11-25      8         5    0       5  62.50 %    100 ms  100  100    100 ms      100 ms  420 s  (few calls)
      DATE        SERVICE  METRIC          THEIRS    OURS  DIFFERENCE
      2026-11-25  ais      uptime_pct         100  99.514      -0.486
      2026-11-25           error_rate_pct     1.5    62.5          61
      2026-11-01  ais      mean_ms             80
      "
    `);
  });

  it("shows the bank's own figures beside these, and ends with 12 below a target", async () => {
    const folder = logWith([...row5(0, 1, 2, 3, 4), { at: at(7) }]);
    const csv = join(folder.root, 'bank.csv');
    writeFileSync(
      csv,
      'date,service,metric,value\n2026-11-25,ais,uptime_pct,100\n2026-11-25,ais,mean_ms,80\n2026-11-01,ais,mean_ms,80\n2026-11-25,FCS,mean_ms,80\n2026-11-25,common,mean_ms,80\n',
    );
    const { published } = await stats(folder, '--since', '2026-11-25', '--published', csv);
    expect(published.map(({ ours, difference }) => [ours, difference])).toEqual([
      [99.514, -0.486],
      [100, 20],
      ...[0, 1, 2].map(() => [null, null]),
    ]);
    const failed = async (...words: string[]) => failureOf(stats(folder, '--since', '2026-11-25', ...words));
    expect(await failed('--fail-below', '99.9')).toMatchObject({ code: 'below_target', exitCode: 12 });
    expect(await failed('--fail-above-rate', '0.5%')).toMatchObject({ code: 'below_target', exitCode: 12 });
    await stats(folder, '--since', '2026-11-25', '--fail-below', '99.5', '--fail-above-rate', '90');
    expect(await failed('--quarter', '2026Q5')).toMatchObject({ exitCode: 2 });
    expect(await failed('--only-smoke', '--exclude-smoke')).toMatchObject({ code: 'usage', exitCode: 2 });
    const head = 'date,service,metric,value\n';
    const [day, metric] = ['25/11/2026,ais,mean_ms,80', '2026-11-25,ais,p95,80'];
    for (const wrong of ['', 'day,value\n', `${head}${day}\n`, `${head}${metric}\n`]) {
      writeFileSync(csv, wrong);
      expect(await failed('--published', csv), wrong).toMatchObject({ code: 'usage', exitCode: 2 });
    }
    expect((await stats(folder, '--quarter', '2026Q4')).total.calls).toBe(6);
  });
});
