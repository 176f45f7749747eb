import { stat } from 'node:fs';

/**
 * Gives Node's thread pool (files, name lookups) some work each second. glibc before 2.41 can lose the signal that wakes a
 * thread (its bug 25847). The thread's work then hangs until other work arrives. The timer does not keep the process alive.
 *
 * @returns stops the timer
 */
export function keepThreadsAwake(): () => void {
  const each = setInterval(() => stat('/', () => {}), 1_000).unref();
  return () => clearInterval(each);
}
