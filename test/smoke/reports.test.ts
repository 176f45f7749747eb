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

/** A run with each status, errors of the bank, of psd2 and with no words, calls with and without an answer. */
const MIXED: SmokeRun = runWith(
  {
    certificates: {
      status: 'warn',
      milliseconds: 0,
      warnings: [{ code: 'certificate_ends', message: 'QWAC ends in 9 days' }],
    },
    signature: { status: 'fail', milliseconds: 7, error: failure('No key', { code: 'config', exitCode: 3 }) },
    accounts: {
      ...{ status: 'fail', milliseconds: 4_312 },
      error: failure('It is <closed>', {
        requestId: 'r-1',
        tppRequestId: 'q-1',
        next: [['psd2', 'log', '--run', 'sm-1']],
      }),
      calls: [
        {
          method: 'GET',
          route: '/v1/accounts',
          status: 403,
          milliseconds: 48,
          tppRequestId: 'q-1',
          requestId: 'r-1',
        },
        {
          method: 'GET',
          route: '/v1/accounts',
          status: null,
          milliseconds: 9,
          tppRequestId: 'q-2',
          requestId: null,
        },
      ],
    },
    balance: { status: 'known', milliseconds: 2, error: failure('It is #1') },
    transactions: { status: 'skip', milliseconds: 0, reason: 'after "accounts"' },
    funds: {
      status: 'skip',
      milliseconds: 0,
      reason: 'not read\tthe reads',
      warnings: [{ code: 'not_read', message: 'used up' }],
    },
    pay: { status: 'fail', milliseconds: 1, error: failure('Not read', { code: 'not_read', exitCode: 12 }) },
  },
  {
    ...{
      run: 'sm-1',
      result: 'fail',
      exitCode: 7,
      bank: 'api.mybank.example:8443',
      lastSuccessAt: '2026-11-25T00:00:01.000Z',
    },
    ends: {
      qwac: '2027-11-01T00:00:00.000Z',
      qsealc: '1970-01-01T00:00:02.000Z',
      bank: null,
      consent: '1970-01-01T00:01:00.000Z',
    },
    drift: (['breaking', 'warning', 'warning', 'info', 'info', 'info'] as const).map((severity) => ({
      ...{ id: 'dr-1', answer: 'GET /v1/accounts 200', path: '$', severity, message: 'x' },
    })),
  },
);

