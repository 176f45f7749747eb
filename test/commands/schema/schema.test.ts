import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { buildProgram, COMMANDS } from '../../../src/cli/program.ts';
import { printedBy, schemaOf, toJsonSchema } from '../../../src/commands/schema/schema.ts';
import { described, object } from '../../../src/terminal/output/fields.ts';
import { leaves } from '../../cli/leaves.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { cellsIn, type How, openCommand, ranIn } from '../command.ts';
import { failureOf } from '../failure.ts';

/** It serves all schemas, because its first use compiles the schema of schemas, which takes long. */
const ajv = formats.default(new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true }));
const printed = await printedBy(COMMANDS);

/** These commands print no data. */
const SILENT = ['help', 'completion'];
/** These schemas describe lines on stderr, and a file of the operator. */
const NO_COMMANDS = ['seed', 'error', 'event', 'bank'];

test('every command that prints data has a schema, and every schema belongs to a command', async () => {
  const commands = leaves(await buildProgram('0.0.0')).filter((name) => !SILENT.includes(name));
  const named = [...printed.keys()].filter((name) => !NO_COMMANDS.includes(name));
  expect([...new Set(named.map((name) => name.replace(/ --\S+$/, '')))].sort()).toEqual(commands.sort());
});

test.each([...printed])('the schema of %s is JSON Schema 2020-12, without unknown keywords', (name, what) => {
  const schema = schemaOf(name, what);
  expect(schema).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema' });
  expect(() => ajv.compile(schema)).not.toThrow();
  expect(what.what).toMatch(/^\S.+\S$/);
  // Each field that is described is described by something.
  expect(JSON.stringify(schema)).not.toContain('"description":""');
});

describe('psd2 schema', () => {
  const temporary = temporaryFolder();
  const run = async (words: string[], how?: How) => {
    const command = openCommand(newConfigFolder(temporary), '2026-11-21T12:00:00.000Z', how);
    return (await ranIn(command, 'schema', ...words)).printed;
  };
  const schemas = z.strictObject({
    ...{ command: z.string(), what: z.string(), schema: z.record(z.string(), z.unknown()) },
  });
  const NONE = { what: '', shape: object({}) };
  const title = async (...words: string[]) =>
    z.looseObject({ title: z.string() }).parse(JSON.parse(await run(words))).title;

  const CHART = 'psd2 accounts transactions --chart: balances by day, money in and out by month';
  test.each<[string, string[], string]>([
    ['a command', ['transfer', 'list'], 'psd2 transfer list: transfers'],
    ['a command as one word', ['transfer list'], 'psd2 transfer list: transfers'],
    ['a command with psd2 and blanks', ['psd2', ' transfer  list '], 'psd2 transfer list: transfers'],
    ['a group that means its standard command', ['transfer'], 'psd2 transfer create: a transfer'],
    ['a single command', ['doctor'], 'psd2 doctor: checks'],
    ['a command with the option that changes its output', ['accounts', 'transactions', '--chart'], CHART],
    ['a command without it', ['accounts', 'transactions'], 'psd2 accounts transactions: transactions'],
    ['the last line of stderr', ['error'], 'psd2: the last line of stderr of a command that failed'],
    ['the other lines of stderr', ['event'], 'psd2: any other line of stderr'],
    ['a seed file', ['seed'], 'psd2: a seed file of the sandbox'],
    ['a bank file', ['bank'], 'psd2: a bank file'],
  ])('prints that of %s', async (_, words, what) => {
    expect(await title(...words)).toBe(what);
  });

  test('prints it as JSON in a table too, as it does for a program', async () => {
    expect(await run(['profile', 'use'], { format: 'table' })).toBe(await run(['profile', 'use']));
  });

  test('without a command, a person reads what there is, and a program gets the schemas', async () => {
    const all = [...printed].map(([name, { what }]) => [name, what]);
    expect(cellsIn(await run([], { format: 'table' }))).toEqual(all);
    const drawn = (await run([], { format: 'table', columns: 120 })).split('\n');
    expect(drawn[0]?.trim().split(/ {2,}/)).toEqual(['COMMAND', 'PRINTS']);
    const listed = z.array(schemas).parse(JSON.parse(await run([])));
    expect(listed.map(({ command, what }) => [command, what])).toEqual(all);
    const [first, last] = [listed[0], listed.at(-1)];
    expect([first, last].map((each) => each?.schema)).toEqual(
      [first, last].map((each) => schemaOf(each?.command ?? '', printed.get(each?.command ?? '') ?? NONE)),
    );
  });

  const SEE_ALL = { hint: 'See all schemas with:', next: [['schema']] };
  const LIKE = { ...SEE_ALL, hint: 'Did you mean transfer list? See all schemas with:' };
  const SEE_SOME = { ...SEE_ALL, hint: expect.stringMatching(/See all schemas with:$/) };
  const FAULTS = 'There are schemas for: sandbox fault add, sandbox fault list, sandbox fault clear.';
  test.each<[string, string[], object]>([
    ['a command that does not exist', ['transfer', 'lst'], LIKE],
    ['what resembles nothing', ['quux'], SEE_ALL],
    ['a group without a standard command', ['sandbox', 'fault'], { hint: FAULTS }],
    ['an option that changes no output', ['accounts', 'list', '--chart'], SEE_SOME],
    ['a command that prints no data', ['completion'], SEE_ALL],
    ['nothing', [''], SEE_ALL],
    ['a command after another word', ['the', 'psd2', 'doctor'], SEE_ALL],
    ['what every object has', ['constructor'], SEE_ALL],
  ])('has none for %s', async (_, words, advice) => {
    const message = `There is no schema for "${words.join(' ')}"`;
    expect(await failureOf(run(words))).toEqual({ code: 'usage', exitCode: 2, message, ...advice });
    // Blanks around a word are none of it.
    expect((await failureOf(run([' ', ...words]))).message).toBe(message);
  });
});

