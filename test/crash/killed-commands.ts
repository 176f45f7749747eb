import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect } from 'vitest';
import type { Ended, Environment, Operator } from '../e2e/support/psd2.ts';
import { type Server, startServer } from '../store/postgres/server.ts';
import { bySeed } from '../support/sample.ts';
import type { Backend } from './backends.ts';
import { ALL } from './bank.ts';

// Commands that change a store, and that are killed in the middle (kill-at-step.js).

const KILL = fileURLToPath(new URL('kill-at-step.js', import.meta.url));

/** The store of an operator, which each try empties. */
export function useHome(operator: Operator, backend: Backend) {
  let server: Server | undefined;
  let databases = 0;
  beforeAll(() => {
    if (backend === 'PostgreSQL') server = startServer(undefined, 20);
  });
  afterAll(() => server?.stop());
  return {
    /** Empties these folders, and in PostgreSQL begins another database. @param init options of `psd2 store init` */
    async empty(folders: string[], ...init: '--plain-tokens'[]): Promise<void> {
      for (const folder of folders) rmSync(join(operator.config, folder), { recursive: true, force: true });
      if (!server) return;
      databases += 1;
      server.create(`home${databases}`);
      operator.env.PSD2_STORE = server.url(`home${databases}`);
      if (init.length > 0) operator.env.PSD2_STORE_PLAIN_TOKENS = '1';
      const made = await operator.psd2(['store', 'init', ...init]);
      expect(made, made.stderr).toMatchObject({ code: 0 });
    },
    /** Runs SQL in the database, if there is one. */
    sql: (text: string) => server?.sql(`home${databases}`, text),
  };
}

/** Kills a command at the n-th moment that fits the pattern. */
export async function killedAt(
  operator: Operator,
  args: string[],
  [pattern, nth]: [string, number],
  env: Environment = {},
): Promise<Ended> {
  const hit = { NODE_OPTIONS: `--import=${KILL}`, KILL_AT: pattern, KILL_NTH: String(nth) };
  return (await operator.start(args, { ...env, ...hit })).ended;
}

/** One of these moments. All of them take longer than a run of all tests may: `CRASH_MATRIX=all` takes them. */
export const someOf = (moments: number[]) => (ALL ? moments : bySeed(moments, String).slice(0, 1));
