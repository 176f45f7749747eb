import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { keepRunning, PROGRAM, useOperator } from '../support/psd2.ts';

const operator = keepRunning(useOperator());

const platforms = z.array(z.looseObject({ name: z.string() }));
const anything = z.record(z.string(), z.unknown());

/** Writes a bank file. @returns its path */
function write(name: string, content: unknown): string {
  const path = join(operator.folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

it('a field with control characters reaches no terminal as it is', async () => {
  const path = write('escape.json', { interface: 'nextgenpsd2', '\u001b[31mred': 1 });
  const { stdout, stderr } = await operator.psd2(['bank', 'check', path]);
  expect(stdout + stderr).not.toContain('\u001b');
});

it('bank files go through a pipe', async () => {
  const script = 'psd2 bank show wso2 | psd2 bank check /dev/stdin --json';
  const shell = `psd2() { '${process.execPath}' '${PROGRAM}' "$@"; }; set -o pipefail; ${script}`;
  const { code, stdout } = await (await operator.startProgram('bash', ['-c', shell])).ended;
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, name: 'WSO2 Open Banking, Berlin toolkit' });
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

it('psd2 schema bank is JSON Schema that agrees with psd2 bank check, and describes every field', async () => {
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
