import { randomBytes } from 'node:crypto';
import { link, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { fileText, flushFolder, replaceDurably, temporaryPath, writeDurably } from './durable-files.ts';

// What a state folder keeps for clients and programs of others, so that they keep working after a restart.

const PORTS = 'ports.json';
const TOKEN = 'control-token';

const port = z.int().check(z.minimum(1), z.maximum(65_535));
const ports = z.object({ api: port, site: port });

/** The ports that clients know: of the API, and of the customer site. */
export type KeptPorts = z.infer<typeof ports>;

/** The ports of the last sandbox with this state folder. Undefined if there was none, or its file is damaged. */
export async function keptPorts(stateFolder: string): Promise<KeptPorts | undefined> {
  const text = await fileText(join(stateFolder, PORTS));
  try {
    return ports.parse(JSON.parse(text ?? ''));
  } catch {
    return undefined;
  }
}

export function keepPorts(stateFolder: string, used: KeptPorts): Promise<void> {
  return replaceDurably(stateFolder, PORTS, `${JSON.stringify(used)}\n`);
}

/** The secret for the control interface: a new one for each start, and with a state folder the one in its file. */
export async function controlTokenOf(stateFolder: string | undefined): Promise<string> {
  const made = randomBytes(24).toString('base64url');
  if (stateFolder === undefined) return made;
  const path = join(stateFolder, TOKEN);
  const stored = (await fileText(path))?.trim() ?? '';
  if (stored.length >= 16) return stored;
  const temporary = temporaryPath(stateFolder, TOKEN);
  await rm(path, { force: true });
  await writeDurably(temporary, `${made}\n`);
  await link(temporary, path);
  await rm(temporary, { force: true });
  await flushFolder(stateFolder);
  return made;
}
