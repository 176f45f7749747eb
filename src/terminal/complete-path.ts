import { readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** The absolute path for a text that the operator typed. `~` is the home folder, since no shell has replaced it. */
export function typedPath(text: string): string {
  const path = text.trim();
  return /^~(?:\/|$)/.test(path) ? join(homedir(), path.slice(1)) : resolve(path);
}

/**
 * Completes the beginning of a path like a shell at the Tab key: returns the certain part, and the names to choose from
 * if there are several. A folder ends with `/`. Names that begin with a dot are offered after the operator has typed the
 * dot. If the folder cannot be read, it completes nothing.
 */
export function completePath(begun: string): { text: string; choices: string[] } {
  if (begun === '~') return { text: '~/', choices: [] };
  const at = begun.lastIndexOf('/') + 1;
  const [folder, begin] = [begun.slice(0, at), begun.slice(at)];
  const names = entryNames(typedPath(folder)).filter(
    (name) => name.startsWith(begin) && (begin.startsWith('.') || !name.startsWith('.')),
  );
  const [only, another] = names;
  if (only === undefined) return { text: begun, choices: [] };
  if (another === undefined) return { text: folder + only, choices: [] };
  return { text: folder + names.reduce(commonBeginning), choices: names };
}

/** The names in a folder, sorted, without those that contain control characters. Folders end with a slash. */
function entryNames(folder: string): string[] {
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
