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
import { addDays, parseDate } from '../../../src/domain/calendar.ts';
import { REPLY_MS } from '../../../src/smoke/stats.ts';
import { CallLog, type LoggedCall } from '../../../src/store/machine/call-log.ts';
import { callIn, parsedCall, rollUpCalls } from '../../../src/store/machine/call-stats.ts';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { cellsIn, type How, openCommand, ranIn, runIn } from '../command.ts';
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

  it('keeps downtime over midnight as long as it is known, also if it was counted before its end', async () => {
    const before = [50, 52, 54, 56, 58].map((minute) => ({ at: `2026-11-24T22:${minute}:00.000Z`, ...late }));
    const folder = logWith(before);
    const down = async () =>
      (await stats(folder, '--since', '2026-11-24')).rows.map(
        (each) => `${each.period}: ${each.secondsDown}`,
      );
    await rollUpCalls(folder, new Date('2026-11-24T23:05:00.000Z'));
    expect(await down()).toEqual(['2026-11-24: 480']);
    add(folder, 'calls.ndjson', [{ at: '2026-11-24T23:10:00.000Z' }]);
    await rollUpCalls(folder, new Date('2026-11-26T12:00:00.000Z'));
    rmSync(join(folder.log, 'calls.ndjson'));
    expect(await down()).toEqual(['2026-11-24: 600', '2026-11-25: 600']);
  });

  it('keeps downtime over midnight of which the day before was counted alone', async () => {
    const unanswered = (...times: string[]) =>
      times.map((time) => ({ at: `2026-11-24T${time}:00.000Z`, ...late }));
    const folder = logWith(unanswered('22:54', '22:56', '22:58'));
    await rollUpCalls(folder, new Date('2026-11-25T12:00:00.000Z'));
    add(folder, 'calls.ndjson', [
      ...unanswered('23:02', '23:04', '23:06'),
      { at: '2026-11-24T23:10:00.000Z' },
    ]);
    await rollUpCalls(folder, new Date('2026-11-26T12:00:00.000Z'));
    rmSync(join(folder.log, 'calls.ndjson'));
    const { rows } = await stats(folder, '--since', '2026-11-24');
    expect(rows.map((each) => `${each.period}: ${each.secondsDown}`)).toEqual([
      '2026-11-24: 360',
      '2026-11-25: 600',
    ]);
  });

  it.each([
    ['2029-02-01', ['2026-11-24: 300', '2026-11-25: 300']],
    ['2029-02-02', ['2026-11-25: 300']],
    ['2029-02-03', []],
  ])('keeps the counts of a day for 800 days: on %s it has %j', async (today, kept) => {
    const downAt = (day: string) =>
      row5(0, 1, 2, 3, 4).map((each) => ({ ...each, at: each.at?.replace('25T', `${day}T`) ?? '' }));
    const folder = logWith([...downAt('24'), { at: at(5, '24') }, ...downAt('25'), ok(5)]);
    await rollUpCalls(folder, new Date(NOW));
    rmSync(join(folder.log, 'calls.ndjson'));
    await rollUpCalls(folder, new Date(`${today}T22:00:00.000Z`));
    const { rows } = await stats(folder, '--since', '2026-11-20');
    expect(rows.map((each) => `${each.period}: ${each.secondsDown}`)).toEqual(kept);
  });

  it.each([
    ['2026Q1', '2026-01-01', '2026-03-31'],
    ['2026Q2', '2026-04-01', '2026-06-30'],
    ['2026Q3', '2026-07-01', '2026-09-30'],
    ['2026Q4', '2026-10-01', '2026-12-31'],
  ])('the quarter %s is from %s to %s', async (quarter, first, last) => {
    const days = [addDays(parseDate('first', first), -1), first, last, addDays(parseDate('last', last), 1)];
    const folder = logWith(days.map((day) => ({ at: `${day}T10:00:00.000Z` })));
    const { rows, from, to } = await stats(folder, '--quarter', quarter);
    expect([from, to, rows.map(({ period }) => period)]).toEqual([first, last, [first, last]]);
  });

  it('the total has the downtime of all days, and the uptime of as many days', async () => {
    const folder = logWith([{ at: at(0, '24') }, ...row5(0, 1, 2, 3, 4), ok(7)]);
    const totalOf = async (...words: string[]) => {
      const { secondsDown, uptime } = (await stats(folder, ...words)).total;
      return [secondsDown, uptime];
    };
    const [one, two] = [
      ['--since', '2026-11-25'],
      ['--since', '2026-11-24'],
    ];
    expect(await totalOf(...one)).toEqual([420, 99.514]);
    expect(await totalOf(...two)).toEqual([420, 99.757]);
    expect(await totalOf(...two, '--by', 'hour')).toEqual([null, null]);
    const target = ['--fail-below', '99.7'];
    expect(await failureOf(stats(folder, ...one, ...target))).toMatchObject({ code: 'below_target' });
    expect(await totalOf(...two, ...target)).toEqual([420, 99.757]);
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
    const right = '2026-11-25,ais,mean_ms,80\n';
    for (const [wrong, says] of [
      ['', 'does not begin with'],
      ['day,value\n', 'does not begin with'],
      [`${head}${day}\n`, 'Line 2 of'],
      [`${head}${right}\n${metric}\n`, 'Line 4 of'],
    ] as const) {
      writeFileSync(csv, wrong);
      const message = expect.stringContaining(says);
      expect(await failed('--published', csv), wrong).toMatchObject({ code: 'usage', exitCode: 2, message });
    }
    expect((await stats(folder, '--quarter', '2026Q4')).total.calls).toBe(6);
  });
});

