import { expect, it } from 'vitest';
import * as z from 'zod';
import { useDoor } from './door-operator.ts';

// A bank that wants a secret header in each call.
const KEY = 'key-of-the-test-7711';
const operator = useDoor({ headers: { static: { 'X-API-Key': KEY } } });
operator.env.PSD2_BANK_TEST_KEY = KEY;
const bankFile = () =>
  operator.write('client.json', { headers: { static: { 'X-API-Key': 'env:PSD2_BANK_TEST_KEY' } } });
const consent = z.looseObject({ flow: z.string(), resourceId: z.string() });

it('psd2 api at a NextGenPSD2 bank signs a call in its way, and adds the Consent-ID of a flow', async () => {
  const env = { PSD2_BANK: bankFile() };
  const { flow, resourceId } = await operator.json(consent, ['consent', 'request'], { env });
  const read = ['api', 'GET', '/v1/accounts', '--consent', flow];
  const { accounts } = await operator.json(z.looseObject({ accounts: z.array(z.unknown()) }), read, {
    env,
  });
  expect(accounts.length).toBeGreaterThan(0);

  const shown = await operator.psd2([...read, '--dry-run', '--json'], { env });
  const { headers } = z
    .looseObject({ headers: z.record(z.string(), z.string()) })
    .parse(JSON.parse(shown.stdout));
  expect(headers).toMatchObject({ 'consent-id': resourceId, signature: expect.stringContaining('SN=') });
  expect(headers).not.toHaveProperty('authorization');
  expect(headers).not.toHaveProperty('tpp-request-id');
  const curl = await operator.psd2([...read, '--curl'], { env });
  expect(curl.stdout).toContain(`consent-id: ${resourceId}`);
  expect(shown.stdout + curl.stdout).not.toContain(KEY);
});
