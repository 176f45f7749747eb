import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { keepRunning, useSandbox } from '../support/psd2.ts';

const environment = z.object({ PSD2_BASE_URL: z.string(), PSD2_BANK: z.string(), PSD2_CA: z.string() });
const bank = z.object({ name: z.string(), values: z.object({ oauth: z.object({ metadata: z.string() }) }) });

describe('a sandbox whose second door plays a platform', () => {
  const { psd2, json } = keepRunning(useSandbox(['--bank', 'sparkassen', '--variation', 'base-links']));

  test('sandbox env has its address and a bank file with its addresses', async () => {
    const env = await json(environment, ['sandbox', 'env', '--interface', 'nextgenpsd2']);
    expect(env.PSD2_BASE_URL).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/nextgenpsd2$/);
    const checked = await json(bank, ['bank', 'check', env.PSD2_BANK]);
    expect(checked.name).toBe('Sparkassen (S-Payment)');
    expect(checked.values.oauth.metadata).toBe(`${env.PSD2_BASE_URL}/.well-known/oauth-authorization-server`);
  });

  test('a fault may name an operation of the standard', async () => {
    expect(await psd2(['sandbox', 'fault', 'add', 'status=503', '--on', 'getBalances'])).toMatchObject({
      code: 0,
    });
  });

  test.each([
    [['--variation', 'nope'], 2, /Unknown variation "nope"/],
    [['--bank', 'nope'], 2, /nope/],
  ])('sandbox start %j is refused', async (words, code, message) => {
    const started = await psd2(['sandbox', 'start', '--port', '0', ...words]);
    expect(started).toMatchObject({ code, stderr: expect.stringMatching(message) });
  });
});
