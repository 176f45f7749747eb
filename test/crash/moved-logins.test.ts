import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { logIn, useSandbox } from '../e2e/support/psd2.ts';
import { type Server, startServer } from '../store/postgres/server.ts';
import { bySeed } from '../support/sample.ts';

const KILL = fileURLToPath(new URL('kill-at-step.js', import.meta.url));
const moved = z.object({ logins: z.int(), customers: z.int() });

describe.each(['files', 'PostgreSQL'] as const)('psd2 auth move with a store in %s', (home) => {
  const operator = useSandbox();
  let server: Server | undefined;
  let databases = 0;
  beforeAll(() => {
    if (home === 'PostgreSQL') server = startServer(undefined, 20, ['fsync=off', 'full_page_writes=off']);
  });
  afterAll(() => server?.stop());

  const points = Array.from({ length: 20 }, (_, index) => index + 1);
  // All of them take longer than a run of all tests may: CRASH_MATRIX=all takes them.
  const tried = process.env.CRASH_MATRIX === 'all' ? points : bySeed(points, String).slice(0, 1);
  it.each(tried)('killed at step %i, it loses no login, and a second run completes it', async (nth) => {
    for (const folder of ['stores', 'tokens', 'audit'])
      rmSync(join(operator.config, folder), { recursive: true, force: true });
    if (home === 'PostgreSQL') {
      databases += 1;
      server?.create(`move${databases}`);
      Object.assign(operator.env, {
        PSD2_STORE: server?.url(`move${databases}`),
        PSD2_STORE_PLAIN_TOKENS: '1',
      });
      expect(await operator.psd2(['store', 'init', '--plain-tokens'])).toMatchObject({ code: 0 });
    }
    await logIn(operator, 'none');
    const shown = await operator.psd2(['profile', 'show', '--json']);
    const old: string = JSON.parse(shown.stdout).settings.baseUrl.value;
    // The sandbox answers at both names.
    const env = { PSD2_BASE_URL: old.replace('127.0.0.1', 'localhost') };
    const move = ['auth', 'move', '--from', old, '--yes', '--json'];
    const pattern =
      home === 'files'
        ? '^(?:before|half|after) .*tokens'
        : '^(?:before|after) .*(?:tokens|claims|customers)';
    const hit = { NODE_OPTIONS: `--import=${KILL}`, KILL_AT: pattern, KILL_NTH: String(nth) };
    await (await operator.start(move, { ...env, ...hit })).ended;

    await operator.json(moved, move, { env });
    // The one refresh token is at the new address, and the bank takes it.
    expect(await operator.psd2(['auth', 'refresh', '--json'], { env })).toMatchObject({ code: 0 });
    expect(await operator.json(moved, move, { env })).toMatchObject({ logins: 0, customers: 0 });
  });
});
