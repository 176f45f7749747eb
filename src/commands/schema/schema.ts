import * as z from 'zod/mini';
import { anyBankFile } from '../../bank/descriptions.ts';
import { didYouMean } from '../../did-you-mean.ts';
import { isRecord } from '../../domain/json.ts';
import { Psd2Error } from '../../errors.ts';
import { seedFile } from '../../sandbox/seed/seed-schema.ts';
import { anything, described, type Field, list, object, record, text } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { type Commands, examples, type Printed, type Verb } from '../declare.ts';

/** The files that an operator writes, by the word that names them for `psd2 schema`. */
export const FILES: Readonly<Record<string, Printed>> = {
  seed: { what: 'a seed file of the sandbox', shape: described(seedFile) },
  bank: { what: 'a bank file', shape: described(anyBankFile) },
};

const printedSchema = object({
  command: text('argument of psd2 schema').as('Command', { whole: true }),
  what: text('what the command prints').as('Prints'),
  schema: record(anything(), 'JSON Schema, 2020-12'),
});

export const schema: Verb = {
  prints: { what: 'schemas', shape: list(printedSchema) },
  declare: (command, run, { commands }) =>
    command
      .argument(
        '[command...]',
        'the words of a command, or "error" or "event" for lines of stderr, or "bank" for a bank file',
      )
      // Options such as `--chart` choose between the two outputs of a command.
      .allowUnknownOption()
      .addHelpText(
        'after',
        `
Without a command, psd2 lists all schemas; with --json it prints them. With -o ndjson, psd2 prints a list one element a
line, and "items" in the schema describes each element. A later psd2 may print further fields.

${examples('psd2 schema accounts list', 'psd2 schema accounts transactions --chart', 'psd2 schema error', 'psd2 schema bank', 'psd2 schema transfer create > transfer.schema.json').trimStart()}`,
      )
      .action((words) =>
        run(async (context) => {
          const all = await printedBy(commands);
          if (words.length === 0) await showAll(context, all);
          else context.output.json(schemaOf(...(await find(words, all, commands))));
        }),
      ),
};

/**
 * What each command prints with `--json`, by the name of the command. If an option changes the output, the name includes the
 * option. `error` and `event` are lines of stderr, `bank` is a file of the operator's. Commands that print no data are left out.
 */
export async function printedBy(commands: Commands): Promise<Map<string, Printed>> {
  const all = new Map<string, Printed>();
  await collectPrinted(commands, '', all);
  for (const [name, printed] of Object.entries({ ...STDERR, ...FILES })) all.set(name, printed);
  return all;
}

async function collectPrinted(commands: Commands, group: string, all: Map<string, Printed>): Promise<void> {
  for (const [word, { load }] of Object.entries(commands)) {
    const name = `${group}${word}`;
    const loaded = await load();
    if ('commands' in loaded) {
      await collectPrinted(loaded.commands, `${name} `, all);
      continue;
    }
    if (loaded.prints) all.set(name, loaded.prints);
    for (const [option, printed] of Object.entries(loaded.printsWith ?? {}))
      all.set(`${name} ${option}`, printed);
  }
}

async function showAll({ output }: Context, all: Map<string, Printed>): Promise<void> {
  const rows = [...all].map(([command, printed]) => ({
    command,
    what: printed.what,
    // A table does not show the schema.
    schema: output.format === 'table' ? {} : schemaOf(command, printed),
  }));
  await output.table(rows, printedSchema, '');
}

/** The JSON Schema of what a command prints. */
export function schemaOf(command: string, { what, shape }: Printed): JsonSchema {
  return toJsonSchema(
    shape,
    command in STDERR || command in FILES ? `psd2: ${what}` : `psd2 ${command}: ${what}`,
  );
}

/** @throws Psd2Error `usage` */
async function find(
  words: readonly string[],
  all: Map<string, Printed>,
  commands: Commands,
): Promise<[string, Printed]> {
  const name = words
    .join(' ')
    .trim()
    .replace(/\s+/g, ' ')
    .replace(/^psd2 /, '');
  const meant = await withStandard(name, commands);
  const printed = all.get(meant);
  if (printed) return [meant, printed];
  const names = [...all.keys()];
  const inGroup = names.filter((each) => each.startsWith(`${name} `));
  throw new Psd2Error('usage', `There is no schema for ${JSON.stringify(name)}`, {
    ...(inGroup.length > 0
      ? { hint: `There are schemas for: ${inGroup.join(', ')}.` }
      : { hint: `${didYouMean(name, names)}See all schemas with:`, next: [['schema']] }),
  });
}

/** `transfer` alone means `transfer create`. */
async function withStandard(name: string, commands: Commands): Promise<string> {
  const loaded = Object.hasOwn(commands, name) ? await commands[name]?.load() : undefined;
  return loaded && 'commands' in loaded && loaded.standard ? `${name} ${loaded.standard}` : name;
}