describe('the whole text of a run with each status', () => {
  it('in JUnit', () =>
    expect(writeJunit(MIXED)).toMatchInlineSnapshot(`
      "<?xml version="1.0" encoding="UTF-8"?>
      <testsuites name="psd2 smoke" tests="14" failures="2" errors="1" time="33.104">
        <testsuite name="psd2 smoke mybank" tests="14" failures="2" errors="1" skipped="3" time="33.104" timestamp="2026-11-26T16:45:00">
          <properties>
            <property name="run" value="sm-1"/>
            <property name="version" value="0.2.0"/>
            <property name="bank" value="api.mybank.example:8443"/>
            <property name="interface" value="nextgenpsd2"/>
            <property name="environment" value="production"/>
            <property name="result" value="fail"/>
            <property name="exitCode" value="7"/>
          </properties>
          <testcase name="settings" classname="psd2.mybank" time="0.031"/>
          <testcase name="certificates" classname="psd2.mybank" time="0.000"><system-out>warning: QWAC ends in 9 days</system-out></testcase>
          <testcase name="connection" classname="psd2.mybank" time="0.031"/>
          <testcase name="signature" classname="psd2.mybank" time="0.007"><error type="config" message="No key">No key (config, exit code 3)</error></testcase>
          <testcase name="login" classname="psd2.mybank" time="0.031"/>
          <testcase name="consent" classname="psd2.mybank" time="0.031"/>
          <testcase name="accounts" classname="psd2.mybank" time="4.312"><failure type="bank_refused" message="It is &lt;closed&gt;">It is &lt;closed&gt; (bank_refused, exit code 7)
      GET /v1/accounts 403 48 ms request q-1 bank request r-1
      GET /v1/accounts no usable answer 9 ms request q-2
      psd2 log --run sm-1</failure></testcase>
          <testcase name="balance" classname="psd2.mybank" time="0.002"><skipped message="known: It is #1 (exit 7), known"/></testcase>
          <testcase name="transactions" classname="psd2.mybank" time="0.000"><skipped message="after &quot;accounts&quot;"/></testcase>
          <testcase name="funds" classname="psd2.mybank" time="0.000"><skipped message="not read&#9;the reads"/></testcase>
          <testcase name="initiate" classname="psd2.mybank" time="0.031"/>
          <testcase name="pay" classname="psd2.mybank" time="0.001"><failure type="not_read" message="Not read">Not read (not_read, exit code 12)</failure></testcase>
          <testcase name="shapes" classname="psd2.mybank" time="0.031"/>
          <testcase name="clean-up" classname="psd2.mybank" time="0.031"/>
        </testsuite>
      </testsuites>
      "
    `));
  it('in TAP', () =>
    expect(writeTap(MIXED)).toMatchInlineSnapshot(`
      "TAP version 14
      1..14
      ok 1 - settings
        ---
        duration_ms: 31
        ...
      ok 2 - certificates
        ---
        duration_ms: 0
        warning: "QWAC ends in 9 days"
        ...
      ok 3 - connection
        ---
        duration_ms: 31
        ...
      not ok 4 - signature
        ---
        duration_ms: 7
        exitCode: 3
        code: "config"
        message: "No key"
        requestId: null
        tppRequestId: null
        ...
      ok 5 - login
        ---
        duration_ms: 31
        ...
      ok 6 - consent
        ---
        duration_ms: 31
        ...
      not ok 7 - accounts
        ---
        duration_ms: 4312
        exitCode: 7
        code: "bank_refused"
        message: "It is <closed>"
        requestId: "r-1"
        tppRequestId: "q-1"
        ...
      not ok 8 - balance # TODO It is \\#1 (exit 7), known
        ---
        duration_ms: 2
        exitCode: 7
        code: "bank_refused"
        message: "It is #1"
        requestId: null
        tppRequestId: null
        ...
      ok 9 - transactions # SKIP after "accounts"
        ---
        duration_ms: 0
        ...
      ok 10 - funds # SKIP not read the reads
        ---
        duration_ms: 0
        warning: "not read the reads"
        ...
      ok 11 - initiate
        ---
        duration_ms: 31
        ...
      not ok 12 - pay
        ---
        duration_ms: 1
        exitCode: 12
        code: "not_read"
        message: "Not read"
        requestId: null
        tppRequestId: null
        ...
      ok 13 - shapes
        ---
        duration_ms: 31
        ...
      ok 14 - clean-up
        ---
        duration_ms: 31
        ...
      "
    `));
  it('for Prometheus', () =>
    expect(writePrometheus(MIXED)).toMatchInlineSnapshot(`
    "# HELP psd2_smoke_success Whether the last smoke test passed (1) or not (0).
    # TYPE psd2_smoke_success gauge
    psd2_smoke_success{profile="mybank",interface="nextgenpsd2"} 0
    # HELP psd2_smoke_step_success Whether a step passed. A step that did not run has not failed.
    # TYPE psd2_smoke_step_success gauge
    psd2_smoke_step_success{profile="mybank",interface="nextgenpsd2",step="settings"} 1
    psd2_smoke_step_success{profile="mybank",interface="nextgenpsd2",step="certificates"} 1
    psd2_smoke_step_success{profile="mybank",interface="nextgenpsd2",step="connection"} 1
    psd2_smoke_step_success{profile="mybank",interface="nextgenpsd2",step="signature"} 0
    psd2_smoke_step_success{profile="mybank",interface="nextgenpsd2",step="login"} 1
    psd2_smoke_step_success{profile="mybank",interface="nextgenpsd2",step="consent"} 1
    psd2_smoke_step_success{profile="mybank",interface="nextgenpsd2",step="accounts"} 0
    psd2_smoke_step_success{profile="mybank",interface="nextgenpsd2",step="balance"} 1
    psd2_smoke_step_success{profile="mybank",interface="nextgenpsd2",step="transactions"} 1
    psd2_smoke_step_success{profile="mybank",interface="nextgenpsd2",step="funds"} 1
    psd2_smoke_step_success{profile="mybank",interface="nextgenpsd2",step="initiate"} 1
    psd2_smoke_step_success{profile="mybank",interface="nextgenpsd2",step="pay"} 0
    psd2_smoke_step_success{profile="mybank",interface="nextgenpsd2",step="shapes"} 1
    psd2_smoke_step_success{profile="mybank",interface="nextgenpsd2",step="clean-up"} 1
    # HELP psd2_smoke_step_skipped Whether a step did not run.
    # TYPE psd2_smoke_step_skipped gauge
    psd2_smoke_step_skipped{profile="mybank",interface="nextgenpsd2",step="settings"} 0
    psd2_smoke_step_skipped{profile="mybank",interface="nextgenpsd2",step="certificates"} 0
    psd2_smoke_step_skipped{profile="mybank",interface="nextgenpsd2",step="connection"} 0
    psd2_smoke_step_skipped{profile="mybank",interface="nextgenpsd2",step="signature"} 0
    psd2_smoke_step_skipped{profile="mybank",interface="nextgenpsd2",step="login"} 0
    psd2_smoke_step_skipped{profile="mybank",interface="nextgenpsd2",step="consent"} 0
    psd2_smoke_step_skipped{profile="mybank",interface="nextgenpsd2",step="accounts"} 0
    psd2_smoke_step_skipped{profile="mybank",interface="nextgenpsd2",step="balance"} 0
    psd2_smoke_step_skipped{profile="mybank",interface="nextgenpsd2",step="transactions"} 1
    psd2_smoke_step_skipped{profile="mybank",interface="nextgenpsd2",step="funds"} 1
    psd2_smoke_step_skipped{profile="mybank",interface="nextgenpsd2",step="initiate"} 0
    psd2_smoke_step_skipped{profile="mybank",interface="nextgenpsd2",step="pay"} 0
    psd2_smoke_step_skipped{profile="mybank",interface="nextgenpsd2",step="shapes"} 0
    psd2_smoke_step_skipped{profile="mybank",interface="nextgenpsd2",step="clean-up"} 0
    # HELP psd2_smoke_step_duration_seconds How long a step took.
    # TYPE psd2_smoke_step_duration_seconds gauge
    psd2_smoke_step_duration_seconds{profile="mybank",interface="nextgenpsd2",step="settings"} 0.031
    psd2_smoke_step_duration_seconds{profile="mybank",interface="nextgenpsd2",step="certificates"} 0
    psd2_smoke_step_duration_seconds{profile="mybank",interface="nextgenpsd2",step="connection"} 0.031
    psd2_smoke_step_duration_seconds{profile="mybank",interface="nextgenpsd2",step="signature"} 0.007
    psd2_smoke_step_duration_seconds{profile="mybank",interface="nextgenpsd2",step="login"} 0.031
    psd2_smoke_step_duration_seconds{profile="mybank",interface="nextgenpsd2",step="consent"} 0.031
    psd2_smoke_step_duration_seconds{profile="mybank",interface="nextgenpsd2",step="accounts"} 4.312
    psd2_smoke_step_duration_seconds{profile="mybank",interface="nextgenpsd2",step="balance"} 0.002
    psd2_smoke_step_duration_seconds{profile="mybank",interface="nextgenpsd2",step="transactions"} 0
    psd2_smoke_step_duration_seconds{profile="mybank",interface="nextgenpsd2",step="funds"} 0
    psd2_smoke_step_duration_seconds{profile="mybank",interface="nextgenpsd2",step="initiate"} 0.031
    psd2_smoke_step_duration_seconds{profile="mybank",interface="nextgenpsd2",step="pay"} 0.001
    psd2_smoke_step_duration_seconds{profile="mybank",interface="nextgenpsd2",step="shapes"} 0.031
    psd2_smoke_step_duration_seconds{profile="mybank",interface="nextgenpsd2",step="clean-up"} 0.031
    # HELP psd2_smoke_duration_seconds How long the last smoke test took.
    # TYPE psd2_smoke_duration_seconds gauge
    psd2_smoke_duration_seconds{profile="mybank",interface="nextgenpsd2"} 33.104
    # HELP psd2_smoke_last_run_timestamp_seconds When the last smoke test ended, in seconds since 1970.
    # TYPE psd2_smoke_last_run_timestamp_seconds gauge
    psd2_smoke_last_run_timestamp_seconds{profile="mybank",interface="nextgenpsd2"} 1795711533.227
    # HELP psd2_smoke_last_success_timestamp_seconds When the last smoke test that passed began, in seconds since 1970; 0: none so far.
    # TYPE psd2_smoke_last_success_timestamp_seconds gauge
    psd2_smoke_last_success_timestamp_seconds{profile="mybank",interface="nextgenpsd2"} 1795564801
    # HELP psd2_smoke_exit_code Exit code of the last smoke test.
    # TYPE psd2_smoke_exit_code gauge
    psd2_smoke_exit_code{profile="mybank",interface="nextgenpsd2"} 7
    # HELP psd2_smoke_drift_findings Differences in the form of the bank's answers, by severity.
    # TYPE psd2_smoke_drift_findings gauge
    psd2_smoke_drift_findings{profile="mybank",interface="nextgenpsd2",severity="breaking"} 1
    psd2_smoke_drift_findings{profile="mybank",interface="nextgenpsd2",severity="warning"} 2
    psd2_smoke_drift_findings{profile="mybank",interface="nextgenpsd2",severity="info"} 3
    # HELP psd2_smoke_certificate_expiry_timestamp_seconds When a certificate ends, in seconds since 1970; 0: not known.
    # TYPE psd2_smoke_certificate_expiry_timestamp_seconds gauge
    psd2_smoke_certificate_expiry_timestamp_seconds{profile="mybank",interface="nextgenpsd2",certificate="qwac"} 1825027200
    psd2_smoke_certificate_expiry_timestamp_seconds{profile="mybank",interface="nextgenpsd2",certificate="qsealc"} 2
    psd2_smoke_certificate_expiry_timestamp_seconds{profile="mybank",interface="nextgenpsd2",certificate="bank"} 0
    # HELP psd2_smoke_consent_expiry_timestamp_seconds When the consent ends, in seconds since 1970; 0: not known.
    # TYPE psd2_smoke_consent_expiry_timestamp_seconds gauge
    psd2_smoke_consent_expiry_timestamp_seconds{profile="mybank",interface="nextgenpsd2"} 60
    # HELP psd2_smoke_info The version of psd2 and the bank.
    # TYPE psd2_smoke_info gauge
    psd2_smoke_info{profile="mybank",interface="nextgenpsd2",version="0.2.0",bank="api.mybank.example:8443"} 1
    "
  `));
  it('for GitHub', () =>
    expect(Object.values(writeGithub(MIXED, 'end')).join('----\n')).toMatchInlineSnapshot(`
      "::error title=psd2 smoke mybank%3A signature::No key (exit 3) [sm-1]
      ::error title=psd2 smoke mybank%3A accounts::It is <closed> (exit 7) [sm-1]
      ::warning title=psd2 smoke mybank%3A certificates::QWAC ends in 9 days [sm-1]
      ::warning title=psd2 smoke mybank%3A balance::It is #1 (exit 7), known [sm-1]
      ::warning title=psd2 smoke mybank%3A funds::not read	the reads [sm-1]
      ::warning title=psd2 smoke mybank%3A pay::Not read (exit 12) [sm-1]
      ----
      ### psd2 smoke: fail (mybank, production, nextgenpsd2)

      | step | result | ms | |
      |---|---|---:|---|
      | settings | pass | 31 |  |
      | certificates | warn | 0 | QWAC ends in 9 days |
      | connection | pass | 31 |  |
      | signature | fail | 7 | No key \\(exit 3\\) |
      | login | pass | 31 |  |
      | consent | pass | 31 |  |
      | accounts | fail | 4312 | It is &lt;closed&gt; \\(exit 7\\) |
      | balance | known | 2 | It is \\#1 \\(exit 7\\), known |
      | transactions | skip |  | after "accounts" |
      | funds | skip |  | not read the reads |
      | initiate | pass | 31 |  |
      | pay | fail | 1 | Not read \\(exit 12\\) |
      | shapes | pass | 31 |  |
      | clean-up | pass | 31 |  |

      8 passed, 1 of them with a warning, 3 failed, 1 failed as known, 2 skipped; 33.1 s, 2 calls, slowest GET /v1/accounts. Run sm-1, 2026-11-26T16:45:00.123Z, psd2 0.2.0.
      ----
      result<<end
      fail
      end
      run<<end
      sm-1
      end
      failed<<end
      signature,accounts,pay
      end
      "
    `));
  it('for a monitoring plugin', () =>
    expect(writeNagios(MIXED, 1_500)).toMatchInlineSnapshot(`
    "CRITICAL psd2 smoke mybank: 8 passed, 3 failed, 2 skipped; certificates: QWAC ends in 9 days; signature: No key (exit 3); accounts: It is <closed> (exit 7); funds: not read the reads; pay: Not read (exit 12) [sm-1] | 'time'=33.104s;;;0 'accounts'=4.312s;1.5;;0
    "
  `));
});

