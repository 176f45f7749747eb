import { expect, it } from 'vitest';
import * as shapes from '../support/shapes.ts';
import { callsOf } from '../support/verbose.ts';
import { useDoor } from './door-operator.ts';

// The second door wants serial numbers in decimal.
const operator = useDoor({ signing: { keyId: { serial: 'decimal' } } });

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
