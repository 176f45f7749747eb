import { dirname } from 'node:path';
import { listFolder } from '../disk/files.ts';
import type { StoreFolder } from '../machine/folder.ts';
import { isProfileName } from '../machine/profiles.ts';

/** The profiles that have tokens or flows in a configuration folder, sorted. @throws Psd2Error `config` */
export function profilesIn({ tokens, flows }: StoreFolder): string[] {
  const names = [tokens('x'), flows('x')].flatMap((path) => listFolder(dirname(path)));
  return [...new Set(names)].filter(isProfileName).sort();
}
