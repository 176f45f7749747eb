import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/**
 * @param {string} file a source
 * @returns {string} stands for the file's present content: the start of its SHA-256, in hexadecimal
 */
export function contentOf(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 16);
}

/**
 * @param {string} file a source
 * @param {Record<string, { content: string }>} results test/mutation/results.json
 * @returns {boolean} whether the source is still as it was measured
 */
export function isMeasured(file, results) {
  return results[file]?.content === contentOf(file);
}
