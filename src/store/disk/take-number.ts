import { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import { appendDurably, removeStored, systemCode, takeName } from './files.ts';

/**
 * Makes a complete, durable file under a name that only one process can take: a number, where the numbers are an order. The folder
 * is not flushed yet.
 *
 * @returns false if another process has the name
 * @throws Error of Node
 */
export function takeNumber(path: string, content: string): boolean {
  const beside = join(dirname(path), `.${randomUUID()}`);
  try {
    appendDurably(beside, 'wx', content);
    takeName(beside, path);
    return true;
  } catch (cause) {
    if (systemCode(cause) === 'EEXIST') return false;
    throw cause;
  } finally {
    removeStored(beside);
  }
}
