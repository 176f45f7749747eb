import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { readError } from '../e2e/support/errors.ts';
import { type Environment, logIn, useSandbox } from '../e2e/support/psd2.ts';
import { BACKENDS } from './backends.ts';
import { killedAt, someOf, useHome } from './killed-commands.ts';

const OLD = { PSD2_CONFIG_PASSPHRASE: 'the old passphrase of the test' };
const NEW = { PSD2_CONFIG_PASSPHRASE: 'the new passphrase of the test' };
const REKEY = { ...OLD, PSD2_NEW_CONFIG_PASSPHRASE: NEW.PSD2_CONFIG_PASSPHRASE };
const TOKEN = ['auth', 'token', '--json'];
const token = z.object({ accessToken: z.string(), expiresAt: z.nullable(z.string()) });
const rekeyed = z.object({ place: z.string(), profiles: z.array(z.string()), oldWorks: z.boolean() });

const PATTERNS = {
  files: '^(?:before|half|after) .*protection',
  PostgreSQL: '^(?:before|after) .*(?:keys|commit|rekey)',
};

describe.each(BACKENDS)('psd2 store rekey with a store in %s', (backend) => {
  const operator = useSandbox();
  const home = useHome(operator, backend);

  /** A customer is logged in, and the old passphrase protects the store and the profile. */
  async function begin(): Promise<void> {
    await home.empty(['stores', 'flows', 'tokens', 'audit']);
    if (backend === 'files') {
      await operator.psd2(['profile', 'unprotect', '--yes', '--json'], { env: NEW });
      const protect = ['profile', 'protect', '--passphrase', '--json'];
      const done = await operator.psd2(protect, { env: OLD });
      expect(done, done.stderr).toMatchObject({ code: 0 });
    }
    Object.assign(operator.env, OLD);
    await logIn(operator, 'none');
  }
  const rekey = (...more: string[]) =>
    operator.json(rekeyed, ['store', 'rekey', ...more, '--json'], { env: REKEY });
  const opens = async (env: Environment) => (await operator.psd2(TOKEN, { env })).code;

  it('a wrong old passphrase changes nothing, both work until it is done, and then only the new one', async () => {
    await begin();
    const wrong = { ...REKEY, PSD2_CONFIG_PASSPHRASE: 'wrong' };
    const failed = await operator.psd2(['store', 'rekey', '--json'], { env: wrong });
    expect(readError(failed)).toMatchObject({ exitCode: 3 });
    expect([await opens(OLD), await opens(NEW)]).toEqual([0, 3]);
    const before = await operator.json(token, TOKEN);
    expect(await rekey('--keep-old')).toMatchObject({ profiles: ['sandbox'], oldWorks: true });
    expect([await opens(OLD), await opens(NEW)]).toEqual([0, 0]);
    // A worker with either renews the login, and the other one reads it.
    const renewed = await operator.psd2(['auth', 'refresh', '--json'], { env: NEW });
    expect(renewed, renewed.stderr).toMatchObject({ code: 0 });
    const after = await operator.json(token, TOKEN, { env: OLD });
    expect(after.accessToken).not.toBe(before.accessToken);

    expect(await rekey()).toMatchObject({ profiles: ['sandbox'], oldWorks: false });
    expect(await opens(NEW)).toBe(0);
    const refused = readError(await operator.psd2(TOKEN, { env: OLD }));
    expect(refused).toMatchObject({ exitCode: 3, hint: expect.stringContaining('psd2 store rekey') });
    expect(await rekey()).toMatchObject({ oldWorks: false });
  });

  it.each(someOf(Array.from({ length: 20 }, (_, index) => index + 1)))(
    'killed at step %i, it leaves a passphrase that works, and a second run completes it',
    async (nth) => {
      await begin();
      await killedAt(operator, ['store', 'rekey', '--json'], [PATTERNS[backend], nth], REKEY);
      expect([await opens(OLD), await opens(NEW)]).toContain(0);
      expect(await rekey()).toMatchObject({ oldWorks: false });
      expect([await opens(OLD), await opens(NEW)]).toEqual([3, 0]);
    },
  );
});
