import { randomBytes } from 'node:crypto';
import { link, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { flushFolder, hasCode, temporaryPath, writeDurably } from './durable-files.ts';

const FILE = 'control-token';

/**
 * The secret for the control interface: a new one for each start, and with a state folder the one in its file `control-token`,
 * so that programs of others keep working after a restart.
 */
export async function controlTokenOf(stateFolder: string | undefined): Promise<string> {
  const made = randomBytes(24).toString('base64url');
  if (stateFolder === undefined) return made;
  const path = join(stateFolder, FILE);
  const kept = await readFile(path, 'utf8').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return '';
    throw error;
  });
  if (kept.trim().length >= 16) return kept.trim();
  const temporary = temporaryPath(stateFolder, FILE);
  await rm(path, { force: true });
  await writeDurably(temporary, `${made}\n`);
  await link(temporary, path);
  await rm(temporary, { force: true });
  await flushFolder(stateFolder);
  return made;
}
