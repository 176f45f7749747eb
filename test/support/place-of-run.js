import { existsSync, readFileSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const MEMORY = '/dev/shm';
/** More than the tests have at the same time. */
const ENOUGH_BYTES = 4 * 1024 ** 3;

/**
 * Where a run of the tests has its folder: in memory on Linux, because the tests wait for a disk at each fsync, and half of the
 * time of the system goes there. On disk if `TMPDIR` says where, or if the memory is small or runs no programs, as in a container.
 */
export function placeOfRun() {
  if (process.env.TMPDIR !== undefined || !existsSync('/proc/self/mounts')) return tmpdir();
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  const [, , kind, options] = mounts.find((line) => line.split(' ')[1] === MEMORY)?.split(' ') ?? [];
  if (kind !== 'tmpfs' || /\b(?:ro|noexec)\b/.test(options ?? '')) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize < ENOUGH_BYTES ? tmpdir() : MEMORY;
}
