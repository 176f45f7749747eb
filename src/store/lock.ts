import { dirname } from 'node:path';
import { Psd2Error } from '../errors.ts';
import { makePrivateFolder } from './json-file.ts';

/**
 * Runs `work` while holding the lock beside `path`, against every other `psd2` process that shares the
 * folder. A lock whose process died is taken over after some seconds.
 *
 * @param patienceMs how long another process may hold it; more than the 4 s after which a dead one loses it
 * @throws Psd2Error `config` when another process holds it for longer
 */
export async function withLock<T>(path: string, work: () => Promise<T>, patienceMs: number): Promise<T> {
  const { default: lockfile } = await import('proper-lockfile');
  let release: () => Promise<void>;
  try {
    makePrivateFolder(dirname(path));
    release = await lockfile.lock(path, {
      realpath: false,
      stale: 4_000,
      update: 1_000,
      retries: {
        retries: Math.ceil(patienceMs / 100),
        factor: 1,
        minTimeout: 50,
        maxTimeout: 150,
        randomize: true,
      },
      // A process that slept this long has lost it; the journal notices a writer in between by itself.
      onCompromised: () => {},
    });
  } catch (cause) {
    throw new Psd2Error('config', `The lock ${path}.lock could not be taken`, {
      hint: 'If another psd2 is at work, wait for it to end; else check who owns the folder, and remove the lock.',
      cause,
    });
  }
  try {
    return await work();
  } finally {
    // Already released when it was lost.
    await release().catch(() => {});
  }
}
