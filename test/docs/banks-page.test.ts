import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import { readBankFile } from '../../src/bank-file/bank-file.ts';
import { allFields, fieldsAt } from '../../src/bank-file/fields.ts';
import { bankFile } from '../../src/bank-file/schema.ts';
import { valuesIn } from '../../src/bank-file/values.ts';
import { FILES } from '../../src/commands/schema/files.ts';
import { toJsonSchema } from '../../src/commands/schema/schema.ts';
import { readPage } from './pages.ts';

/** The rows of the table of fields: name, values, default, reason. */
const fields = readPage('docs/banks.md')
  .split('\n')
  .map((line) =>
    line
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1),
  )
  .filter(([name = '']) => /^`[\w.-]+`$/.test(name))
  .map(([name = '', ...cells]) => [name.slice(1, -1), ...cells]);

it('the page has a row for every field of a bank file, in the order of the schema', () => {
  const known = allFields().filter((path) => path === 'accounts.paging' || !fieldsAt(path.split('.')));
  expect(fields.map(([name]) => name)).toEqual(known);
});

it('the page has the default of every field', async () => {
  const { file } = await readBankFile('standard');
  // The format of bulk payments has a default if the bank takes them.
  const description = bankFile.parse({ ...file, payments: { bulk: {} } });
  const own = ['interface', 'name', 'source'];
  const values = new Map([...valuesIn(description)].filter(([path]) => !own.includes(path)));
  for (const [name = '', , said = ''] of fields) {
    const value = values.get(name);
    const written = typeof value === 'string' ? value : JSON.stringify(value)?.replaceAll('","', '", "');
    expect(said, name).toBe(written === undefined ? '' : `\`${written}\``);
  }
});

it('the page names every word that a field takes', () => {
  const schema = z.looseObject({ properties: z.record(z.string(), z.unknown()) });
  const words = (part: unknown): string[] => {
    const { data } = z.looseObject({ enum: z.optional(z.array(z.string())) }).safeParse(part);
    if (!data) return [];
    const inner = [data.items, ...(Array.isArray(data.anyOf) ? data.anyOf : [])].flatMap(words);
    return [...(data.enum ?? []), ...inner];
  };
  const shape = FILES.bank?.shape;
  expect.assert(shape);
  for (const [name = '', values = ''] of fields) {
    let part: unknown = toJsonSchema(shape, '');
    for (const step of name.split('.')) part = schema.safeParse(part).data?.properties[step];
    if (name === 'payments.final') continue;
    for (const word of words(part)) expect(values, name).toContain(`\`${word}\``);
  }
});
