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
  // Valid by the machine's clock too, which other programs and OpenSSL have (test/support/day-of-run.js).
  const aheadMs = Number(process.env.CLOCK_AHEAD_MS ?? 0);
  const days = 365 + Math.ceil(aheadMs / (24 * 60 * 60 * 1000));
  await loadOrCreateRegistration(folder, { now: () => new Date(Date.now() - aheadMs), days });
  provide('registration', folder);
}
