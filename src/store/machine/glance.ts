import { readdirSync, readFileSync } from 'node:fs';
import type { StoreFolder } from './folder.ts';

/** What completion offers for the profiles. It must be quick, and offers nothing if data is damaged or missing. */
export function glanceAtProfiles({ profiles, config }: StoreFolder) {
  return {
    /** The names of the profiles, sorted. */
    names: () => namesIn(profiles, /^(.+)\.json$/),
    /** The profile that was chosen with `profile use`. */
    current: (): string | undefined => {
      try {
        // Reflect.get throws if the file contains no object.
        const name: unknown = Reflect.get(JSON.parse(readFileSync(config, 'utf8')), 'currentProfile');
        return typeof name === 'string' ? name : undefined;
      } catch {
        return undefined;
      }
    },
  };
}

/** The first group of the pattern in each matching name of a folder, sorted. Empty if the folder cannot be listed. */
export function namesIn(folder: string, pattern: RegExp): string[] {
  try {
    return readdirSync(folder)
      .flatMap((name) => pattern.exec(name)?.[1] ?? [])
      .sort();
  } catch {
    return [];
  }
}
