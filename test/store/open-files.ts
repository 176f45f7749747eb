import { readdirSync, readlinkSync } from 'node:fs';

/** The files that this process has open, of those whose path begins so. What earlier tests left does not count. */
export function openBelow(path: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`);
      return target.startsWith(path) ? [target] : [];
    } catch {
      return [];
    }
  });
}