it('what is not known of a run is empty, and in Prometheus 0', () => {
  const run = runWith({}, { bank: null, interface: null, environment: null });
  expect(writeJunit(run)).toMatch(
    /<property name="bank" value=""\/>\n.*"interface" value=""\/>\n.*"environment" value=""\/>/,
  );
  expect(writeMarkdown(run)).toMatch(/^### psd2 smoke: pass \(mybank\)\n/);
  const metrics = writePrometheus(run);
  expect(metrics).toContain('psd2_smoke_success{profile="mybank",interface=""} 1\n');
  expect(metrics).toContain('psd2_smoke_last_success_timestamp_seconds{profile="mybank",interface=""} 0\n');
  expect(metrics).toContain('psd2_smoke_info{profile="mybank",interface="",version="0.2.0",bank=""} 1\n');
  expect(metrics).toContain('certificate="qsealc"} 0\n');
});

it('a report has at most 10 000 characters of what happened in a step, and says that there are more', () => {
  const bodies = [9_981, 9_982].map((count) => {
    const error = failure('x'.repeat(count), { code: 'bug', exitCode: 7 });
    const text = writeJunit(runWith({ login: { status: 'fail', error } }));
    return /">x+(.*)<\/failure>/.exec(text)?.[1];
  });
  expect(bodies).toEqual([' (bug, exit code 7)', ' (bug, exit code 7…']);
});

it('a label keeps quotes, backslashes and line breaks', () => {
  const text = writePrometheus(runWith({}, { profile: 'a"b\\c\nd' }));
  expect(text).toContain('profile="a\\"b\\\\c\\nd"');
  expect(readMetrics(text)[0]?.metrics[0]?.labels.profile).toBe('a"b\\c\nd');
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

  it.each<[code: string, exitCode: number, says: string]>([
    ['not_logged_in', 4, 'The bank does not accept the login or the consent'],
    ['forbidden', 5, 'The bank does not allow the call'],
    ['login_refused', 4, 'The login was refused'],
    ['not_authorised', 6, 'The customer did not authorise it'],
    ['authorisation_expired', 6, 'The customer did not authorise it in time'],
    ['authorisation_timeout', 6, 'The customer did not authorise it in time'],
    ['still_open', 13, 'Somebody can still authorise it at the bank'],
    ['sca_required', 5, 'The bank wants the customer to authenticate'],
    ['bank_refused', 7, 'The bank refused the request'],
    ['bank_answer', 11, "The bank's answer cannot be used"],
    ['list_changed', 11, 'The list changed while it was read'],
    ['payment_failed', 8, 'The payment failed'],
    ['outcome_unknown', 9, 'The outcome of the payment is not known'],
    ['too_many_calls', 10, 'The bank has had too many calls'],
    ['bank_unreachable', 11, 'The bank could not be reached'],
    ['bank_failing', 11, 'The bank is failing'],
    ['bug', 1, 'A bug in psd2'],
    ['config', 3, 'The step failed'],
  ])(
    "of an error %s that has the bank's words, a report says what happened in psd2's own",
    (code, exitCode, says) => {
      const shown = (more: Partial<SmokeError>) => {
        const error = failure('Anna is dead', { code, exitCode, hint: 'Ask Anna', next: [['x']], ...more });
        const [step] = publicRun(runWith({ settings: { status: 'fail', error } }), []).steps;
        return step?.error;
      };
      expect(
        shown({ httpStatus: 400, bankCode: 'FORMAT_ERROR', flow: 'tr-1', transactionId: 't-1' }),
      ).toEqual({
        ...{ code, exitCode, message: `${says} (HTTP 400, FORMAT_ERROR)`, httpStatus: 400, flow: 'tr-1' },
        ...{ bankCode: 'FORMAT_ERROR', requestId: null, tppRequestId: undefined, transactionId: 't-1' },
        ...{ hint: null, next: [['psd2', 'log', '--run', 'sm-0mwx2f0ab123']] },
      });
      expect(shown({ httpStatus: 400 })?.message).toBe(`${says} (HTTP 400)`);
      expect(shown({ bankCode: 'FORMAT_ERROR' })?.message).toBe(`${says} (FORMAT_ERROR)`);
      expect(shown({ httpStatus: null, bankCode: 'anna' })?.message).toBe(says);
    },
  );

  it.each([
    ['nothing private', 'It ended 9 days ago, after 30 s', 'It ended 9 days ago, after 30 s'],
    ['a quoted text', 'The name "Ada" is wrong', 'The name …'],
    ['a quote that does not end', 'It says "Ada\nL', 'It says …'],
    ['an address of e-mail', 'Ask ada.l+x@mail.example now', 'Ask … now'],
    ['a path', 'Look at /home/ada/x (/tmp/y) and a/b', 'Look at … (… and a/b'],
    ['a path at the beginning', '/home/ada is gone', '… is gone'],
    ['an IBAN', 'From DE89370400440532013000 to it', 'From … to it'],
    ['an IBAN in groups', 'From DE89 3704 0044 0532 0130 00 to it', 'From … to it'],
    ['a short IBAN', 'From NO9386011117947, to it', 'From …, to it'],
    ['an id', 'Of 6F1C2B9E-8a53-4d0e-9f5e-0d3b7c1a2e44.', 'Of ….'],
    ['an amount', 'It has 12.50 EUR and 1,20', 'It has … EUR and …'],
    ['no amount', 'On 12.50.2026, 1.234, 1.5', 'On 12.50.2026, 1.234, 1.5'],
    ['a long number', 'Of 12345 and 1234', 'Of … and 1234'],
    [
      "the bank's words after a status",
      'It refused (HTTP 403, CONSENT_EXPIRED): Ada',
      'It refused (HTTP 403, CONSENT_EXPIRED)',
    ],
    ['a code that is no code', 'It refused (HTTP 403, ADA): Ada', 'It refused (HTTP 403)'],
    ['a status alone', 'It refused (HTTP 403): Ada\nL', 'It refused (HTTP 403)'],
    ['no status', 'It refused (HTTP 4032)', 'It refused (HTTP 4032)'],
    ['what psd2 knows', 'Ada Lovelace, Ada and Lovelace, A', '…, … and Lovelace, A'],
  ])('a sentence with %s', (_, sentence, shown) => {
    const known = ['Ada', 'Ada Lovelace', 'Ada', 'A', ''];
    const texts = { detail: sentence, warnings: [{ code: 'x', message: sentence }] };
    const { steps } = publicRun(
      runWith({
        settings: texts,
        login: { status: 'skip', reason: sentence },
        accounts: { status: 'fail', error: failure(sentence, { code: 'config', exitCode: 3 }) },
      }),
      known,
    );
    expect(steps[0]).toMatchObject({
      detail: shown,
      warnings: [{ code: 'x', message: shown }],
      reason: null,
    });
    expect(steps[4]).toMatchObject({ reason: shown, detail: null });
    expect(steps[6]?.error?.message).toBe(shown);
  });

  it.each([
    ["The bank's answer is about another payment", "The bank's answer cannot be used"],
    ['The bank lists an account without an id', 'The bank lists an account without an id'],
    ['It contradicts itself: it says Lovelace: no', 'It contradicts itself'],
  ])('an answer of which psd2 says %j', (message, shown) => {
    const error = failure(message, { code: 'bank_answer', exitCode: 11 });
    expect(publicRun(runWith({ balance: { status: 'fail', error } }), []).steps[7]?.error?.message).toBe(
      shown,
    );
  });

  it.each<[id: string | null, shown: string | null]>([
    [null, null],
    ['', null],
    ['6F1C2B9E-8A53-4D0E-9F5E-0D3B7C1A2E44', '6F1C2B9E-8A53-4D0E-9F5E-0D3B7C1A2E44'],
    ['x6f1c2b9e-8a53-4d0e-9f5e-0d3b7c1a2e44', 'sha256:'],
    ['6f1c2b9e-8a53-4d0e-9f5e-0d3b7c1a2e440', 'sha256:'],
    ['6f1c2b9e-8a53-4d0e-0d3b7c1a2e44', 'sha256:'],
    // A customer's id is in it.
    ['6f1c2b9e-8a53-4d0e-9f5e-001048262e44', 'sha256:'],
  ])("the bank's id of a request %j is shown as %j, the same in each place", (requestId, shown) => {
    const call = { method: 'GET', route: '/', status: 200, milliseconds: 1, tppRequestId: 'q-1', requestId };
    const error = failure('no', { requestId });
    const run = publicRun(runWith({ accounts: { status: 'fail', error, calls: [call, call] } }), ['1048262']);
    const ids = [
      run.steps[6]?.error?.requestId,
      ...(run.steps[6]?.calls ?? []).map((each) => each.requestId),
    ];
    expect(new Set(ids).size).toBe(1);
    if (shown === 'sha256:') expect(ids[0]).toMatch(/^sha256:[0-9a-f]{16}$/);
    else expect(ids[0]).toBe(shown);
  });

  it('the command that shows the calls goes on from a run that failed, and from no other', () => {
    const next = [['psd2', 'auth', 'login', '--customer', 'anna']];
    expect(publicRun(runWith({}, { next, exitCode: 4 }), []).next).toEqual([
      ['psd2', 'log', '--run', 'sm-0mwx2f0ab123'],
    ]);
    expect(publicRun(runWith({}, { next, exitCode: 0 }), []).next).toEqual([]);
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
