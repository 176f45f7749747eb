import { readFileSync } from 'node:fs';
import { parse as readJunit } from 'junit2json';
import parseMetrics from 'parse-prometheus-text-format';
import { Parser } from 'tap-parser';
import { describe, expect, it } from 'vitest';
import { validateXML } from 'xmllint-wasm';
import * as z from 'zod';
import {
  nagiosCode,
  writeGithub,
  writeJunit,
  writeNagios,
  writeTap,
} from '../../src/smoke/reports/formats.ts';
import { writeMarkdown } from '../../src/smoke/reports/markdown.ts';
import { writePrometheus } from '../../src/smoke/reports/prometheus.ts';
import { publicRun } from '../../src/smoke/reports/public-run.ts';
import type { SmokeError, SmokeRun } from '../../src/smoke/result.ts';
import { STEP_IDS } from '../../src/smoke/steps.ts';
import { failure, HOSTILE, hostileRun, runWith } from './runs.ts';

const schema = readFileSync(new URL('./junit.xsd', import.meta.url), 'utf8');
const RUNS: [string, SmokeRun][] = [
  ['that passed', runWith()],
  ['with hostile texts', hostileRun()],
  [
    'whose settings are wrong',
    runWith({ settings: { status: 'fail', error: failure('No profile', { exitCode: 3 }) } }),
  ],
];

const families = z.array(
  z.object({
    name: z.string(),
    metrics: z.array(z.object({ value: z.string(), labels: z.record(z.string(), z.string()) })),
  }),
);
const readMetrics = (text: string) => families.parse(parseMetrics(text));

/** Reads TAP strictly: a line that is none fails. */
async function readTap(text: string) {
  const points: {
    ok: boolean;
    name: string;
    skip?: unknown;
    todo?: unknown;
    time?: number | null;
    diag?: Record<string, unknown>;
  }[] = [];
  const extra: string[] = [];
  const result = await new Promise<{ ok: boolean; plan: { end: number | null } }>((resolve) => {
    const parser = new Parser({ strict: true }, resolve);
    parser.on('assert', (point) => points.push(point));
    parser.on('extra', (line: string) => extra.push(line));
    parser.end(text);
  });
  return { points, extra, ...result };
}

