import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import type { SmokeRun } from '../../smoke/result.ts';
import { makePrivateFolder, removeStored } from '../../store/disk/files.ts';
import { refuseUnsafe } from '../../store/disk/permissions.ts';
import { replaceDurably } from '../../store/disk/replace.ts';
import { smokeRun } from './shape.ts';

// What is kept of smoke tests on this machine: the last runs of each profile, and what a run has made that must be ended.

/** Something that a run has made, or is about to make. */
const made = z.union([
  z.object({ kind: z.literal('login'), customerId: z.string(), tokens: z.array(z.string()) }),
  z.object({ kind: z.enum(['consent', 'transfer', 'payment']), transactionId: z.string(), run: z.string() }),
]);
export type Made = z.infer<typeof made>;

const unended = z.object({ run: z.string(), made: z.array(made) });
const KEPT_RUNS = 20;

/** The files of a profile's smoke tests. */
export interface Records {
  /** Beside it is the lock of the run. */
  readonly unendedPath: string;
  /** What an earlier run has made and not ended. */
  unended(): { run: string; made: Made[] };
  /** @throws Psd2Error `config` if it cannot be written */
  noteUnended(run: string, made: readonly Made[]): void;
  save(run: SmokeRun): void;
  /** A run by its id or the beginning of it; without one, the last. @throws Psd2Error `usage` if there is none */
  find(id: string | undefined): SmokeRun;
  last(): SmokeRun | undefined;
}

/** @param folder of the profile's smoke tests */
export function openRecords(folder: string): Records {
  const unendedPath = join(folder, 'unended.json');
  const runs = () =>
    existsSync(folder)
      ? readdirSync(folder)
          .filter((name) => /^sm-\w+\.json$/.test(name))
          .sort()
      : [];
  const read = (name: string): SmokeRun | undefined => {
    const run = parsed(join(folder, name));
    return smokeRun.is(run) ? run : undefined;
  };
  return {
    unendedPath,
    unended() {
      if (!existsSync(unendedPath)) return { run: '', made: [] };
      const { data } = unended.safeParse(parsed(unendedPath));
      if (data) return data;
      throw new Psd2Error('config', `${unendedPath} is damaged`, {
        hint: 'It says what an earlier smoke test has made and not ended. Look at it, end that by hand, and remove the file.',
      });
    },
    noteUnended(run, left) {
      makePrivateFolder(folder);
      if (left.length === 0) removeStored(unendedPath);
      else replaceDurably(unendedPath, `${JSON.stringify({ run, made: left })}\n`);
    },
    save(run) {
      makePrivateFolder(folder);
      replaceDurably(join(folder, `${run.run}.json`), `${JSON.stringify(run)}\n`);
      for (const old of runs().slice(0, -KEPT_RUNS)) removeStored(join(folder, old));
    },
    last() {
      const name = runs().at(-1);
      return name === undefined ? undefined : read(name);
    },
    find(id) {
      const names = runs().filter((name) => id === undefined || name.startsWith(id));
      const run = read(names.at(-1) ?? '');
      if (run) return run;
      throw new Psd2Error(
        'usage',
        id === undefined ? 'There was no smoke test yet' : `There is no run ${id}`,
        {
          hint: 'Make one with:',
          next: [['smoke']],
        },
      );
    },
  };
}

function parsed(path: string): unknown {
  try {
    refuseUnsafe(path, 'secret');
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof Psd2Error) throw error;
    return undefined;
  }
}
