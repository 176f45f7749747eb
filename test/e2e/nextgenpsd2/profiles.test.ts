import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { words } from '../../support/words.ts';
import { useDoor } from './door-operator.ts';

const operator = useDoor({ name: 'Bank of the tests' });
const certificate = (name: string) => join(operator.config, 'sandbox', 'certificates', name);
const read = (name: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(operator.config, 'profiles', `${name}.json`), 'utf8'));
const shown = z.looseObject({
  settings: z.record(z.string(), z.object({ value: z.string(), source: z.string() })),
});
const accounts = z.array(z.looseObject({ accountId: z.string() }));

it('a profile with a bank file needs no client, stores the content of the file, and reads accounts whatever the file becomes', async () => {
  const baseUrl = String(read('sandbox-nextgen').baseUrl);
  const file = operator.write('mine.json', { name: 'My bank', api: { baseUrl } });
  const keys = words`--qwac-cert ${certificate('qwac.pem')} --qwac-key ${certificate('qwac-key.pem')}
    --qseal-cert ${certificate('qseal.pem')} --qseal-key ${certificate('qseal-key.pem')} --ca
    ${certificate('ca.pem')}`;
  await operator.succeeds(['profile', 'add', 'mine', '--bank', file, ...keys, '--json']);
  expect(read('mine')).toMatchObject({ baseUrl, bank: expect.stringContaining('My bank') });
  writeFileSync(file, 'no JSON');
  const env = { PSD2_PROFILE: 'mine' };
  await operator.succeeds(['consent', 'request', '--json'], { env });
  expect((await operator.json(accounts, ['accounts', 'list'], { env })).length).toBeGreaterThan(0);
  const { settings } = await operator.json(shown, ['profile', 'show', 'mine']);
  expect(settings.bank).toEqual({ value: 'My bank, stored in the profile', source: 'profile' });
});
