import { Psd2Error } from '../errors.ts';
import { OUTPUT_FORMATS, type OutputFormat, parseOutputFormat } from '../terminal/output/output.ts';

/** The options that choose the output, as given. */
interface Given {
  json?: true | undefined;
  output?: string | undefined;
  query?: string | undefined;
}

/** All global options that this reads. */
interface OutputOptions extends Given {
  rawOutput?: true | undefined;
  raw?: true | undefined;
  input: boolean;
  quiet?: true | undefined;
  color: boolean;
}

/** How a command prints. psd2 reads it first, so that it reports even a wrong option in the right form. */
export interface OutputMode {
  format: OutputFormat;
  /** JMESPath over what `--json` would print. */
  query: string | undefined;
  /** Print strings from the query without quotes. */
  bareStrings: boolean;
  noInput: boolean;
  quiet: boolean;
  /** Data on stdout has colour. */
  colour: boolean;
  /** stderr may have colour if it is a terminal. */
  mayHaveColour: boolean;
}

/** @throws Psd2Error `usage` */
export function readOutputMode(
  options: OutputOptions,
  env: NodeJS.ProcessEnv,
  isTerminal: boolean,
): OutputMode {
  const raw = { ...options, output: outputOf(options, env) };
  const forced = env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '' && env.FORCE_COLOR !== '0';
  if (raw.output) parseOutputFormat(raw.output);
  refuseContradiction(raw);
  const mayHaveColour = raw.color && !env.NO_COLOR;
  return {
    bareStrings: raw.rawOutput === true,
    format: requestedFormat(raw) ?? 'table',
    query: raw.query,
    noInput: !raw.input || isSet(env.PSD2_NO_INPUT),
    quiet: raw.quiet === true,
    colour: mayHaveColour && (forced || isTerminal),
    mayHaveColour,
  };
}

/** Whether psd2 writes an error as JSON, after the options were read. */
export function errorsAreJson(options: Given, env: NodeJS.ProcessEnv): boolean {
  return isForPrograms(requestedFormat({ ...options, output: outputOf(options, env) }));
}

/** Whether psd2 writes an error as JSON, before the options are read, since they may be wrong. */
export function wantsJson(): boolean {
  const { argv, env } = process;
  return errorsAreJson(givenIn(argv.slice(2), env), env);
}

/** JSON and NDJSON are for programs. Programs get messages as JSON too. */
export function isForPrograms(format: OutputFormat | undefined): boolean {
  return format === 'json' || format === 'ndjson';
}

/** The requested format; undefined if none was requested or if it is unknown. */
function requestedFormat({ json, output, query }: Given): OutputFormat | undefined {
  if (json) return 'json';
  if (output) return OUTPUT_FORMATS.find((each) => each === output);
  return query === undefined ? undefined : 'json';
}

/** The value of `--output`. The options `--json` and `--query` count more than the variable `PSD2_OUTPUT`. */
function outputOf({ json, output, query }: Given, { PSD2_OUTPUT }: NodeJS.ProcessEnv): string | undefined {
  const isOverruled = json === true || (query !== undefined && output === 'table');
  return isOverruled && output === PSD2_OUTPUT ? undefined : output;
}

function givenIn(words: string[], env: NodeJS.ProcessEnv): Given {
  // Of an option that is given twice, the last value counts.
  const at = words.findLastIndex((word) => /^(-o|--output(=|$))/.test(word));
  const named = words[at]?.replace(/^(-o|--output=?)/, '') || words[at + 1];
  return {
    json: words.includes('--json') || undefined,
    output: at === -1 ? env.PSD2_OUTPUT : named,
    query: words.find((word) => /^--query(=|$)/.test(word)),
  };
}

function refuseContradiction({ output, json, query, raw, rawOutput }: OutputOptions): void {
  if (json && output !== undefined && output !== 'json')
    throw new Psd2Error('usage', `--json and -o ${output} contradict each other`, {
      hint: 'Give one of them.',
    });
  if (query !== undefined && raw) throw new Psd2Error('usage', '--query and --raw cannot be used together');
  if (query !== undefined && output === 'table')
    throw new Psd2Error('usage', '--query cannot print a table', { hint: 'Use -o json, ndjson or csv.' });
  if (rawOutput && query === undefined)
    throw new Psd2Error('usage', '--raw-output needs --query', {
      hint: 'For example:',
      next: [['accounts', 'list', '--query', '[].iban', '-r']],
    });
  if (rawOutput && output === 'csv')
    throw new Psd2Error('usage', '--raw-output and -o csv cannot be used together', {
      hint: 'CSV already has quotes only where they are needed.',
    });
}

/** Whether an environment variable turns something on. */
export function isSet(value: string | undefined): boolean {
  return value !== undefined && !/^\s*(0|false|no|off)?\s*$/i.test(value);
}
