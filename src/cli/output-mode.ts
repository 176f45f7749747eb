import { Psd2Error } from '../errors.ts';
import { OUTPUT_FORMATS, type OutputFormat, parseOutputFormat } from '../terminal/output/output.ts';
import type { RawGlobals } from './globals.ts';

/** The options that choose the output, as they were given. */
type Given = Pick<RawGlobals, 'json' | 'output' | 'query'>;

/** How a command speaks: read first, so that even a wrong option is reported in the right form. */
export interface OutputMode {
  format: OutputFormat;
  /** JMESPath over what `--json` would print. */
  query: string | undefined;
  /** Strings that the query gives are printed bare. */
  bareStrings: boolean;
  noInput: boolean;
  quiet: boolean;
  /** Data on stdout has colour. */
  colour: boolean;
  /** What goes to stderr may have colour where that is a terminal. */
  mayHaveColour: boolean;
}

/** @throws Psd2Error `usage` */
export function readOutputMode(raw: RawGlobals, env: NodeJS.ProcessEnv, isTerminal: boolean): OutputMode {
  const forced = env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '' && env.FORCE_COLOR !== '0';
  if (raw.output) parseOutputFormat(raw.output);
  refuseContradiction(raw);
  const mayHaveColour = raw.color && !env.NO_COLOR;
  return {
    bareStrings: raw.rawOutput === true,
    format: formatOf(raw) ?? 'table',
    query: raw.query,
    noInput: !raw.input || isSet(env.PSD2_NO_INPUT),
    quiet: raw.quiet === true,
    colour: mayHaveColour && (forced || isTerminal),
    mayHaveColour,
  };
}

/** Whether an error is written as JSON, when the options could be read. */
export function errorsAreJson(given: Given): boolean {
  return isForPrograms(formatOf(given));
}

/** Whether an error is written as JSON, before the options are read: they may be wrong. */
export function wantsJson(): boolean {
  return errorsAreJson(givenIn(process.argv.slice(2), process.env));
}

/** JSON and NDJSON are for programs, which get messages as JSON too. */
export function isForPrograms(format: OutputFormat | undefined): boolean {
  return format === 'json' || format === 'ndjson';
}

/** The format that was asked for; undefined where none was, or none that there is. */
function formatOf({ json, output, query }: Given): OutputFormat | undefined {
  if (json) return 'json';
  if (output) return OUTPUT_FORMATS.find((known) => known === output);
  return query === undefined ? undefined : 'json';
}

function givenIn(words: string[], env: NodeJS.ProcessEnv): Given {
  const at = words.findIndex((word) => /^(-o|--output(=|$))/.test(word));
  const named = words[at]?.replace(/^(-o|--output=?)/, '') || words[at + 1];
  return {
    json: words.includes('--json') || undefined,
    output: at === -1 ? env.PSD2_OUTPUT : named,
    query: words.find((word) => /^--query(=|$)/.test(word)),
  };
}

function refuseContradiction({ output, json, query, raw, rawOutput }: RawGlobals): void {
  if (query !== undefined && raw) throw new Psd2Error('usage', '--query and --raw exclude each other');
  if (query !== undefined && output === 'table' && !json) {
    throw new Psd2Error('usage', '--query gives no table', { hint: 'Use -o json, ndjson or csv.' });
  }
  if (rawOutput && query === undefined) {
    throw new Psd2Error('usage', '--raw-output prints what --query gives, and there is no --query', {
      hint: 'For example:',
      next: [['accounts', 'list', '--query', '[].iban', '-r']],
    });
  }
  if (rawOutput && output === 'csv' && !json) {
    throw new Psd2Error('usage', '--raw-output and -o csv exclude each other', {
      hint: 'CSV has no quotes around texts that need none.',
    });
  }
}

/** Whether a variable of the environment switches something on. */
export function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0' && value !== 'false';
}
