import { anyBankFile } from '../../src/bank/descriptions.ts';
import { nextgenpsd2 } from '../../src/bank/interfaces/nextgenpsd2/description/description.ts';
import type { BankDescription } from '../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { aboutPlatform, SURENESS } from '../../src/bank-file/about.ts';
import { readBankFile } from '../../src/bank-file/bank-file.ts';
import { type ExplainedValue, explainBank } from '../../src/bank-file/explain.ts';
import { describedFields } from '../../src/bank-file/fields.ts';
import { platformNames, readPlatform } from '../../src/bank-file/platforms.ts';
import { type JsonSchema, toJsonSchema } from '../../src/commands/schema/schema.ts';
import { described } from '../../src/terminal/output/fields.ts';
import { BLOCK, table } from './generated-table.ts';
import { isSchema, typeOf } from './output-page.ts';

const DESCRIPTIONS = { nextgenpsd2: () => nextgenpsd2 };
/** Writes the tables of platforms and of fields in `docs/banks.md`. @param page as it stands. The rest of it does not change */
export async function writeBanksPage(page: string): Promise<string> {
  const tables = [await platformsTable(), fieldsTable()];
  if (page.match(BLOCK)?.length !== tables.length) throw new Error('docs/banks.md has lost its marks');
  return page.replace(BLOCK, () => tables.shift() ?? '');
}

async function platformsTable(): Promise<string> {
  const names = platformNames().filter((name) => name !== 'standard');
  const rows = await Promise.all(names.map(rowOf));
  const head = [
    'platform',
    'who is behind it',
    'reading',
    'paying',
    'SCA',
    'funds',
    'psd2 cannot',
    'how sure',
  ];
  return table(head, rows);
}

function fieldsTable(): string {
  const form = toJsonSchema(described(anyBankFile), '');
  const objects = new Set<unknown>(['object', undefined]);
  const rows = describedFields(nextgenpsd2.schema).flatMap(({ path, what, standard }) => {
    const field = path.split('.').reduce(fieldIn, form);
    const isGroup = standard === undefined && field.properties !== undefined && objects.has(field.type);
    const value =
      standard === undefined
        ? ''
        : `\`${typeof standard === 'string' ? standard : JSON.stringify(standard)}\``;
    return isGroup ? [] : [`| \`${path}\` | ${valuesOf(field)} | ${value} | ${what} |`];
  });
  return table(['field', 'values', 'default', 'meaning'], rows);
}

/** The JSON Schema of the files in `banks/`, for editors: a bank file, and what such a file says beside it. */
export function writePlatformSchema(): string {
  const { properties, ...bank } = toJsonSchema(described(anyBankFile), 'psd2: the bank file of a platform');
  if (!isSchema(properties)) throw new Error('The schema of a bank file has no fields');
  const {
    $schema: _dialect,
    title: _title,
    ...form
  } = toJsonSchema(
    described(() => aboutPlatform),
    '',
  );
  const about = { description: 'what is known of the platform beside its values', ...form };
  const fields = { $schema: { type: 'string', description: 'this schema' }, ...properties, about };
  return `${JSON.stringify({ ...bank, properties: fields }, null, 2)}\n`;
}

/** A field of an object, or of the object among its alternatives. */
function fieldIn(schema: JsonSchema, name: string): JsonSchema {
  const places = [schema, ...(Array.isArray(schema.anyOf) ? schema.anyOf : [])].filter(isSchema);
  const found = places.map(({ properties }) => isSchema(properties) && properties[name]).find(isSchema);
  if (!found) throw new Error(`The schema of a bank file has no ${name}`);
  return found;
}

function valuesOf(field: JsonSchema): string {
  if (field.type === 'array' && isSchema(field.items)) return `list: ${valuesOf(field.items)}`;
  if (field.type === 'boolean') return '`true`, `false`';
  if (field.type === 'integer') return `${field.minimum} to ${field.maximum}`;
  if (Array.isArray(field.anyOf)) return field.anyOf.filter(isSchema).map(valuesOf).join('; ');
  return typeOf(field);
}

async function rowOf(name: string): Promise<string> {
  const read = await readBankFile(name, DESCRIPTIONS);
  const { consent, payments } = read.description;
  const values = explainBank(read);
  const about = aboutPlatform.parse(readPlatform(name).about);
  const { behind = '', says = ['readings', 'payments'], cannot = '', facts } = about;
  const isSaid = (path: string) =>
    values.some(({ field, from }) => field.startsWith(path) && from !== 'default');
  const told = (what: 'readings' | 'payments' | 'funds', path: string, words: string) => {
    if (!says.includes(what)) return 'no source describes it';
    return isSaid(path) ? words : STANDARD;
  };
  const cells = [
    name,
    behind,
    told('readings', 'consent.types', consent.types.join(', ')),
    told('payments', 'payments.products', paying(payments)),
    isSaid('sca.approaches') || isSaid('oauth.mode') ? nextgenpsd2.login(read.description) : STANDARD,
    told('funds', 'funds', STANDARD),
    cannot,
    sureness(
      values,
      Object.entries(facts).flatMap(([path, fact]) => (fact.sureness === 'contested' ? [path] : [])),
    ),
  ];
  return `| ${cells.join(' | ')} |`;
}

const STANDARD = 'as the standard has it';

function paying({ products }: BankDescription['payments']): string {
  const kinds = [
    products.payments.some((name) => !name.startsWith('instant')) && 'single',
    products.payments.some((name) => name.startsWith('instant')) && 'instant',
    products['bulk-payments'].length > 0 && 'bulk',
    products['periodic-payments'].length > 0 && 'standing orders',
  ];
  return kinds.filter(Boolean).join(', ');
}

/** How many values have which sureness, and which ones are contested. */
function sureness(values: readonly ExplainedValue[], contested: readonly string[]): string {
  const counts = SURENESS.flatMap((word) => {
    const fields = values.filter(({ sureness, field }) => sureness === word && field !== 'banks');
    return word === 'contested' || fields.length === 0 ? [] : [`${fields.length} ${word}`];
  });
  const names = contested.map((path) => `\`${path}\``);
  return [...counts, ...(names.length > 0 ? [`contested: ${names.join(', ')}`] : [])].join('; ');
}
