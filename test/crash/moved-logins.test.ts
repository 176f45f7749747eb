import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { logIn, useSandbox } from '../e2e/support/psd2.ts';
import { BACKENDS } from './backends.ts';
import { killedAt, someOf, useHome } from './killed-commands.ts';

const moved = z.object({ logins: z.int(), customers: z.int() });
const PATTERNS = {
  files: '^(?:before|half|after) .*tokens',
  PostgreSQL: '^(?:before|after) .*(?:tokens|claims|customers)',
};

describe.each(BACKENDS)('psd2 auth move with a store in %s', (backend) => {
  const operator = useSandbox();
  const home = useHome(operator, backend);

  const moments = someOf(Array.from({ length: 20 }, (_, index) => index + 1));
  it.each(moments)('killed at step %i, it loses no login, and a second run completes it', async (nth) => {
    await home.empty(['stores', 'tokens', 'audit'], '--plain-tokens');
    await logIn(operator, 'none');
    const shown = await operator.psd2(['profile', 'show', '--json']);
    const old: string = JSON.parse(shown.stdout).settings.baseUrl.value;
    // The sandbox answers at both names.
    const env = { PSD2_BASE_URL: old.replace('127.0.0.1', 'localhost') };
    const move = ['auth', 'move', '--from', old, '--yes', '--json'];
    await killedAt(operator, move, [PATTERNS[backend], nth], env);

    await operator.json(moved, move, { env });
    // The one refresh token is at the new address, and the bank takes it.
    expect(await operator.psd2(['auth', 'refresh', '--json'], { env })).toMatchObject({ code: 0 });
    expect(await operator.json(moved, move, { env })).toMatchObject({ logins: 0, customers: 0 });
  });
});
