import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openFiles } from '../../src/store/files/backend.ts';
import { storeFolder } from '../../src/store/machine/folder.ts';
import type { Store } from '../../src/store/ports/store.ts';
import { openPostgres } from '../../src/store/postgres/backend.ts';
import { type Environment, useOperator } from '../e2e/support/psd2.ts';
import { type Server, startServer } from '../store/postgres/server.ts';
import { settingsOf } from '../store/settings.ts';
import { BANK, fillStore, foundIn } from '../store/whole-store.ts';
import { sample } from '../support/sample.ts';

const preload = pathToFileURL(fileURLToPath(new URL('kill-at-step.js', import.meta.url))).href;
const operator = useOperator();
let server: Server;
beforeAll(() => {
  server = startServer();
});
afterAll(() => server.stop());

type BackendName = 'files' | 'postgres';

/** What a new worker of a backend finds. It guards no profile, because this machine looks at both backends. */
async function ask<T>(backend: BackendName, database: string, question: (store: Store) => Promise<T>) {
  const env = { PSD2_STORE: server.url(database), PSD2_STORE_PLAIN_TOKENS: '1' };
  const settings = settingsOf(storeFolder(operator.config), backend === 'files' ? {} : env);
  const store = backend === 'files' ? openFiles(settings) : openPostgres(settings);
  try {
    return await question(store);
  } finally {
    await store.close();
  }
}

function linesOfReads(): string[] {
  const folder = join(operator.config, 'tokens', 'bank', 'unattended-reads');
  return readdirSync(folder).flatMap((day) => readFileSync(join(folder, day), 'utf8').split('\n'));
}

/** Which backends take workers after a copy was killed: the source as long as nothing is copied, and then none. */
const SOURCE = { source: true, target: false };
const NEITHER = { source: false, target: false };

/** Each copy continues where the one before was killed, and is killed at the n-th moment that fits. */
const COPIES = [
  {
    from: 'files',
    to: 'postgres',
    kills: [
      ['^before update psd2.store', 1, { source: true, target: true }],
      ['^half write store.json.tmp', 1, SOURCE],
      ['^before with durable .*psd2.tokens', 1, NEITHER],
      ['^after with durable .*psd2.tokens', 2, NEITHER],
      ['^after with changed .*psd2.flow_events', 1, NEITHER],
      ['^after commit', 2, NEITHER],
      ['^before insert into psd2.call_counts', 1, NEITHER],
      ['^before update psd2.store', 2, NEITHER],
    ],
  },
  {
    from: 'postgres',
    to: 'files',
    kills: [
      ['^before update psd2.store', 1, SOURCE],
      ['^half appendFile tokens/', 1, NEITHER],
      ['^before link tokens/', 1, NEITHER],
      ['^after link tokens/', 2, NEITHER],
      ['^half writeFile tokens/bank/unattended-reads/', 1, NEITHER],
      ['^half appendFile flows/bank/tr-', 1, NEITHER],
      ['^after link flows/bank/tr-', 1, NEITHER],
      ['^before link flows/bank/references/', 1, NEITHER],
      ['^before rename store.json', 2, NEITHER],
    ],
  },
] as const;

describe.each(sample(COPIES, 1, ({ from }) => from))(
  'psd2 store copy from $from to $to',
  ({ from, to, kills }) => {
    it('the same command continues after SIGKILL at many steps: nothing is lost or doubled, and at most one backend takes workers', async () => {
      const database = `from_${from}`;
      server.create(database);
      rmSync(operator.config, { recursive: true, force: true });
      mkdirSync(operator.config, { mode: 0o700 });
      const env = { PSD2_STORE: server.url(database), PSD2_STORE_PLAIN_TOKENS: '1' };
      const made = await operator.psd2(['store', 'init', '--plain-tokens'], { env });
      expect(made, made.stderr).toMatchObject({ code: 0 });
      await ask(from, database, fillStore);
      const before = await ask(from, database, foundIn);
      const copy = (more: Environment = {}) =>
        operator.psd2(['store', 'copy', '--from', from, '--to', to, '--json'], { env: { ...env, ...more } });
      const takesWorkers = (backend: BackendName) =>
        ask(backend, database, async (store) => (await store.open('bank', BANK).tokens.last()) !== '').catch(
          (error: Error) => {
            expect(error.message).toMatch(/is not complete$|was copied to/);
            return false;
          },
        );
      const taking = async () => ({ source: await takesWorkers(from), target: await takesWorkers(to) });

      const NODE_OPTIONS = `--import=${preload}`;
      for (const [KILL_AT, nth, backends] of kills) {
        const killed = await copy({ NODE_OPTIONS, KILL_AT, KILL_NTH: String(nth) });
        expect(killed, `${KILL_AT} ${killed.stderr}`).toMatchObject({ signal: 'SIGKILL' });
        expect({ KILL_AT, ...(await taking()) }).toEqual({ KILL_AT, ...backends });
      }
      const ended = await copy();
      expect(ended, ended.stderr).toMatchObject({ code: 0 });
      expect(JSON.parse(ended.stdout)).toMatchObject({ logins: 2, flows: 2, events: 4, newer: 0 });
      expect(await taking()).toEqual({ source: false, target: true });
      expect(await ask(to, database, foundIn)).toEqual(before);
      // A line that was cut short counts for nobody.
      if (to === 'files') expect(linesOfReads().filter((line) => line.endsWith('*'))).toEqual(['42 *']);
    });
  },
);
