import { countSteps, isUndone, isWarning, noteOf, type SmokeRun, type SmokeStep } from '../result.ts';
import { writeMarkdown } from './markdown.ts';

const LONGEST = 10_000;

/** What a report says of a step that failed or warns: sentences, and the calls that a bank's support can look up. */
function reportText({ error, warnings, calls }: SmokeStep): string {
  const lines = [
    ...(error ? [`${error.message} (${error.code}, exit code ${error.exitCode})`] : []),
    ...warnings.map(({ message }) => `warning: ${message}`),
    ...calls.map(({ method, route, status, milliseconds, tppRequestId, requestId }) =>
      [
        method,
        route,
        status ?? 'no usable answer',
        `${milliseconds} ms`,
        `request ${tppRequestId}`,
        ...(requestId === null ? [] : [`bank request ${requestId}`]),
      ].join(' '),
    ),
    ...(error ? error.next.map((words) => words.join(' ')) : []),
  ];
  const text = lines.join('\n');
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/** The exit codes of what psd2 itself could not carry out: a bug, wrong use, configuration. */
const OURS = [1, 2, 3];

/**
 * JUnit's XML, in the form that Jenkins' schema, GitLab, GitHub's reporters and Azure all take: one flat suite, times with three
 * decimals, at most one of failure, error and skipped in a case.
 */
export function writeJunit(run: SmokeRun): string {
  const { steps, profile } = run;
  const failed = steps.filter(({ status }) => status === 'fail');
  const errors = failed.filter(({ error }) => OURS.includes(error?.exitCode ?? 1)).length;
  const skipped = steps.filter(({ status }) => status === 'skip' || status === 'known').length;
  const counts = { tests: steps.length, failures: failed.length - errors, errors };
  const time = seconds(run.milliseconds);
  const suite = {
    name: `psd2 smoke ${profile}`,
    ...counts,
    skipped,
    time,
    timestamp: run.startedAt.slice(0, 19),
  };
  const properties = {
    run: run.run,
    version: run.version,
    bank: run.bank ?? '',
    interface: run.interface ?? '',
    environment: run.environment ?? '',
    result: run.result,
    exitCode: run.exitCode,
  };
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attributes({ name: 'psd2 smoke', ...counts, time })}>`,
    `  <testsuite${attributes(suite)}>`,
    '    <properties>',
    ...Object.entries(properties).map(([name, value]) => `      <property${attributes({ name, value })}/>`),
    '    </properties>',
    ...steps.map((step) => caseOf(step, profile)),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function caseOf(step: SmokeStep, profile: string): string {
  const open = `    <testcase${attributes({ name: step.id, classname: `psd2.${profile}`, time: seconds(step.milliseconds) })}`;
  const content = outcomeElement(step);
  return content === '' ? `${open}/>` : `${open}>${content}</testcase>`;
}

function outcomeElement(step: SmokeStep): string {
  const { status, error, reason } = step;
  if (status === 'skip') return `<skipped${attributes({ message: reason ?? '' })}/>`;
  if (status === 'known') return `<skipped${attributes({ message: `known: ${noteOf(step)}` })}/>`;
  if (status === 'fail' && error) {
    const name = OURS.includes(error.exitCode) ? 'error' : 'failure';
    return `<${name}${attributes({ type: error.code, message: error.message })}>${xmlEscaped(reportText(step))}</${name}>`;
  }
  return step.warnings.length > 0 ? `<system-out>${xmlEscaped(reportText(step))}</system-out>` : '';
}

/** Seconds with exactly three decimals. */
function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(3);
}

function attributes(values: Record<string, string | number>): string {
  return Object.entries(values)
    .map(
      ([name, value]) =>
        ` ${name}="${xmlEscaped(String(value)).replace(/[\n\r\t]/g, (each) => `&#${each.charCodeAt(0)};`)}"`,
    )
    .join('');
}

/** XML 1.0 has no way to write other characters, so one stands for them. */
const NOT_XML = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

function xmlEscaped(text: string): string {
  return text.replace(NOT_XML, '\u{FFFD}').replace(/[&<>"']/g, (each) => ENTITIES[each] ?? each);
}

const STATES = ['OK', 'WARNING', 'CRITICAL', 'UNKNOWN'] as const;
/** The exit codes after which nothing is known of the bank: a bug, wrong use, configuration, Ctrl-C. */
const UNKNOWN = [1, 2, 3, 130];

/** The exit code of a monitoring plugin: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN. */
export function nagiosCode({ exitCode, result }: Pick<SmokeRun, 'exitCode' | 'result'>): 0 | 1 | 2 | 3 {
  if (exitCode === 0) return result === 'warn' ? 1 : 0;
  if (exitCode === 12) return 1;
  return UNKNOWN.includes(exitCode) ? 3 : 2;
}

/** One line with performance data, for Nagios and Icinga. @param slowMs the limit of a step */
export function writeNagios(run: SmokeRun, slowMs: number): string {
  const { passed, failed, skipped } = countSteps(run.steps);
  const amiss = run.steps.filter((step) => step.status === 'fail' || isWarning(step));
  const what = amiss.map((step) => `${step.id}: ${noteOf(step)}`).join('; ');
  const text = `${STATES[nagiosCode(run)]} psd2 smoke ${run.profile}: ${passed} passed, ${failed} failed, ${skipped} skipped${what && `; ${what}`} [${run.run}]`;
  const times = run.steps
    .filter(({ status, calls }) => status !== 'skip' && calls.length > 0)
    .map(({ id, milliseconds }) => `'${id}'=${(milliseconds / 1000).toFixed(3)}s;${slowMs / 1000};;0`);
  const all = [`'time'=${(run.milliseconds / 1000).toFixed(3)}s;;;0`, ...times];
  // A bar would begin the performance data.
  return `${text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').replaceAll('|', '/')} | ${all.join(' ')}\n`;
}

/** GitHub shows 10 annotations of a kind. */
const MOST = 9;

/** What GitHub Actions reads: commands on standard output, a summary, and outputs of the step. */
interface GithubReport {
  commands: string;
  summary: string;
  outputs: string;
}

/** @param delimiter a text that is in no value */
export function writeGithub(run: SmokeRun, delimiter: string): GithubReport {
  const failed = run.steps.filter(({ status }) => status === 'fail');
  const broken = failed.filter((step) => !isUndone(step));
  const warned = run.steps.filter((step) => isWarning(step) || isUndone(step) || step.status === 'known');
  const annotate = (kind: 'error' | 'warning', steps: typeof failed) => [
    ...steps.slice(0, MOST).map((step) => {
      const title = `psd2 smoke ${run.profile}: ${step.id}`;
      return `::${kind} title=${property(title)}::${data(`${noteOf(step)} [${run.run}]`)}`;
    }),
    ...(steps.length > MOST ? [`::${kind}::${data(`and ${steps.length - MOST} more`)}`] : []),
  ];
  const values = { result: run.result, run: run.run, failed: failed.map(({ id }) => id).join(',') };
  return {
    commands: [...annotate('error', broken), ...annotate('warning', warned)]
      .map((each) => `${each}\n`)
      .join(''),
    summary: writeMarkdown(run),
    outputs: Object.entries(values)
      .map(([name, value]) => `${name}<<${delimiter}\n${value}\n${delimiter}\n`)
      .join(''),
  };
}

function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** TAP 14. What `--known` names is a TODO, and what did not run a SKIP: neither fails. */
export function writeTap(run: SmokeRun): string {
  const points = run.steps.flatMap((step, index) => pointOf(step, index + 1));
  return ['TAP version 14', `1..${run.steps.length}`, ...points, ''].join('\n');
}

function pointOf(step: SmokeStep, number: number): string[] {
  const { id, status, error, milliseconds, reason } = step;
  const isOk = status !== 'fail' && status !== 'known';
  const directive =
    status === 'skip'
      ? ` # SKIP ${line(reason ?? '')}`
      : status === 'known'
        ? ` # TODO ${line(noteOf(step))}`
        : '';
  const facts: [string, string | number | null | undefined][] = [
    ['duration_ms', milliseconds],
    ...(error
      ? ([
          ['exitCode', error.exitCode],
          ['code', error.code],
          ['message', error.message],
          ['requestId', error.requestId],
          ['tppRequestId', error.tppRequestId],
        ] as const)
      : []),
    ...(step.warnings.length > 0 ? [['warning', noteOf(step)] as const] : []),
  ].map(([name, value]) => [String(name), value ?? null]);
  return [
    `${isOk ? 'ok' : 'not ok'} ${number} - ${line(id)}${directive}`,
    '  ---',
    ...facts.map(([name, value]) => `  ${name}: ${JSON.stringify(yamlSafe(value))}`),
    '  ...',
  ];
}

/** One line, without what begins a directive. */
function line(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replaceAll('\\', '\\\\')
    .replaceAll('#', '\\#');
}

/** JSON is YAML, but for characters that YAML does not print. */
function yamlSafe(value: string | number | null | undefined): string | number | null {
  return typeof value === 'string'
    ? value.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u{FFFE}\u{FFFF}]/gu, ' ')
    : (value ?? null);
}