/** What psd2 log stats prints as JSON, whole. */
async function statsAs(folder: StoreFolder, words: string[], how: How = {}) {
  const figures = z.looseObject({ calls: z.int(), secondsDown: z.number().nullable() });
  const kinds = z.looseObject({ calls: z.int(), mean: z.int().nullable(), max: z.int().nullable() });
  const shape = z.looseObject({
    ...{ from: z.string(), to: z.string(), hosts: z.array(z.string()), notes: z.array(z.string()) },
    ...{ longestGapSeconds: z.int(), logFrom: z.string().nullable(), timeZone: z.string() },
    rows: z.array(figures.extend({ period: z.string(), ais: kinds, pis: kinds, piis: kinds })),
    total: figures.extend({ uptime: z.number().nullable(), errorRate: z.number().nullable(), ais: kinds }),
    published: z.array(z.unknown()),
  });
  return shape.parse((await ranIn(openCommand(folder, NOW, how), 'log', 'stats', ...words)).data);
}

describe('the days of psd2 log stats', () => {
  const noonOf = (day: string, days = 0) =>
    new Date(Date.parse(`${day}T11:00:00.000Z`) + days * 86_400_000).toISOString();
  it.each([
    ['', '2026-10-27', '2026-11-26'],
    ['--until 2026-11-01', '2026-10-02', '2026-11-01'],
    ['--since 7d', '2026-11-19', '2026-11-26'],
    ['--since 2026-11-26', '2026-11-26', '2026-11-26'],
    ['--since 2026-11-20 --until 2026-11-24', '2026-11-20', '2026-11-24'],
    ['--quarter 2026Q1', '2026-01-01', '2026-03-31'],
    ['--quarter 2026Q2', '2026-04-01', '2026-06-30'],
    ['--quarter 2026Q3', '2026-07-01', '2026-09-30'],
    ['--quarter 2026Q4', '2026-10-01', '2026-12-31'],
    ['--quarter 2025Q4', '2025-10-01', '2025-12-31'],
  ])('%j is from %s to %s', async (words, from, to) => {
    const days = [noonOf(from, -1), noonOf(from), noonOf(to), noonOf(to, 1)];
    const data = await statsAs(logWith(days.map((at) => ({ at }))), words.split(' ').filter(Boolean));
    expect([data.from, data.to, data.total.calls]).toEqual([from, to, 2]);
  });

  const QUARTER = 'is not a quarter, or stands beside --since or --until';
  it.each<[string, string, string, string?]>([
    ...['2026Q0', '2026Q5', '26Q1', '2026Q11', '2026-Q1', '2026q1'].map(
      (quarter): [string, string, string, string] => [
        ...([`--quarter ${quarter}`, 'usage', `--quarter "${quarter}" ${QUARTER}`] as const),
        'For example --quarter 2026Q4.',
      ],
    ),
    [
      '--quarter 2026Q4 --since 1d',
      'usage',
      `--quarter "2026Q4" ${QUARTER}`,
      'For example --quarter 2026Q4.',
    ],
    [
      ...(['--quarter 2026Q4 --until 2026-12-01', 'usage', `--quarter "2026Q4" ${QUARTER}`] as const),
      'For example --quarter 2026Q4.',
    ],
    [
      '--since 2026-11-25 --until 2026-11-24',
      'invalid_date',
      '--since 2026-11-25 is after --until 2026-11-24',
    ],
    [
      ...(['--until 24.11.2026', 'invalid_date'] as const),
      '--until "24.11.2026" is not a date in the form YYYY-MM-DD',
      'For example --until 2026-01-31.',
    ],
    [
      ...(['--exclude-smoke --only-smoke', 'usage'] as const),
      '--exclude-smoke and --only-smoke cannot be used together',
      'Choose one.',
    ],
    ...['--fail-below', '--fail-above-rate'].flatMap((option) =>
      ['100.1', '101', '1000', '-1', '.5', '5.', '5%%', 'most'].map(
        (text): [string, string, string, string] => [
          ...([`${option} ${text}`, 'usage', `${option} "${text}" is not a percentage`] as const),
          'For example 99.5.',
        ],
      ),
    ),
  ])('%s is refused', async (words, code, message, hint) => {
    const failure = await failureOf(stats(logWith([]), ...words.split(' ')));
    expect(failure).toEqual({ code, exitCode: 2, message, ...(hint !== undefined && { hint }) });
  });
});

