import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** A folder with bank files. It is removed after the tests. */
export function bankFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'psd2-bank-file-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return {
    folder,
    /** Writes a file. @param content JSON, or a text as it is. @returns its path */
    write(name: string, content: unknown): string {
      const path = join(folder, name);
      writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
      return path;
    },
  };
}

/** The least that a bank file says. */
export const LEAST = { interface: 'nextgenpsd2' } as const;
