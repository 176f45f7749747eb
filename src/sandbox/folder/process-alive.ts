import { readFileSync } from 'node:fs';
import { hasCode } from './system-error.ts';

/** Whether a process of this id runs, be it ours to signal or not. One that ended and was not collected does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
  return !isZombie(pid);
}

/** In a container whose first process collects no orphans, an ended process stays in the table for good. */
function isZombie(pid: number): boolean {
  if (process.platform !== 'linux') return false;
  try {
    return /^\d+ \(.*\) Z /s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