test('a schema keeps the limits and patterns of its fields, describes what may be null, and allows further fields', () => {
  const shape = () =>
    z.object({
      day: z.string().check(z.regex(/^\d+$/), z.describe('which day')),
      share: z.number().check(z.gte(0), z.lte(1)),
      text: z.nullable(z.string().check(z.describe('some text'))),
      either: z.union([z.int(), z.string()]).check(z.describe('one of two')),
      literal: z.nullable(z.literal('a')),
      several: z.nullable(z.union([z.string(), z.boolean()])),
      list: z.array(z.nullable(z.int())),
      three: z.union([z.int(), z.null(), z.string()]),
      pattern: z.string(),
      minimum: z.int(),
      at: z.nullable(z.iso.datetime({ offset: true }).check(z.describe('when'))),
      count: z.optional(z.int()),
      kind: z.nullable(z.enum(['a', 'b']).check(z.describe('which'))),
      within: z.record(z.string(), z.string()),
    });
  expect(toJsonSchema(described(shape), 'a thing')).toStrictEqual({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'a thing',
    type: 'object',
    properties: {
      day: { type: 'string', pattern: '^\\d+$', description: 'which day' },
      share: { type: 'number', minimum: 0, maximum: 1 },
      text: { type: ['string', 'null'], description: 'some text' },
      either: { anyOf: [{ type: 'integer' }, { type: 'string' }], description: 'one of two' },
      literal: { anyOf: [{ type: 'string', const: 'a' }, { type: 'null' }] },
      several: { type: ['string', 'boolean', 'null'] },
      list: { type: 'array', items: { type: ['integer', 'null'] } },
      three: { anyOf: [{ type: 'integer' }, { type: 'null' }, { type: 'string' }] },
      pattern: { type: 'string' },
      minimum: { type: 'integer' },
      at: { type: ['string', 'null'], format: 'date-time', description: 'when' },
      count: { type: 'integer' },
      kind: { anyOf: [{ type: 'string', enum: ['a', 'b'] }, { type: 'null' }], description: 'which' },
      within: { type: 'object', additionalProperties: { type: 'string' } },
    },
    required: [
      ...['day', 'share', 'text', 'either', 'literal', 'several', 'list', 'three', 'pattern', 'minimum'],
      ...['at', 'kind', 'within'],
    ],
  });
});

