import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { flushFolder, hasCode, temporaryPath, writeDurably } from './durable-files.ts';

const FILE = 'ports.json';

const port = z.int().check(z.minimum(1), z.maximum(65_535));
const ports = z.object({ api: port, site: port });

/** The ports that clients know: of the API, and of the customer site. */
export type KeptPorts = z.infer<typeof ports>;

/** The ports of the last sandbox with this state folder. Undefined if there was none, or its file is damaged. */
export async function keptPorts(stateFolder: string): Promise<KeptPorts | undefined> {
  const text = await readFile(join(stateFolder, FILE), 'utf8').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return '';
    throw error;
  });
  try {
    return ports.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

export async function keepPorts(stateFolder: string, used: KeptPorts): Promise<void> {
  const temporary = temporaryPath(stateFolder, FILE);
  await writeDurably(temporary, `${JSON.stringify(used)}\n`);
  await rename(temporary, join(stateFolder, FILE));
  await flushFolder(stateFolder);
}
