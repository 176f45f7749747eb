import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { loadOrCreateRegistration } from '../../src/sandbox/folder/registration.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder with the keys of a sandbox and of its TPP, to copy. Making keys takes longer than most tests. */
    registration: string;
  }
}

/** @returns a function that removes the keys */
export default async function setUp({ provide }: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'psd2-registration-'));
  await loadOrCreateRegistration(folder);
  provide('registration', folder);
  return () => rmSync(folder, { recursive: true, force: true });
}
