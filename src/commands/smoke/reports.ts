import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { Psd2Error } from '../../errors.ts';
import { nagiosCode, writeGithub, writeJunit, writeNagios, writeTap } from '../../smoke/reports/formats.ts';
import { writeMarkdown } from '../../smoke/reports/markdown.ts';
import { writePrometheus } from '../../smoke/reports/prometheus.ts';
import type { SmokeRun } from '../../smoke/result.ts';
import { replaceReadable } from '../../store/disk/replace.ts';
import type { Context } from '../context.ts';

const FORMS = ['junit', 'tap', 'github', 'prometheus', 'nagios', 'markdown', 'json'] as const;
type Form = (typeof FORMS)[number];

/** The form of a report whose option names only its file. */
const BY_NAME: Readonly<Record<string, Form>> = {
  '.xml': 'junit',
  '.tap': 'tap',
  '.prom': 'prometheus',
  '.md': 'markdown',
  '.json': 'json',
};

/** A report that the operator wants. */
export interface Wanted {
  form: Form;
  /** `-`: standard output. */
  file: string;
}

/**
 * Reads `--report`: `junit=smoke.xml`, or a file whose name says the form. GitHub's is chosen by itself where GitHub runs psd2 and
 * nothing else is on standard output.
 *
 * @throws Psd2Error `usage`
 */
export function readReports({ env, output }: Context, texts: readonly string[]): Wanted[] {
  const wanted = texts.map(readReport);
  const onStdout = wanted.filter(({ file, form }) => file === '-' || form === 'github');
  if (onStdout.length > 1 || (onStdout.length > 0 && output.format !== 'table'))
    throw new Psd2Error('usage', 'Only one document can be written to standard output', {
      hint: 'Give the other reports a file, and leave out --json.',
    });
  const isFree = onStdout.length === 0 && output.format === 'table';
  return env.GITHUB_ACTIONS === 'true' && isFree ? [...wanted, { form: 'github', file: '-' }] : wanted;
}

function readReport(text: string): Wanted {
  const [, named, rest = ''] = /^([a-z]+)=(.+)$/s.exec(text) ?? [];
  const form = FORMS.find((each) => each === (named ?? text));
  // GitHub itself names the files that it reads.
  if (form === 'github' && (rest === '' || rest === '-')) return { form, file: '-' };
  if (form && form !== 'github' && named !== undefined) return { form, file: rest };
  const byName = BY_NAME[/\.\w+$/.exec(text)?.[0] ?? ''];
  if (byName && named === undefined) return { form: byName, file: text };
  throw new Psd2Error('usage', `--report ${JSON.stringify(text)} names no form of report and its file`, {
    hint: `Write <form>=<file> with one of ${FORMS.join(', ')}, or a file that ends in ${Object.keys(BY_NAME).join(', ')}. The file - is standard output.`,
  });
}

/** Whether a report takes standard output, so that the lines for people go elsewhere. */
export function takesStdout(wanted: readonly Wanted[]): boolean {
  return wanted.some(({ file, form }) => file === '-' && form !== 'github');
}

/**
 * Writes the reports. Whatever fails, the others are written.
 *
 * @param slowMs the limit of a step
 * @throws Psd2Error `config` for the first that could not be written
 */
export function writeReports(
  context: Context,
  wanted: readonly Wanted[],
  run: SmokeRun,
  slowMs: number,
): void {
  let failure: unknown;
  for (const { form, file } of wanted) {
    try {
      if (form === 'github') writeForGithub(context, run);
      else if (file === '-') context.printBytes(Buffer.from(WRITERS[form](run, slowMs)));
      else replaceReadable(file, WRITERS[form](run, slowMs));
    } catch (error) {
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
}

const WRITERS: Readonly<Record<Exclude<Form, 'github'>, (run: SmokeRun, slowMs: number) => string>> = {
  junit: writeJunit,
  tap: writeTap,
  prometheus: writePrometheus,
  nagios: writeNagios,
  markdown: writeMarkdown,
  json: (run) => `${JSON.stringify(run)}\n`,
};

function writeForGithub({ env, printBytes }: Context, run: SmokeRun): void {
  const { commands, summary, outputs } = writeGithub(run, `psd2_${randomUUID()}`);
  if (commands !== '') printBytes(Buffer.from(commands));
  const added = [
    [env.GITHUB_STEP_SUMMARY, summary],
    [env.GITHUB_OUTPUT, outputs],
  ] as const;
  for (const [path, text] of added) {
    if (!path) continue;
    try {
      appendFileSync(path, text);
    } catch (cause) {
      throw new Psd2Error('config', `The file ${path} of GitHub Actions could not be written`, { cause });
    }
  }
}

/** The exit code that a monitoring plugin must have. Undefined without such a report. */
export function pluginCode(wanted: readonly Wanted[], run: SmokeRun): number | undefined {
  return wanted.some(({ form }) => form === 'nagios') ? nagiosCode(run) : undefined;
}
