import { readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** A path as it is typed, where no shell has read it: absolute, with the home folder for `~`. */
export function pathOf(text: string): string {
  const path = text.trim();
  return /^~(?:\/|$)/.test(path) ? join(homedir(), path.slice(1)) : resolve(path);
}

/**
 * What the Tab key makes of the beginning of a path, as a shell does: as much of it as is sure, and the names to choose from
 * where there are several. A folder ends with `/`; a name that begins with a dot is offered to who types the dot. What can't
 * be read completes nothing.
 */
export function completePath(begun: string): { text: string; choices: string[] } {
  if (begun === '~') return { text: '~/', choices: [] };
  const at = begun.lastIndexOf('/') + 1;
  const [folder, begin] = [begun.slice(0, at), begun.slice(at)];
  const names = namesIn(pathOf(folder)).filter(
    (name) => name.startsWith(begin) && (begin.startsWith('.') || !name.startsWith('.')),
  );
  const [only, another] = names;
  if (only === undefined) return { text: begun, choices: [] };
  if (another === undefined) return { text: folder + only, choices: [] };
  return { text: folder + names.reduce(commonBeginning), choices: names };
}

/** The names of a folder, sorted, folders with a slash; none with control characters. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => !/\p{Cc}/u.test(name))
      .sort()
      .map((name) => (isFolder(join(folder, name)) ? `${name}/` : name));
  } catch {
    return [];
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function commonBeginning(one: string, other: string): string {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return one.slice(0, length);
}