describe.each(RUNS)('the reports of a run %s', (_, run) => {
  it('JUnit is valid by a schema with the rules of all its readers, and one of them reads it', async () => {
    const text = writeJunit(run);
    const judged = await validateXML({ xml: [{ fileName: 'smoke.xml', contents: text }], schema: [schema] });
    expect(judged.errors).toEqual([]);
    const read = await readJunit(text);
    const suite = read && 'testsuite' in read ? read.testsuite?.[0] : undefined;
    const cases = suite?.testcase ?? [];
    expect(cases.map(({ name }) => name)).toEqual(STEP_IDS);
    expect(new Set(cases.map(({ classname }) => classname))).toEqual(new Set([`psd2.${run.profile}`]));
    const with_ = (key: 'failure' | 'error' | 'skipped') => cases.filter((each) => each[key]).length;
    expect([suite?.failures, suite?.errors, suite?.skipped]).toEqual([
      with_('failure'),
      with_('error'),
      with_('skipped'),
    ]);
    for (const each of cases) expect(each.failure?.[0]?.inner?.length ?? 0).toBeLessThan(10_100);
  });

  it('TAP is read strictly, with a diagnosis for each step', async () => {
    const { points, extra, plan } = await readTap(writeTap(run));
    expect(extra).toEqual([]);
    expect(plan.end).toBe(14);
    expect(points.map(({ name }) => name)).toEqual(STEP_IDS);
    const statuses = run.steps.map(({ status }) => status);
    expect(points.map(({ ok }) => ok)).toEqual(
      statuses.map((status) => status !== 'fail' && status !== 'known'),
    );
    expect(points.map(({ skip }) => Boolean(skip))).toEqual(statuses.map((status) => status === 'skip'));
    expect(points.map(({ todo }) => Boolean(todo))).toEqual(statuses.map((status) => status === 'known'));
    expect(points.map(({ time }) => time)).toEqual(run.steps.map(({ milliseconds }) => milliseconds));
    expect(points.map(({ diag }) => diag?.code)).toEqual(run.steps.map(({ error }) => error?.code));
  });

  it('Prometheus gets every series, whatever happened', () => {
    const read = readMetrics(writePrometheus(run));
    const names = readMetrics(writePrometheus(runWith())).map(({ name, metrics }) => [name, metrics.length]);
    expect(read.map(({ name, metrics }) => [name, metrics.length])).toEqual(names);
    expect(names.map(([name]) => name)).toEqual(
      [
        ...['success', 'step_success', 'step_skipped', 'step_duration_seconds', 'duration_seconds'],
        ...['last_run_timestamp_seconds', 'last_success_timestamp_seconds', 'exit_code', 'drift_findings'],
        ...['certificate_expiry_timestamp_seconds', 'consent_expiry_timestamp_seconds', 'info'],
      ].map((name) => `psd2_smoke_${name}`),
    );
    const success = read.find(({ name }) => name === 'psd2_smoke_success')?.metrics[0];
    expect(success).toEqual({
      value: run.exitCode === 0 ? '1' : '0',
      labels: { profile: run.profile, interface: 'nextgenpsd2' },
    });
  });

  it('GitHub finds no command but ours, and reads our texts back', () => {
    const { commands, summary, outputs } = writeGithub(run, 'end-of-value');
    const lines = commands.split('\n').slice(0, -1);
    const failed = run.steps.filter(({ status }) => status === 'fail');
    const back = (text: string) =>
      text
        .replaceAll('%0D', '\r')
        .replaceAll('%0A', '\n')
        .replaceAll('%3A', ':')
        .replaceAll('%2C', ',')
        .replaceAll('%25', '%');
    const read = lines.map((line) => /^::(error|warning) title=([^:,]*)::(.*)$/s.exec(line)?.slice(1) ?? []);
    expect(read.filter(([kind]) => kind === 'error').map(([, title = '']) => back(title))).toEqual(
      failed.map(({ id }) => `psd2 smoke ${run.profile}: ${id}`),
    );
    for (const [index, { error }] of failed.entries())
      expect(back(read[index]?.[2] ?? '')).toContain(error?.message);
    expect(summary.split('\n').filter((line) => line.startsWith('| '))).toHaveLength(15);
    expect(outputs).toContain(
      `failed<<end-of-value\n${failed.map(({ id }) => id).join(',')}\nend-of-value\n`,
    );
  });

  it('Markdown has a row for each step, whatever its text is', () => {
    const rows = writeMarkdown(run)
      .split('\n')
      .filter((line) => line.startsWith('| '));
    expect(rows.slice(1).map((row) => /^\| (\S+) \|/.exec(row)?.[1])).toEqual(STEP_IDS);
    // A bar that is escaped separates nothing.
    for (const row of rows) expect(row.replace(/\\./g, '').split('|')).toHaveLength(6);
    expect(rows.join('')).not.toMatch(/<|@you|\p{Cc}/u);
  });

  it('a monitoring plugin gets one line, with performance data after its only bar', () => {
    const text = writeNagios(run, 2_000);
    expect(text.split('\n')).toHaveLength(2);
    const [says = '', performance = '', ...more] = text.split(' | ');
    expect(more).toEqual([]);
    expect(says).toMatch(/^(OK|WARNING|CRITICAL|UNKNOWN) psd2 smoke /);
    expect(performance).toMatch(/^('[a-z-]+'=[0-9.]+s;[0-9.]*;;0 ?)+\n$/);
  });
});

it('GitHub shows nine failed steps, and how many more there are', () => {
  const error = failure('no');
  const all = Object.fromEntries(STEP_IDS.map((id) => [id, { status: 'fail' as const, error }]));
  const lines = writeGithub(runWith(all), 'e').commands.trimEnd().split('\n');
  expect(lines).toHaveLength(10);
  expect(lines.at(-1)).toBe('::error::and 5 more');
});

it.each([
  [0, 'pass', 0],
  [0, 'warn', 1],
  [12, 'fail', 1],
  [1, 'fail', 3],
  [2, 'fail', 3],
  [3, 'fail', 3],
  [130, 'fail', 3],
  ...[4, 5, 6, 7, 8, 9, 10, 11].map((code) => [code, 'fail', 2] as const),
] as const)(
  'the exit code %i of a run with the result %s is %i for a monitoring plugin',
  (exitCode, result, code) => {
    expect(nagiosCode({ exitCode, result })).toBe(code);
  },
);

