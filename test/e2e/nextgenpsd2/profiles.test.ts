import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { words } from '../../support/words.ts';
import { readError } from '../support/errors.ts';
import { callsOf } from '../support/verbose.ts';
import { useDoor } from './door-operator.ts';

const operator = useDoor({ name: 'Bank of the tests' });
const certificate = (name: string) => join(operator.config, 'sandbox', 'certificates', name);
const read = (name: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(operator.config, 'profiles', `${name}.json`), 'utf8'));
const shown = z.looseObject({
  settings: z.record(z.string(), z.object({ value: z.string(), source: z.string() })),
});
const accounts = z.array(z.looseObject({ accountId: z.string() }));

const KEYS = () => words`--qwac-cert ${certificate('qwac.pem')} --qwac-key ${certificate('qwac-key.pem')}
  --qseal-cert ${certificate('qseal.pem')} --qseal-key ${certificate('qseal-key.pem')} --ca
  ${certificate('ca.pem')}`;
const baseUrl = () => String(read('sandbox-nextgen').baseUrl);
const add = (name: string, bank: string, ...more: string[]) =>
  operator.psd2(['profile', 'add', name, '--bank', bank, ...KEYS(), ...more, '--json']);

describe('a profile with a bank file', () => {
  it('needs no client, stores the content of the file, and reads accounts whatever the file becomes', async () => {
    const file = operator.write('mine.json', { name: 'My bank', api: { baseUrl: baseUrl() } });
    expect(await add('mine', file)).toMatchObject({ code: 0 });
    expect(read('mine')).toMatchObject({ baseUrl: baseUrl(), bank: expect.stringContaining('My bank') });
    writeFileSync(file, 'no JSON');
    const env = { PSD2_PROFILE: 'mine' };
    await operator.succeeds(['consent', 'request', '--json'], { env });
    expect((await operator.json(accounts, ['accounts', 'list'], { env })).length).toBeGreaterThan(0);
    const { settings } = await operator.json(shown, ['profile', 'show', 'mine']);
    expect(settings.bank).toEqual({ value: 'My bank, stored in the profile', source: 'profile' });
  });

  it('a bank that knows the application by a secret wants it, and sends nothing without it', async () => {
    const file = operator.write('secret.json', {
      api: { baseUrl: baseUrl() },
      oauth: {
        mode: 'pre-step',
        metadata: 'https://127.0.0.1/metadata',
        clientId: 'own',
        clientAuth: 'basic',
      },
    });
    const ended = await operator.psd2(words`profile add secret --bank ${file} ${KEYS()} --json --verbose`);
    expect(readError(ended)).toMatchObject({ code: 'usage', exitCode: 2 });
    expect(callsOf(ended)).toEqual([]);
  });
});