describe('the figures of psd2 log stats', () => {
  const at = (minute: number, hour = '10') => `2026-11-25T${hour}:${String(minute).padStart(2, '0')}:00.000Z`;
  const lost = { status: null, failure: 'it did not answer within 30 s', milliseconds: 30_000 };
  /** Down from 10:00 until 10:07, and five of its six calls without a reply. */
  const DOWN: Line[] = [...[0, 1, 2, 3, 4].map((minute) => ({ at: at(minute), ...lost })), { at: at(7) }];
  const KINDS = ['ais', 'pis', 'piis', 'consent', 'auth', 'other'] as const;
  /** A call of each kind, each longer than the one before. */
  const EACH: Line[] = KINDS.map((kind, index) => ({
    ...{ at: at(index), kind, milliseconds: 100 * (index + 1), route: `/${9 - index}` },
  }));

  it.each<[string, string[], string | null]>([
    ['an uptime of as much', ['--fail-below', '99.514'], null],
    ['a lower one', ['--fail-below', '99.515'], 'The uptime is 99.514 %, below 99.515 %'],
    ['100 %', ['--fail-below', '100%'], 'The uptime is 99.514 %, below 100 %'],
    ['nothing', ['--fail-below', '0', '--fail-above-rate', '100'], null],
    ['an error rate of as much', ['--fail-above-rate', '83.333'], null],
    ['a higher one', ['--fail-above-rate', '83.332'], 'The error rate is 83.333 %, above 83.332 %'],
    ['what hours do not have', ['--by', 'hour', '--fail-below', '100'], null],
  ])('with a limit, %s ends psd2 so', async (_, words, message) => {
    const command = openCommand(logWith(DOWN), NOW);
    const run = runIn(command.context, 'log', 'stats', ...words);
    if (message === null) await run;
    else expect(await failureOf(run)).toEqual({ code: 'below_target', exitCode: 12, message });
    // The figures come first.
    expect(JSON.parse(command.printed())).toMatchObject({ total: { calls: 6 } });
  });

  it.each([
    ['requests', /^each attempt, as the log of calls of this machine has it$/],
    ['errorRate', /5xx.*without a reply.*could not use.*of all requests \(EBA\/GL\/2018\/07, 2\.3 d\)$/],
    ['mean', /^mean time of the answered requests of the kind.*\(EBA\/GL\/2018\/07, 2\.3 a to c\)$/],
    // The tests of downtime show that five count, and four do not.
    ['downtime', /^at least five consecutive requests \(AIS, PIS, funds\).*article 33 \(1\).*2\.4\)/],
    [
      'downtime',
      new RegExp(`without a reply within ${REPLY_MS / 1000} seconds, in the order of their sending`),
    ],
    [
      'downtime',
      /from the sending of the first to the sending of the first that was answered.*5xx is a reply$/,
    ],
    ['uptime', /^100 % minus the seconds down in percent of 86 400; a bound: only this machine asked$/],
  ])('the definition of %s says what is counted: %s', async (name, words) => {
    expect((await stats(logWith([]))).definitions[name]).toMatch(words);
  });

  it('without a call there is nothing to fail, and no figure', async () => {
    const nothing = await statsAs(logWith([]), ['--fail-below', '100', '--fail-above-rate', '0']);
    expect(nothing).toMatchObject({ hosts: [], rows: [], logFrom: null, longestGapSeconds: 0 });
    expect(nothing.total).toMatchObject({ secondsDown: null, uptime: null, errorRate: null });
    const { printed, said } = await ranIn(openCommand(logWith([]), NOW, { format: 'table' }), 'log', 'stats');
    expect(printed).toBe('');
    expect(said.split('\n')).toEqual([
      "Calls to no bank, this machine's, days in Europe/Rome, 2026-10-27 to 2026-11-26",
      'No call in the log matches.',
      expect.stringMatching(/^Measured here/),
      '',
    ]);
  });

  it.each(KINDS.slice(0, -1))('--kind %s counts these calls alone', async (kind) => {
    const { rows, total } = await statsAs(logWith(EACH), ['--kind', kind]);
    const means = rows.map((row) => [row.calls, row.ais.mean, row.pis.mean, row.piis.mean]);
    const time = (of: string, mean: number) => (of === kind ? mean : null);
    expect([total.calls, means]).toEqual([1, [[1, time('ais', 100), time('pis', 200), time('piis', 300)]]]);
  });

  it('the times are those of their kind, with --times-with-consents those of AIS and consents', async () => {
    const { rows } = await statsAs(logWith(EACH), []);
    expect(rows.map((row) => [row.calls, row.ais, row.pis, row.piis])).toMatchObject([
      [6, { calls: 1, mean: 100, max: 100 }, { calls: 1, mean: 200, max: 200 }, { calls: 1, mean: 300 }],
    ]);
    const both = await statsAs(logWith(EACH), ['--times-with-consents']);
    expect(both.total.ais).toMatchObject({ calls: 2, mean: 250, max: 400 });
  });

  it('--by route has a row for each, in their order, and only days have a downtime', async () => {
    const { rows, total } = await statsAs(logWith([...EACH, ...DOWN]), ['--by', 'route']);
    expect(rows.map(({ period, calls }) => `${period} ${calls}`)).toEqual([
      ...['/4 1', '/5 1', '/6 1', '/7 1', '/8 1', '/9 1', '/v1/accounts 6'].map((each) => `GET ${each}`),
    ]);
    expect([...rows, total].map(({ secondsDown }) => secondsDown)).toEqual(Array(8).fill(null));
    const days = await statsAs(logWith([...DOWN, { at: '2026-11-24T10:00:00.000Z' }]), []);
    expect([days.total.secondsDown, days.total.uptime]).toEqual([420, 99.757]);
  });

  it('counts the calls and the downtime of this profile alone, at all its hosts', async () => {
    const others = DOWN.map((line) => ({ ...line, profile: 'other', host: 'other.example' }));
    const own = [{ at: at(0) }, { at: at(30), host: 'second.example' }, { at: at(0, '12') }];
    const data = await statsAs(logWith([...others, ...own]), []);
    expect(data).toMatchObject({
      profile: 'env',
      timeZone: 'Europe/Rome',
      hosts: ['bank.example', 'second.example'],
    });
    expect(data.total).toMatchObject({ calls: 3, secondsDown: 0, uptime: 100 });
    expect([data.longestGapSeconds, data.logFrom]).toEqual([7200, at(0)]);
  });

  it('names the hosts of the calls that it counts, and no other one, also of days that the log has no more', async () => {
    const own = { host: 'own.example', at: at(0) };
    const folder = logWith([
      { ...own, host: 'earlier.example', at: '2026-11-24T10:00:00.000Z' },
      ...[own, { ...own, host: 'kind.example', kind: 'pis' as const }],
      { ...own, host: 'smoke.example', run: 'sm-1' },
      { ...own, host: 'other.example', profile: 'other' },
    ]);
    const hosts = async (...words: string[]) => (await statsAs(folder, words)).hosts.toSorted();
    const chosen = ['--since', '2026-11-25', '--kind', 'ais', '--exclude-smoke'];
    const check = async () => {
      expect(await hosts(...chosen)).toEqual(['own.example']);
      expect(await hosts()).toEqual(['earlier', 'kind', 'own', 'smoke'].map((name) => `${name}.example`));
    };
    await check();
    await rollUpCalls(folder, new Date(NOW));
    rmSync(join(folder.log, 'calls.ndjson'));
    await check();
  });

  const MEASURED =
    'Measured here, with network and connection; a bank measures from the last byte received to the last byte sent.';
  const SHORT =
    '--timeout is below 30 s, so the rule of 30 seconds cannot be applied: psd2 counts what did not answer until then.';
  const HOURS = 'Of days that the log has no more, only the whole days are known.';
  it.each([
    ['30', 'day', [MEASURED]],
    ['29.999', 'day', [MEASURED, SHORT]],
    ['30', 'route', [MEASURED]],
    ['5', 'hour', [MEASURED, SHORT, HOURS]],
  ])('with --timeout %s and --by %s, psd2 says what limits the figures', async (timeout, by, notes) => {
    expect((await statsAs(logWith(EACH), ['--by', by], { globals: { timeout } })).notes).toEqual(notes);
  });

  it.each([
    [49, '(few calls)'],
    [50, '100.00 %'],
  ])('%i calls a day: %s', async (count, shown) => {
    const lines = Array.from({ length: count }, (_, index) => ({ at: at(index) }));
    const { printed } = await ranIn(openCommand(logWith(lines), NOW, { format: 'table' }), 'log', 'stats');
    expect(cellsIn(printed).map((cells) => cells.at(-1))).toEqual([shown]);
  });

  it('--wide has two columns more, and each row is a line of ndjson', async () => {
    const folder = logWith([...EACH, { at: at(8), status: 404 }, { at: at(9), status: 429 }]);
    const titles = async (...words: string[]) => {
      const command = openCommand(folder, NOW, { format: 'table', columns: 250 });
      const { printed } = await ranIn(command, 'log', 'stats', ...words);
      return printed.split('\n').map((line) => line.trim().split(/ {2,}/));
    };
    const usual = ['DATE', 'CALLS', 'NO REPLY', '5XX', 'ERRORS', 'RATE', 'AIS MEAN', 'P50', 'P95'];
    const all = [...usual, 'PIS MEAN', 'FUNDS MEAN', 'DOWN', 'UPTIME ≥'];
    expect((await titles())[0]).toEqual(all);
    const [wide, values] = await titles('--wide');
    expect([wide, values?.slice(-2)]).toEqual([
      [...all, '4XX', '420/429'],
      ['1', '1'],
    ]);
    const command = openCommand(folder, NOW, { format: 'ndjson' });
    await runIn(command.context, 'log', 'stats', '--by', 'route');
    const period = z.looseObject({ period: z.string() });
    const lines = command.printed().trimEnd().split('\n');
    expect(lines.map((line) => period.parse(JSON.parse(line)).period)).toEqual([
      ...['/4', '/5', '/6', '/7', '/8', '/9', '/v1/accounts'].map((route) => `GET ${route}`),
    ]);
  });

  const HEAD = 'date,service,metric,value';
  const publish = (content: string) => {
    const folder = logWith([...EACH, { at: at(8), status: 503 }]);
    const csv = join(folder.root, 'bank.csv');
    writeFileSync(csv, content);
    return { folder, csv, words: ['--published', csv] };
  };
  const OF = (service: string, metric: string, value = '80') => `2026-11-25,${service},${metric},${value}`;
  it.each<[string, string, number, number | null, number | null]>([
    [OF('ais', 'mean_ms'), 'ais', 80, 100, 20],
    [OF('AIS', 'mean_ms'), 'AIS', 80, 100, 20],
    [OF('pis', 'mean_ms', '200'), 'pis', 200, 200, 0],
    ...['piis', 'funds', 'fcs', 'cof', 'cbpii', 'CoF'].map(
      (name): [string, string, number, number, number] => [
        OF(name, 'mean_ms', '300.5'),
        name,
        300.5,
        300,
        -0.5,
      ],
    ),
    [OF('', 'mean_ms'), '', 80, null, null],
    [OF('consent', 'mean_ms'), 'consent', 80, null, null],
    [OF('', 'error_rate_pct', '1.2342'), '', 1.2342, 14.286, 13.052],
    [OF('pis', 'uptime_pct', '99.9'), 'pis', 99.9, 100, 0.1],
    [OF('ais', 'uptime_pct', '-0.5'), 'ais', -0.5, 100, 100.5],
    [' 2026-11-25 , ais , mean_ms , 80 ,more', 'ais', 80, 100, 20],
    ['2026-11-24,ais,mean_ms,80', 'ais', 80, null, null],
  ])("beside the bank's %j are the figures from here", async (line, service, theirs, ours, difference) => {
    const [date = '', , metric = ''] = line.split(',').map((cell) => cell.trim());
    for (const content of [`${HEAD}\n${line}\n`, `date, service, metric, value\r\n\r\n${line}`]) {
      const { folder, words } = publish(content);
      const found = (await statsAs(folder, ['--by', 'day', ...words])).published;
      expect(found).toEqual([{ date, service, metric, theirs, ours, difference }]);
    }
  });

  const FORM = 'For example 2026-11-25,ais,mean_ms,180. The metrics are uptime_pct, error_rate_pct, mean_ms.';
  it.each([
    [''],
    ['25/11/2026,ais,mean_ms,80'],
    ['2026-02-30,ais,mean_ms,80'],
    ['2026-11-25,ais,p95,80'],
    ['2026-11-25,ais,,80'],
    ['2026-11-25,ais,mean_ms,'],
    ['2026-11-25,ais,mean_ms,fast'],
    ['2026-11-25,ais,mean_ms'],
    ['2026-11-25'],
  ])(
    'the line %j of the bank is refused by its number, and a file without a head as a whole',
    async (line) => {
      const { folder, csv, words } = publish(`${HEAD}\n${OF('ais', 'mean_ms')}\n${line}\n`);
      const refused = (message: string, hint: string) => ({ code: 'usage', exitCode: 2, message, hint });
      const wrong = refused(`Line 3 of ${csv} is not date,service,metric,value`, FORM);
      if (line !== '') expect(await failureOf(stats(folder, ...words))).toEqual(wrong);
      writeFileSync(csv, `${line}\n${HEAD}\n`);
      if (line !== '')
        expect(await failureOf(stats(folder, ...words))).toEqual(
          refused(`${csv} does not begin with ${HEAD}`, 'Write these names in its first line.'),
        );
      rmSync(csv);
      expect(await failureOf(stats(folder, ...words))).toEqual(
        refused(`The file ${csv} cannot be read`, 'Check its path.'),
      );
    },
  );
});
