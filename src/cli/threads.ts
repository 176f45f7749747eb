import { stat } from 'node:fs';

/**
 * Gives the threads that read files and look up names for Node something to do each second. glibc before 2.41 can
 * lose the signal that wakes one of them (its bug 25847): what it was to read is then waited for without end, until
 * there is other work. It keeps no process from ending.
 *
 * @returns what stops it
 */
export function keepThreadsAwake(): () => void {
  const each = setInterval(() => stat('/', () => {}), 1_000).unref();
  return () => clearInterval(each);
}
