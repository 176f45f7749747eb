import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Psd2Error } from '../errors.ts';

/** The folder of the built program. */
const PROGRAM = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * The error for a program that was replaced while it ran, for example by an upgrade: it needs one of its own files, which is
 * gone. A missing file is a bug if the file that asks for it is still the one that runs.
 *
 * @param program the folder of the program's files
 * @returns undefined for any other error
 */
export function replacedWhileRunning(error: unknown, program = PROGRAM): Psd2Error | undefined {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'MODULE_NOT_FOUND') return undefined;
  const [, asked = ''] = /^Cannot find module '([^']+)'/.exec(error.message) ?? [];
  const stack: unknown = 'requireStack' in error ? error.requireStack : undefined;
  const [asking]: unknown[] = Array.isArray(stack) ? stack : [];
  // A thread begins with the whole path of its file.
  const missing = resolve(typeof asking === 'string' ? dirname(asking) : '/', asked);
  if (!missing.startsWith(program + sep) || existsSync(missing)) return undefined;
  if (typeof asking === 'string' && asksFor(asking, basename(missing))) return undefined;
  return new Psd2Error('config', 'psd2 was replaced while it ran, and cannot load the rest of itself', {
    hint: 'Start it again. A payment or a consent that had begun can be resumed.',
    cause: error,
  });
}

/** Whether a file exists and names another one. */
function asksFor(file: string, name: string): boolean {
  try {
    return readFileSync(file, 'utf8').includes(name);
  } catch {
    return false;
  }
}
