import type { SmokeRun, SmokeStep } from '../result.ts';
import { noteOf } from '../result.ts';
import { bodyOf } from './body.ts';

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
  const known = {
    ...{ run: run.run, version: run.version, bank: run.bank ?? '', interface: run.interface ?? '' },
    ...{ environment: run.environment ?? '', result: run.result, exitCode: run.exitCode },
  };
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attributes({ name: 'psd2 smoke', ...counts, time })}>`,
    `  <testsuite${attributes(suite)}>`,
    '    <properties>',
    ...Object.entries(known).map(([name, value]) => `      <property${attributes({ name, value })}/>`),
    '    </properties>',
    ...steps.map((step) => caseOf(step, profile)),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function caseOf(step: SmokeStep, profile: string): string {
  const open = `    <testcase${attributes({ name: step.id, classname: `psd2.${profile}`, time: seconds(step.milliseconds) })}`;
  const content = contentOf(step);
  return content === '' ? `${open}/>` : `${open}>${content}</testcase>`;
}

function contentOf(step: SmokeStep): string {
  const { status, error, reason } = step;
  if (status === 'skip') return `<skipped${attributes({ message: reason ?? '' })}/>`;
  if (status === 'known') return `<skipped${attributes({ message: `known: ${noteOf(step)}` })}/>`;
  if (status === 'fail' && error) {
    const name = OURS.includes(error.exitCode) ? 'error' : 'failure';
    return `<${name}${attributes({ type: error.code, message: error.message })}>${escaped(bodyOf(step))}</${name}>`;
  }
  return step.warnings.length > 0 ? `<system-out>${escaped(bodyOf(step))}</system-out>` : '';
}

/** Seconds with exactly three decimals. */
function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(3);
}

function attributes(values: Record<string, string | number>): string {
  return Object.entries(values)
    .map(
      ([name, value]) =>
        ` ${name}="${escaped(String(value)).replace(/[\n\r\t]/g, (each) => `&#${each.charCodeAt(0)};`)}"`,
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

function escaped(text: string): string {
  return text.replace(NOT_XML, '\u{FFFD}').replace(/[&<>"']/g, (each) => ENTITIES[each] ?? each);
}
