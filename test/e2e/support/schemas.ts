import { readFileSync } from 'node:fs';
import type { ErrorObject, ValidateFunction } from 'ajv';
import * as z from 'zod';

// Everything that the built program prints for programs must match `psd2 schema`, without any further field.

const written = new URL('../../../node_modules/.cache/psd2-schemas.json', import.meta.url);
const printed = z.array(z.object({ command: z.string(), schema: z.record(z.string(), z.unknown()) }));

/** Global options that take a value. */
const VALUED = /^(-o|--(profile|customer|grant|output|query|timeout|sca-timeout|psu-ip|lang|trace))$/;
/** The default commands of groups. */
const MEANT: Readonly<Record<string, string>> = {
  transfer: 'transfer create',
  'sandbox customer': 'sandbox customer play',
  log: 'log list',
  smoke: 'smoke run',
  sync: 'sync run',
};

/** A call that has ended, as far as its output is checked. */
interface Called {
  args: string[];
  /** The value of `PSD2_OUTPUT`, if it was set. */
  output: string | undefined;
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Everything in the output of calls that does not match its schema. */
export async function departures(calls: readonly Called[]): Promise<string[]> {
  const found: string[] = [];
  for (const call of calls) {
    for (const [name, value] of dataOf(call)) {
      const validate = await validatorOf(name);
      if (!validate) found.push(`psd2 ${call.args.slice(1).join(' ')}: there is no schema of ${name}`);
      else if (!validate(value))
        found.push(`psd2 ${call.args.slice(1).join(' ')}: ${describe(validate.errors)}`);
    }
  }
  return found;
}

/** The documents that a call printed, each with the name of its schema. */
function dataOf({ args: [program, ...args], output, code, stdout, stderr }: Called): [string, unknown][] {
  // Operators start other programs too.
  if (program === undefined || !program.endsWith('/bin/psd2.js')) return [];
  const format = formatOf(args, output);
  // A killed process may have ended in the middle of a line.
  if (code === null || (format !== 'json' && format !== 'ndjson')) return [];
  const lines = stderr.split('\n').flatMap((line): [string, unknown][] => {
    const said = line.startsWith('{') ? parse(line) : undefined;
    if (typeof said !== 'object' || said === null) return [];
    return 'error' in said ? [['error', said]] : 'event' in said ? [['event', said]] : [];
  });
  const name = nameOf(args);
  const isOwn = args.some((word) => /^(--query|--raw|--curl|--help|-h|--version)\b/.test(word));
  const isDocument = args[args.indexOf('--file') + 1] === '-';
  if (isOwn || isDocument || !/^[[{]/.test(stdout)) return lines;
  if (format === 'json')
    return [
      ...lines,
      ...(code === 0 || parse(stdout) ? ([[name, parse(stdout)]] satisfies [string, unknown][]) : []),
    ];
  const rows = stdout.trimEnd().split('\n').map(parse);
  // If the document is a list, each line has one element.
  return [
    ...lines,
    ...(isList(name)
      ? ([[name, rows]] satisfies [string, unknown][])
      : rows.map((row): [string, unknown] => [name, row])),
  ];
}

function formatOf(args: string[], output: string | undefined): string | undefined {
  if (args.includes('--json')) return 'json';
  const at = args.findIndex((word) => word === '-o' || word === '--output');
  if (at !== -1) return args[at + 1];
  return args.find((word) => word.startsWith('--output='))?.slice('--output='.length) ?? output;
}

/** The name of the command, with the option that changes its output. */
function nameOf(args: string[]): string {
  const words = args.filter((word, index) => !VALUED.test(word) && !VALUED.test(args[index - 1] ?? ''));
  const isGlobal = (word: string) =>
    /^-(-json|-no-input|-yes|y|-quiet|q|-verbose|v|-no-browser|-qr|-no-color)$/.test(word);
  const named = words.filter((word) => !isGlobal(word));
  const options = named.findIndex((word) => word.startsWith('-'));
  const command = options === -1 ? named : named.slice(0, options);
  const known = [3, 2, 1].map((count) => command.slice(0, count).join(' '));
  const name =
    known.map((each) => MEANT[each] ?? each).find((each) => schemas().has(each)) ?? command.join(' ');
  if (name === 'schema' && command.length > 1) return 'schema of one';
  const variant = named.find((word) => schemas().has(`${name} ${word}`));
  return variant === undefined ? name : `${name} ${variant}`;
}

let read: Map<string, Record<string, unknown>> | undefined;
const compiled = new Map<string, ValidateFunction>();

function schemas(): Map<string, Record<string, unknown>> {
  read ??= new Map(
    printed.parse(JSON.parse(readFileSync(written, 'utf8'))).map(({ command, schema }) => [command, schema]),
  );
  return read;
}

function isList(name: string): boolean {
  return schemas().get(name)?.type === 'array';
}

async function validatorOf(name: string): Promise<ValidateFunction | undefined> {
  const schema = name === 'schema of one' ? { type: 'object' } : schemas().get(name);
  if (!schema) return undefined;
  const known = compiled.get(name);
  if (known) return known;
  const [{ Ajv2020 }, { default: formats }] = await Promise.all([
    import('ajv/dist/2020.js'),
    import('ajv-formats'),
  ]);
  const validate = formats
    .default(new Ajv2020({ allErrors: true, allowUnionTypes: true }))
    .compile(closed(schema));
  compiled.set(name, validate);
  return validate;
}

/** The same schema, whose objects have no fields but the named ones. */
function closed(part: Record<string, unknown>): Record<string, unknown> {
  const inner = Object.entries(part).map(([name, value]) => [name, closedValue(value)]);
  const isNamed = part.properties !== undefined && part.additionalProperties === undefined;
  return { ...Object.fromEntries(inner), ...(isNamed && { additionalProperties: false }) };
}

function closedValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closedValue);
  return isObject(value) ? closed(value) : value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function describe(errors: ErrorObject[] | null | undefined): string {
  return (errors ?? [])
    .slice(0, 5)
    .map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`)
    .join('; ');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
