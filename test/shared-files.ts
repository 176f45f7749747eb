import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { loadOrCreateRegistration } from '../src/sandbox/folder/registration.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder with the keys of a sandbox and of its TPP, to copy. Making keys takes longer than most tests. */
    registration: string;
    /** A folder in which Node.js 22 and newer keeps compiled code between processes. */
    compiledCode: string;
  }
}

/**
 * Makes the files that all tests share.
 *
 * @returns a function that removes them
 */
export default async function setUp({ provide }: Pick<TestProject, 'provide'>): Promise<() => void> {
  const shared = mkdtempSync(join(tmpdir(), 'psd2-shared-'));
  const registration = join(shared, 'registration');
  await loadOrCreateRegistration(registration);
  provide('registration', registration);
  provide('compiledCode', join(shared, 'compiled'));
  return () => rmSync(shared, { recursive: true, force: true });
}