const describedText = (what: string) => z.string().check(z.describe(what));

/** The events of stderr (`terminal/events.ts`). */
const event = () =>
  z
    .union([
      z.object({ event: z.enum(['note', 'warning']), message: describedText('the message') }),
      z.object({
        event: z.literal('flow'),
        flow: describedText('local id of a flow that psd2 has begun or resumed'),
        kind: z.enum(['transfer', 'consent', 'operation']),
        state: describedText('state of the flow at that time'),
      }),
      z.object({
        event: z.literal('open'),
        url: describedText('address for the customer to open'),
        psuId: z.optional(describedText('who authorises, as the bank was told')),
      }),
      z.object({
        event: z.literal('call'),
        method: describedText('GET, POST, PUT or DELETE'),
        path: describedText('path with its query'),
        outcome: z.union([z.int(), z.string()]).check(z.describe('HTTP status, or why there was no answer')),
        milliseconds: z.number(),
        tppRequestId: describedText('TPP-Request-ID'),
        transactionId: describedText('TPP-Transaction-ID'),
        requestId: z.nullable(describedText("result.requestId of the bank's answer")),
        apiTrackId: z.nullable(describedText("the bank's session id")),
      }),
    ])
    .check(z.describe('a line of stderr, with --json or ndjson, if stderr is not a terminal'));

/** The last line of stderr of a command that failed. */
const error = () => {
  const describedOrNull = (what: string) => z.nullable(describedText(what));
  return z.object({
    event: z.enum(['error']).check(z.describe('what the line is')),
    error: z.object({
      code: describedText('kind of error, from a closed list'),
      message: describedText('what happened'),
      exitCode: z.int().check(z.describe('exit code of the process')),
      hint: describedOrNull('what to do about it'),
      next: z
        .array(z.array(z.string()))
        .check(z.describe('commands to run next, each as a list of words: psd2 and its arguments')),
      flow: describedOrNull('local id of the flow'),
      httpStatus: z.nullable(z.int()).check(z.describe("HTTP status of the bank's answer")),
      bankCode: describedOrNull("result.messages[].code of the bank's answer"),
      requestId: describedOrNull("result.requestId of the bank's answer, every digit"),
      tppRequestId: describedOrNull('TPP-Request-ID of the call'),
      transactionId: describedOrNull('TPP-Transaction-ID of the call'),
      differs: z
        .optional(z.array(z.string()))
        .check(z.describe('with duplicate_reference: fields in which the two transfers differ')),
    }),
  });
};

/** The lines of stderr, by the word that names them for `psd2 schema`. */
const STDERR: Readonly<Record<string, Printed>> = {
  error: { what: 'the last line of stderr of a command that failed', shape: described(error) },
  event: { what: 'any other line of stderr', shape: described(event) },
};

/** A JSON Schema, or a part of one. */
export type JsonSchema = Record<string, unknown>;

/**
 * Converts a form to JSON Schema (2020-12). The schema allows more fields, because a later psd2 may print more.
 *
 * @param title of the schema
 */
export function toJsonSchema({ parts }: Field<unknown, never>, title: string): JsonSchema {
  const { $schema, ...schema } = z.toJSONSchema(parts.schema(), { io: 'input', target: 'draft-2020-12' });
  return { $schema, title, ...tidy(schema) };
}

/** Shortens a schema: drops the pattern of a format, and the limits that every JavaScript integer has. */
function tidy(part: JsonSchema): JsonSchema {
  const { pattern, minimum, maximum, propertyNames, anyOf, ...rest } = part;
  const tidied: JsonSchema = Object.fromEntries(
    Object.entries(rest).map(([name, value]) => [name, isRecord(value) ? tidyValue(name, value) : value]),
  );
  if (rest.format === undefined && pattern !== undefined) tidied.pattern = pattern;
  if (minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER) tidied.minimum = minimum;
  if (maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER) tidied.maximum = maximum;
  return Array.isArray(anyOf) ? { ...eitherOf(anyOf.filter(isRecord).map(tidy)), ...tidied } : tidied;
}

function tidyValue(name: string, value: JsonSchema): JsonSchema {
  if (name !== 'properties') return tidy(value);
  return Object.fromEntries(
    Object.entries(value).map(([field, part]) => [field, isRecord(part) ? tidy(part) : part]),
  );
}

/** Puts null into the type if there is one: `type: ['string', 'null']`. */
function eitherOf(parts: JsonSchema[]): JsonSchema {
  const [part, nothing] = parts;
  const isPlain = typeof part?.type === 'string' && part.enum === undefined && part.const === undefined;
  if (parts.length === 2 && part && nothing?.type === 'null') {
    if (isPlain) return { ...part, type: [part.type, 'null'] };
    // The description is for both alternatives.
    const { description, ...described } = part;
    return { anyOf: [described, nothing], ...(description !== undefined && { description }) };
  }
  return { anyOf: parts };
}
