import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { buildProgram, COMMANDS } from '../../../src/cli/program.ts';

import { printedBy, schemaOf, toJsonSchema } from '../../../src/commands/schema/schema.ts';
import { columnsOf } from '../../../src/terminal/output/shape.ts';
import { leaves } from '../../cli/leaves.ts';

/** It serves all schemas, because its first use compiles the schema of schemas, which takes long. */
const ajv = formats.default(new Ajv2020({ strict: true, allowUnionTypes: true }));
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

test.each([...printed])(
  'the schema of %s is JSON Schema 2020-12 and uses no unknown keyword',
  (name, what) => {
    const schema = schemaOf(name, what);
    expect(schema).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema' });
    expect(() => ajv.compile(schema)).not.toThrow();
  },
);

test('a schema describes its fields and allows further ones', () => {
  const shape = () =>
    z.object({
      at: z.nullable(z.iso.datetime({ offset: true }).check(z.describe('when'))),
      count: z.optional(z.int()),
      kind: z.nullable(z.enum(['a', 'b']).check(z.describe('which'))),
      within: z.record(z.string(), z.string()),
    });
  expect(toJsonSchema(shape, 'a thing')).toEqual({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'a thing',
    type: 'object',
    properties: {
      at: { type: ['string', 'null'], format: 'date-time', description: 'when' },
      count: { type: 'integer' },
      kind: { anyOf: [{ type: 'string', enum: ['a', 'b'] }, { type: 'null' }], description: 'which' },
      within: { type: 'object', additionalProperties: { type: 'string' } },
    },
    required: ['at', 'kind', 'within'],
  });
});

test('the CSV columns are the fields of the shape, and nested fields have their path', () => {
  const money = () => z.object({ amount: z.string(), currency: z.string() });
  const row = () => z.object({ id: z.string(), total: z.nullable(money()), tags: z.array(money()) });
  expect(columnsOf(row)).toEqual(['id', 'total.amount', 'total.currency', 'tags']);
  expect(columnsOf(() => z.array(row()))).toEqual(['id', 'total.amount', 'total.currency', 'tags']);
  expect(columnsOf(() => z.object({ settings: z.record(z.string(), z.string()) }))).toBeUndefined();
});
