import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import { OPERATIONS } from '../../src/bank/interfaces/nextgenpsd2/description/operations.ts';
import { bankFile } from '../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { valuesIn } from '../../src/bank-file/values.ts';
import { FILES, toJsonSchema } from '../../src/commands/schema/schema.ts';
import { allFields, fieldsAt, readBankFile } from '../bank-file/described.ts';
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

it('docs/output.md says of every field of a bank file what the schema says', () => {
  const rows = readPage('docs/output.md').matchAll(
    /^\| `values\.([\w.-]+)` \| .* \| (?:may be absent; )?(.*) \|$/gm,
  );
  const said = new Map([...rows].map(([, name = '', what = '']) => [name, what]));
  const object = z.looseObject({ properties: z.looseObject({}) });
  const fieldIn = (part: unknown, name: string): unknown => object.parse(part).properties[name];
  const shape = FILES.bank?.shape;
  expect.assert(shape);
  // The page has the alternatives of a field in one row.
  for (const name of allFields().filter((path) => !path.startsWith('accounts.paging.'))) {
    const field = name.split('.').reduce(fieldIn, toJsonSchema(shape, ''));
    const { description } = z.looseObject({ description: z.string() }).parse(field);
    expect(said.get(name), name).toBe(description);
  }
});

/** The rows of the tables that say how psd2 covers the standard: what, command, rule of the sandbox. */
const covered = readPage('docs/banks.md')
  .split('\n')
  .filter((line) => /^\| (`(GET|POST|PUT|DELETE) |header [A-Z]|field `)/.test(line))
  .map((line) => line.slice(2, -2).split(' | '));
const named = (pattern: RegExp) => covered.flatMap(([what = '']) => pattern.exec(what)?.[1] ?? []);

it('the page has a row for every operation of the standard, with its path', () => {
  expect(named(/\(`(\w+)`\)$/).toSorted()).toEqual(Object.keys(OPERATIONS).toSorted());
  for (const [what = ''] of covered.filter(([first = '']) => first.startsWith('`'))) {
    const [, method, path, id = ''] = /^`(\w+) (\S+)` \(`(\w+)`\)$/.exec(what) ?? [];
    expect(Object.entries(OPERATIONS).find(([known]) => known === id)?.[1]).toEqual({ method, path });
  }
});

it('the page says of every field what does it', () => {
  expect(named(/^field `([\w.-]+)`$/)).toEqual(fields.map(([name]) => name));
});

/** The headers of requests and answers of the standard that concern psd2. */
const HEADERS = [
  ...['X-Request-ID', 'Digest', 'Signature', 'TPP-Signature-Certificate', 'Consent-ID', 'Authorization'],
  ...['PSU-IP-Address', 'PSU-ID', 'PSU-ID-Type', 'PSU-Corporate-ID', 'PSU-Corporate-ID-Type'],
  ...['TPP-Redirect-URI', 'TPP-Nok-Redirect-URI', 'TPP-Redirect-Preferred', 'TPP-Decoupled-Preferred'],
  ...['TPP-Explicit-Authorisation-Preferred', 'TPP-Brand-Logging-Information', 'TPP-Notification-URI'],
  ...['PSU-IP-Port', 'PSU-Accept-Language', 'PSU-User-Agent', 'PSU-Device-ID', 'PSU-Geo-Location'],
  ...['Accept', 'Content-Type', 'Date', 'ASPSP-SCA-Approach', 'ASPSP-Multiple-Consent-Support'],
];

it('the page has every header', () => {
  const rows = named(/^header (.*)$/).flatMap((names) => names.split(/, | and /));
  for (const header of HEADERS) expect(rows).toContain(header);
});
