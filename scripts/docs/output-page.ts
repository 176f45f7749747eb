import { COMMANDS } from '../../src/cli/program.ts';

import { type JsonSchema, printedBy, schemaOf } from '../../src/commands/schema/schema.ts';

const BEGIN = '<!-- written by npm run docs: begin -->';
/** The pattern of an exact decimal number. */
const DECIMAL = String.raw`^[+-]?\d+(\.\d+)?$`;
const END = '<!-- written by npm run docs: end -->';

/** Commands that print the same fields. */
interface Group {
  names: string[];
  /** What these fields are. */
  whats: Set<string>;
  schema: JsonSchema;
}

/**
 * Writes the part of `docs/output.md` that lists the fields of each command's `--json`, from the schemas of `psd2 schema`.
 *
 * @param page the page as it stands. The rest of it does not change
 */
export async function writeOutputPage(page: string): Promise<string> {
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error('docs/output.md has lost its marks');
  return `${before}${BEGIN}\n\n${await writeFields()}\n\n${END}${after}`;
}

async function writeFields(): Promise<string> {
  const all = await printedBy(COMMANDS);
  let error: JsonSchema = {};
  const schemas = new Map<string, Group>();
  for (const [name, printed] of all) {
    const { title: _title, ...schema } = schemaOf(name, printed);
    // Lines of stderr, and a file: they are no output of a command.
    if (name === 'event' || name === 'bank') continue;
    if (name === 'error') {
      error = schema;
      continue;
    }
    const key = JSON.stringify(schema);
    const group = schemas.get(key) ?? { names: [], whats: new Set(), schema };
    group.names.push(name);
    group.whats.add(printed.what);
    schemas.set(key, group);
  }
  return [
    ...[...schemas.values()].flatMap(({ names, whats, schema }) => [
      `### ${names.map((name) => `psd2 ${name}`).join(', ')}`,
      sentence([...whats].join('; ')),
      fieldsOf(schema),
    ]),
    '### Errors',
    'The last line of stderr of a command that failed, with `--json` or ndjson.',
    fieldsOf(error),
  ].join('\n\n');
}

function fieldsOf(schema: JsonSchema): string {
  const rows = [...rowsOf(schema, '')];
  const first = schema.type === 'array' ? ['A list. Of each element:'] : [];
  if (rows.length === 0) return [...first, sentence(String(schema.description ?? 'Any JSON'))].join('\n\n');
  return [...first, ['| field | type | meaning |', '|---|---|---|', ...rows].join('\n')].join('\n\n');
}

/** A row for each field. Fields of nested objects and lists have their path. */
function* rowsOf(schema: JsonSchema, path: string): Generator<string> {
  if (typeIs(schema, 'array') && isSchema(schema.items)) {
    yield* rowsOf(schema.items, path === '' ? '' : `${path}[]`);
    return;
  }
  for (const [name, field] of Object.entries(isSchema(schema.properties) ? schema.properties : {})) {
    if (!isSchema(field)) continue;
    const own = path === '' ? name : `${path}.${name}`;
    const isOptional = !(Array.isArray(schema.required) && schema.required.includes(name));
    const meaning = [isOptional ? 'may be absent' : '', field.description].filter(Boolean).join('; ');
    yield `| \`${own}\` | ${typeOf(field)} | ${cell(meaning)} |`;
    yield* rowsOf(field, own);
  }
}

/** The type in words: `string, date-time or null`. */
export function typeOf(schema: JsonSchema): string {
  if (Array.isArray(schema.anyOf)) return schema.anyOf.filter(isSchema).map(typeOf).join(' or ');
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (Array.isArray(schema.enum)) return schema.enum.map((word) => `\`${word}\``).join(', ');
  const [type, ...others] = Array.isArray(schema.type) ? schema.type : [schema.type ?? 'any'];
  const format = schema.format === undefined ? '' : ` (${schema.format})`;
  const pattern = schema.pattern === DECIMAL ? ' (decimal)' : '';
  return [`${type}${format}${pattern}`, ...others].join(' or ');
}

function typeIs({ type }: JsonSchema, wanted: string): boolean {
  return type === wanted || (Array.isArray(type) && type.includes(wanted));
}

/** Whether a part of a schema is a schema. */
export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
