import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { readError } from '../support/errors.ts';
import { keepRunning, PROGRAM, useOperator } from '../support/psd2.ts';

const operator = keepRunning(useOperator());

const checked = z.strictObject({
  ok: z.boolean(),
  name: z.string().nullable(),
  interface: z.literal('nextgenpsd2').nullable(),
  problems: z.array(z.strictObject({ path: z.string(), line: z.int().nullable(), message: z.string() })),
  values: z.record(z.string(), z.unknown()).nullable(),
  ...{ defaults: z.array(z.string()), variables: z.array(z.string()) },
});
const platforms = z.array(
  z.strictObject({
    name: z.string(),
    ...{ bank: z.string(), countries: z.array(z.string()), login: z.string().min(1) },
    source: z.url(),
    verifiedOn: z.union([z.null(), z.string().endsWith(', not a bank')]),
    differs: z.array(z.string()),
  }),
);
const anything = z.record(z.string(), z.unknown());

/** Writes a bank file. @returns its path */
function write(name: string, content: unknown): string {
  const path = join(operator.folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

/** Runs `psd2 bank check --json` on a file that is not right. */
async function problemsOf(path: string) {
  const ended = await operator.psd2(['bank', 'check', path, '--json']);
  expect(readError(ended)).toMatchObject({ code: 'config', exitCode: 3 });
  const found = checked.parse(JSON.parse(ended.stdout));
  expect(found).toMatchObject({ ok: false, values: null, defaults: [] });
  return found;
}

describe('psd2 bank check', () => {
  it('says which values are in force, and which are defaults', async () => {
    const path = write('right.json', {
      interface: 'nextgenpsd2',
      extends: 'sparda',
      psu: { id: 'required' },
    });
    const found = await operator.json(checked, ['bank', 'check', path]);
    expect(found).toMatchObject({ ok: true, name: 'Sparda-Banken', interface: 'nextgenpsd2', problems: [] });
    expect(found.values).toMatchObject({ psu: { id: 'required', ip: 'own' }, oauth: { mode: 'pre-step' } });
    expect(found.defaults).toContain('psu.ip');
    expect(found.defaults).not.toContain('psu.id');
    expect(found.defaults).not.toContain('oauth.mode');
  });

  it('in a pipe, prints a line for each value, with tabs', async () => {
    const path = write('right.json', { interface: 'nextgenpsd2', psu: { id: 'required' } });
    const { code, stdout, stderr } = await operator.psd2(['bank', 'check', path]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('psu.id\trequired\tfile\n');
    expect(stdout).toContain('psu.ip\town\tdefault\n');
  });

  it('names each problem with its path, and exits with 3', async () => {
    const path = write('wrong.json', {
      interface: 'nextgenpsd2',
      name: 'Wrong bank',
      sgining: {},
      signing: { keyId: { serial: 'octal' } },
    });
    const { name, interface: spoken, problems } = await problemsOf(path);
    expect({ name, spoken }).toEqual({ name: 'Wrong bank', spoken: 'nextgenpsd2' });
    expect(problems).toEqual([
      {
        ...{ path: 'signing.keyId.serial', line: 1 },
        message: 'signing.keyId.serial must be "hex", "hex-even", "hex-der" or "decimal"',
      },
      { path: 'sgining', line: 1, message: 'sgining is not a field of a bank file. Did you mean signing?' },
    ]);
    const asText = await operator.psd2(['bank', 'check', path]);
    expect(asText.code).toBe(3);
    expect(asText.stdout).toContain(
      'sgining\tsgining is not a field of a bank file. Did you mean signing?\n',
    );
    expect(asText.stderr).toContain('has 2 problems');
  });

  it('says where a file is no JSON, and names what is not there', async () => {
    const bad = write('bad.json', '{"interface":\n nextgenpsd2}');
    expect((await problemsOf(bad)).problems[0]?.message).toContain('is not valid JSON: line 2, column 2');
    const none = join(operator.folder, 'none.json');
    expect(readError(await operator.psd2(['bank', 'check', none, '--json']))).toMatchObject({
      ...{ code: 'usage', exitCode: 2, message: `No bank file or platform is called "${none}"` },
    });
    expect((await problemsOf(operator.folder)).problems[0]?.message).toContain('is a folder');
  });

  it('a field with control characters reaches no terminal as it is', async () => {
    const path = write('escape.json', { interface: 'nextgenpsd2', '\u001b[31mred': 1 });
    const { stdout, stderr } = await operator.psd2(['bank', 'check', path]);
    expect(stdout + stderr).not.toContain('\u001b');
  });

  it('needs a name or a path', async () => {
    expect(readError(await operator.psd2(['bank', 'check', '--json']))).toMatchObject({
      code: 'usage',
      exitCode: 2,
    });
  });
});

describe('psd2 bank list and show', () => {
  it('the list has the standard and more than twelve platforms, each with its source and what differs', async () => {
    const all = await operator.json(platforms, ['bank', 'list']);
    expect(all[0]).toMatchObject({ name: 'standard', differs: [] });
    expect(all.length).toBeGreaterThan(12);
    for (const { name, differs } of all.slice(1)) expect(differs, name).not.toEqual([]);
    const { stdout } = await operator.psd2(['bank', 'list']);
    expect(stdout.trimEnd().split('\n')).toHaveLength(all.length);
  });

  it('what show prints is a bank file that extends nothing, and stays as it is', async () => {
    for (const { name } of await operator.json(platforms, ['bank', 'list'])) {
      const shown = await operator.json(anything, ['bank', 'show', name]);
      const path = write('shown.json', shown);
      expect(await operator.json(checked, ['bank', 'check', path])).toMatchObject({
        ok: true,
        values: shown,
        defaults: [],
      });
      expect(await operator.json(anything, ['bank', 'show', path])).toEqual(shown);
    }
  });

  it('without --json, show prints a file that is easy to edit', async () => {
    const { stdout } = await operator.psd2(['bank', 'show', 'comdirect']);
    expect(stdout).toMatch(/^\{\n {2}"interface": "nextgenpsd2",\n/);
    expect(JSON.parse(stdout)).toEqual(await operator.json(anything, ['bank', 'show', 'comdirect']));
  });

  it('show refuses a file that is not right, and a name that it does not know', async () => {
    const path = write('wrong.json', { interface: 'cb' });
    expect(readError(await operator.psd2(['bank', 'show', path, '--json']))).toMatchObject({
      exitCode: 3,
      message: `The bank ${path} is invalid: interface must be "nextgenpsd2"`,
      next: [['psd2', 'bank', 'check', path]],
    });
    const unknown = readError(await operator.psd2(['bank', 'show', 'sparkasse', '--json']));
    expect(unknown.hint).toContain('Did you mean sparkassen?');
  });

  it('find names the platforms and the bank files of the folder that serve a bank', async () => {
    const banks = [{ name: 'My N26', bankCode: '10011001', country: 'DE' }];
    write('own.json', { interface: 'nextgenpsd2', name: 'Own', banks });
    write('other.json', { name: 'no bank file' });
    const { code, stdout, stderr } = await operator.psd2(['bank', 'find', 'DE36 1001 1001 0123 4567 89']);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.trimEnd());
    expect([code, lines.toSorted()]).toEqual([
      ...[0, ['file\town.json\tMy N26\tDE\t10011001', 'platform\tn26\tN26\tDE\t10011001\tNTSBDEB1']],
    ]);
    expect(stderr).toContain('No profile serves it.');
  });

  it('bank files go through a pipe', async () => {
    const script = 'psd2 bank show wso2 | psd2 bank check /dev/stdin --json';
    const shell = `psd2() { '${process.execPath}' '${PROGRAM}' "$@"; }; set -o pipefail; ${script}`;
    const { code, stdout } = await (await operator.startProgram('bash', ['-c', shell])).ended;
    expect(code).toBe(0);
    expect(checked.parse(JSON.parse(stdout))).toMatchObject({
      ok: true,
      name: 'WSO2 Open Banking, Berlin toolkit',
    });
  });

  it('a secret of the environment is never printed', async () => {
    const secret = 'key-of-the-application-4711';
    const path = write('secret.json', {
      interface: 'nextgenpsd2',
      headers: { static: { 'X-API-Key': 'env:PSD2_BANK_MYBANK_KEY' } },
    });
    for (const args of [
      ['bank', 'show', path],
      ['bank', 'check', path, '--json'],
      ['bank', 'check', path, '--verbose'],
    ]) {
      const { code, stdout, stderr } = await operator.psd2(args, { env: { PSD2_BANK_MYBANK_KEY: secret } });
      expect(code).toBe(0);
      expect(stdout).toContain('env:PSD2_BANK_MYBANK_KEY');
      expect(stdout + stderr).not.toContain(secret);
    }
  });
});

describe('psd2 schema bank', () => {
  it('is JSON Schema that agrees with psd2 bank check, and describes every field', async () => {
    const schema = await operator.json(anything, ['schema', 'bank']);
    const validate = formats
      .default(new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true }))
      .compile(schema);
    for (const { name } of await operator.json(platforms, ['bank', 'list'])) {
      const shown = await operator.json(anything, ['bank', 'show', name]);
      expect(validate(shown), name).toBe(true);
    }
    for (const wrong of [
      {},
      { interface: 'cb' },
      { interface: 'nextgenpsd2', a: 1 },
      { interface: 'nextgenpsd2', psu: { ip: 'x' } },
    ])
      expect(validate(wrong)).toBe(false);
    expect(undescribed(schema)).toEqual([]);
  });
});

/** The paths of fields without a description. */
function undescribed(schema: unknown, path = ''): string[] {
  const { success, data } = z.looseObject({ properties: z.record(z.string(), anything) }).safeParse(schema);
  const options = z.looseObject({ anyOf: z.array(anything) }).safeParse(schema).data?.anyOf ?? [];
  const within = success
    ? Object.entries(data.properties).flatMap(([name, field]) => [
        ...(field.description === undefined ? [`${path}.${name}`] : []),
        ...undescribed(field, `${path}.${name}`),
      ])
    : [];
  return [...within, ...options.flatMap((option) => undescribed(option, path))];
}

it('completion offers the platforms and the files', async () => {
  write('mybank.json', {});
  for (const verb of ['check', 'show']) {
    const { stdout } = await operator.psd2(['__complete', 'words', 'bank', verb, '']);
    const values = stdout.split('\n').map((line) => line.split('\t')[0]);
    expect(values[0]).toBe('values');
    expect(values).toEqual(expect.arrayContaining(['standard', 'sparda', 'mybank.json']));
  }
  const { stdout } = await operator.psd2(['__complete', 'words', 'bank', 'check', 'myb']);
  expect(stdout).toBe('values\nmybank.json\t\n');
});
