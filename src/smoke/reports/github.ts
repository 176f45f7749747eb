import { noteOf, type SmokeRun } from '../result.ts';
import { writeMarkdown } from './markdown.ts';

/** GitHub shows 10 annotations of a kind. */
const MOST = 9;

/** What GitHub Actions reads: commands on standard output, a summary, and outputs of the step. */
export interface GithubReport {
  commands: string;
  summary: string;
  outputs: string;
}

/** @param delimiter a text that is in no value */
export function writeGithub(run: SmokeRun, delimiter: string): GithubReport {
  const failed = run.steps.filter(({ status }) => status === 'fail');
  const warned = run.steps.filter(({ status }) => status === 'warn' || status === 'known');
  const annotate = (kind: 'error' | 'warning', steps: typeof failed) => [
    ...steps.slice(0, MOST).map((step) => {
      const title = `psd2 smoke ${run.profile}: ${step.id}`;
      return `::${kind} title=${property(title)}::${data(`${noteOf(step)} [${run.run}]`)}`;
    }),
    ...(steps.length > MOST ? [`::${kind}::${data(`and ${steps.length - MOST} more`)}`] : []),
  ];
  const values = { result: run.result, run: run.run, failed: failed.map(({ id }) => id).join(',') };
  return {
    commands: [...annotate('error', failed), ...annotate('warning', warned)]
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
