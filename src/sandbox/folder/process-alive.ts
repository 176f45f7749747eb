import { readFileSync } from 'node:fs';
import { hasCode } from './system-error.ts';

/** Whether a process with this id runs, even if it belongs to another user. A zombie does not run. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
  return !isZombie(pid);
}

/** If a container's first process does not collect orphans, an ended process stays in the process table. */
function isZombie(pid: number): boolean {
  if (process.platform !== 'linux') return false;
  try {
    return /^\d+ \(.*\) Z /s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
