import { readdirSync, readFileSync } from 'node:fs';
import type { StoreFolder } from './folder.ts';

/** What completion offers of the profiles. As quick as a keystroke wants it: what is odd or missing gives nothing. */
export function glanceAtProfiles({ profiles, config }: StoreFolder) {
  return {
    /** Their names, sorted. */
    names: () => namesIn(profiles, /^(.+)\.json$/),
    /** The one that was chosen with `profile use`. */
    current: (): string | undefined => {
      try {
        const chosen: unknown = JSON.parse(readFileSync(config, 'utf8'));
        const name = typeof chosen === 'object' && chosen !== null && Reflect.get(chosen, 'currentProfile');
        return typeof name === 'string' ? name : undefined;
      } catch {
        return undefined;
      }
    },
  };
}

/** What the pattern finds in the names of a folder's entries, sorted; nothing where it can't be listed. */
export function namesIn(folder: string, pattern: RegExp): string[] {
  try {
    return readdirSync(folder)
      .flatMap((name) => pattern.exec(name)?.[1] ?? [])
      .sort();
  } catch {
    return [];
  }
}
