import { expect, it } from 'vitest';
import * as z from 'zod';
import * as shapes from '../support/shapes.ts';
import { callsOf } from '../support/verbose.ts';
import { useDoor } from './door-operator.ts';

// The second door wants serial numbers in decimal.
const operator = useDoor({ signing: { keyId: { serial: 'decimal' } } });
const online = z.looseObject({ ok: z.boolean(), checks: shapes.checks.shape.checks });

async function checkOnline(file: string, ...args: string[]) {
  const ended = await operator.psd2(['bank', 'check', '--online', file, '--json', '--verbose', ...args]);
  const { ok, checks } = online.parse(JSON.parse(ended.stdout));
  return { ended, ok, of: (name: string) => checks.find((check) => check.name === name) };
}

it('psd2 doctor at a NextGenPSD2 bank makes one reading with a consent that does not exist, and no login', async () => {
  const ended = await operator.succeeds(['doctor', '--json', '--verbose']);
  const { checks } = shapes.checks.parse(JSON.parse(ended.stdout));
  const statuses = Object.fromEntries(checks.map(({ name, status }) => [name, status]));
  expect(statuses).toMatchObject({ TLS: 'ok', clock: 'ok', signature: 'ok', token: 'skip' });
  expect(statuses).not.toHaveProperty('authorize');
  expect(checks.find(({ name }) => name === 'signature')?.detail).toContain('CONSENT_UNKNOWN');
  expect(callsOf(ended).map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /nextgenpsd2/v1/accounts',
  ]);
});

it('psd2 bank check --online says that the connection and the signature are right', async () => {
  const found = await checkOnline(operator.write('right.json', { extends: './door.json' }));
  expect(found).toMatchObject({ ok: true, ended: { code: 0 } });
  expect(found.of('QWAC')).toMatchObject({ status: 'ok' });
  expect(found.of('signature')).toMatchObject({ status: 'ok' });
  expect(found.of('bank file')).toBeUndefined();
});