describe('what leaves the machine', () => {
  const PRIVATE = ['Ada Lovelace', 'DE89370400440532013000', '0010482620', '1048262', '12.50', 'anna'];
  const TEXT = `Dear Ada Lovelace, ${PRIVATE.join(' or ')}, DE89 3704 0044 0532 0130 00 has 1.234,50 EUR, see /v1/accounts/x/y`;

  it.each([
    [
      "a bank's refusal",
      failure(TEXT, { httpStatus: 400, bankCode: 'FORMAT_ERROR', requestId: '0010482620' }),
    ],
    ["a bank's code", failure(TEXT, { httpStatus: 400, bankCode: 'Ada Lovelace' })],
    ...['Lovelace', 'LOVELACE_0532', 'AC_Lovelace'].map((bankCode): [string, SmokeError] => [
      'a word where a code stands',
      failure(TEXT, { httpStatus: 400, bankCode }),
    ]),
    ...['Lovelace-1', '5254121234563241', 'r-0532'].map((requestId): [string, SmokeError] => [
      'an id of a request',
      failure(TEXT, { httpStatus: 400, requestId }),
    ]),
    ...['bank_refused', 'payment_failed', 'outcome_unknown', 'not_authorised', 'login_refused'].map(
      (code): [string, SmokeError] => ['an error without a status', failure('It failed: Lovelace', { code })],
    ),
    ['an answer', failure("The bank's answer contradicts itself: it says Lovelace", { code: 'bank_answer' })],
    ['another answer', failure("The bank's answer is about Lovelace", { code: 'bank_answer' })],
    [
      'an answer that cannot be used',
      failure(TEXT, { code: 'bank_answer', hint: TEXT, next: [['psd2', '--customer', 'anna']] }),
    ],
    ['a lost connection', failure(TEXT, { code: 'bank_unreachable' })],
    ['a bug', failure(TEXT, { code: 'bug', exitCode: 1 })],
  ])('has no name, IBAN, amount or id in any report, although %s has them', (_, error) => {
    const run = runWith({
      accounts: { status: 'fail', error, warnings: [{ code: 'x', message: TEXT }] },
      balance: { status: 'skip', reason: TEXT },
      consent: { detail: TEXT },
    });
    run.steps.forEach((step) => {
      const words = '(HTTP 400, LOVELACE): "Dear "Lovelace" and Lovelace"';
      step.warnings.push({ code: 'signature', message: `signature: refused ${words}` });
    });
    const shown = publicRun(run, ['Ada Lovelace', '0010482620', '1048262', 'anna']);
    const reports = [
      ...[
        writeJunit(shown),
        writeTap(shown),
        writePrometheus(shown),
        writeMarkdown(shown),
        writeNagios(shown, 1),
      ],
      ...[JSON.stringify(shown), writeGithub(shown, 'e').commands],
    ].join('\n');
    for (const secret of [...PRIVATE, 'Lovelace', 'LOVELACE', '0532', '5254', '1.234,50', '/v1/accounts/x'])
      expect(reports).not.toContain(secret);
  });

  const UUID = '6f1c2b9e-8a53-4d0e-9f5e-0d3b7c1a2e44';
  it("keeps what the bank's support asks for, and psd2's own words", () => {
    const error = failure('The bank refused the request (HTTP 400): Dear Ada', {
      ...{ httpStatus: 400, bankCode: 'FORMAT_ERROR', requestId: UUID, tppRequestId: 'q-1' },
    });
    const [step] = publicRun(runWith({ settings: { status: 'fail', error } }), []).steps;
    expect(step?.error).toMatchObject({
      ...{ message: 'The bank refused the request (HTTP 400, FORMAT_ERROR)', bankCode: 'FORMAT_ERROR' },
      ...{ requestId: UUID, tppRequestId: 'q-1' },
    });
    const warned = { code: 'signature', message: 'signature: refused (HTTP 400, FORMAT_ERROR): "no"' };
    expect(publicRun(runWith({ settings: { warnings: [warned] } }), []).steps[0]?.warnings).toEqual([
      { code: 'signature', message: 'signature: refused (HTTP 400, FORMAT_ERROR)' },
    ]);
    const other = failure('no', { httpStatus: 400, requestId: 'r-1' });
    expect(publicRun(runWith({ settings: { error: other } }), []).steps[0]?.error?.requestId).toBe(
      'sha256:a5fa777a3dc67268',
    );
    const late = failure('The bank could not be reached: it did not answer within 30 s', {
      code: 'bank_unreachable',
    });
    expect(publicRun(runWith({ settings: { error: late } }), []).steps[0]?.error?.message).toBe(late.message);
  });

  it('the terminal shows no control characters of the longest text', () => {
    expect(writeNagios(hostileRun(HOSTILE), 1)).not.toMatch(/(?!\n)\p{Cc}/u);
  });
});
