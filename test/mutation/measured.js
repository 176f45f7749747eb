import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/**
 * @param {string} file a source
 * @returns {string} stands for the file's present content: the start of its SHA-256, in hexadecimal
 */
export function contentOf(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 16);
}
