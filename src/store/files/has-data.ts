import { join } from 'node:path';
import { listFolder, readPlainFile } from '../disk/files.ts';
import type { StoreFolder } from '../machine/folder.ts';
import { holderOfName } from './file-names.ts';
import { Generations } from './token-file.ts';

/**
 * Whether a configuration folder has flows or tokens of a profile. Tokens count for any bank, and even if they are damaged.
 *
 * @throws Psd2Error `config` if a folder cannot be read
 */
export function hasDataInFiles(folder: StoreFolder, profile: string): boolean {
  const tokens = folder.tokens(profile);
  return (
    listFolder(folder.flows(profile)).some((name) => name.endsWith('.ndjson')) ||
    listFolder(tokens).some((name) => isOfHolder(name) && hasTokens(join(tokens, name)))
  );
}

/** A customer's or the application's folder of tokens. */
const isOfHolder = (name: string) => holderOfName(name) !== undefined;

/** A logout leaves a generation without tokens. */
function hasTokens(path: string): boolean {
  const generations = new Generations(path);
  const newest = generations.newest();
  return newest > 0 && readPlainFile(generations.pathOf(newest))?.toString('utf8') !== 'null';
}