test('the lines of stderr are described with each of their fields', () => {
  const part = z.object({
    properties: z.record(z.string(), z.record(z.string(), z.unknown())),
    required: z.array(z.string()),
  });
  const fieldsOf = ({ properties, required }: z.infer<typeof part>) => {
    expect(required).toEqual(Object.keys(properties).filter((name) => name !== 'psuId'));
    const fields = Object.entries(properties);
    return Object.fromEntries(
      fields.map(([name, field]) => [name, field.const ?? field.enum ?? field.description]),
    );
  };
  const known = printed.get('event');
  const { anyOf, description } = z
    .object({ anyOf: z.array(part), description: z.string() })
    .parse(known && schemaOf('event', known));
  expect(description).toBe('a line of stderr, with --json or ndjson, if stderr is not a terminal');
  expect(anyOf.map(fieldsOf)).toEqual([
    { event: ['note', 'warning'], message: 'the message' },
    {
      ...{ event: 'flow', flow: 'local id of a flow that psd2 has begun or resumed' },
      ...{ kind: ['transfer', 'consent', 'operation'], state: 'state of the flow at that time' },
    },
    {
      ...{ event: 'open', url: 'address for the customer to open' },
      psuId: 'who authorises, as the bank was told',
    },
    {
      ...{ event: 'call', method: 'GET, POST, PUT or DELETE', path: 'path with its query' },
      ...{ outcome: 'HTTP status, or why there was no answer', milliseconds: undefined },
      ...{ tppRequestId: 'TPP-Request-ID', transactionId: 'TPP-Transaction-ID' },
      ...{ requestId: "result.requestId of the bank's answer", apiTrackId: "the bank's session id" },
    },
  ]);
});

test('the error of stderr is described with each of its fields', () => {
  const fields = z.object({
    required: z.array(z.string()),
    properties: z.record(z.string(), z.looseObject({ description: z.optional(z.string()) })),
  });
  const known = printed.get('error');
  const { properties, required } = z
    .object({
      properties: z.object({ event: z.looseObject({ enum: z.array(z.string()) }), error: fields }),
      required: z.array(z.string()),
    })
    .parse(known && schemaOf('error', known));
  expect([properties.event, required]).toEqual([
    { type: 'string', enum: ['error'], description: 'what the line is' },
    ['event', 'error'],
  ]);
  const { error } = properties;
  expect(error.required).toEqual(Object.keys(error.properties).filter((name) => name !== 'differs'));
  const { type, items } = z.looseObject({ items: z.unknown() }).parse(error.properties.next);
  expect([type, items]).toEqual(['array', { type: 'array', items: { type: 'string' } }]);
  const words = Object.entries(error.properties).map(([name, { description }]) => [name, description]);
  expect(Object.fromEntries(words)).toEqual({
    ...{ code: 'kind of error, from a closed list', message: 'what happened' },
    ...{ exitCode: 'exit code of the process', hint: 'what to do about it' },
    next: 'commands to run next, each as a list of words: psd2 and its arguments',
    ...{ flow: 'local id of the flow', httpStatus: "HTTP status of the bank's answer" },
    bankCode: "result.messages[].code of the bank's answer",
    requestId: "result.requestId of the bank's answer, every digit",
    ...{ tppRequestId: 'TPP-Request-ID of the call', transactionId: 'TPP-Transaction-ID of the call' },
    differs: 'with duplicate_reference: fields in which the two transfers differ',
  });
});
