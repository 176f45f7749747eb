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

/** Makes the keys in the temporary folder of the run. The first project makes them for all, and the others find them. */
export default async function setUp({ provide }: TestProject): Promise<void> {
  const folder = join(tmpdir(), 'registration');
  await loadOrCreateRegistration(folder);
  provide('registration', folder);
}
