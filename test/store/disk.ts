import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';
import { onTestFinished, vi } from 'vitest';

/**
 * Records what the store asks of the disk from now on, in order: `write <name>`, `fsync <name>`, `link <name>`, and
 * `give back <name>` at the end of a file that reserves space. Names are without their folder; a random name is `*`.
 */
export function recordDisk(): string[] {
  const calls: string[] = [];
  let isAppending = false;
  const names = new Map<unknown, string>();
  const nameOf = (file: unknown) => {
    const name = names.get(file) ?? (typeof file === 'string' ? basename(file) : String(file));
    return name.replace(/^(\.(?:space-)?)[0-9a-f-]{36}$/, '$1*');
  };
  const { openSync, appendFileSync, writeFileSync, fsyncSync, linkSync, closeSync } = fs;
  vi.spyOn(fs, 'openSync').mockImplementation((path, ...rest) => {
    const file = openSync(path, ...rest);
    names.set(file, basename(String(path)));
    return file;
  });
  vi.spyOn(fs, 'appendFileSync').mockImplementation((file, ...rest) => {
    calls.push(`write ${nameOf(file)}`);
    // Node's appendFileSync calls writeFileSync.
    isAppending = true;
    try {
      appendFileSync(file, ...rest);
    } finally {
      isAppending = false;
    }
  });
  vi.spyOn(fs, 'writeFileSync').mockImplementation((file, ...rest) => {
    if (!isAppending) calls.push(`write ${nameOf(file)}`);
    writeFileSync(file, ...rest);
  });
  vi.spyOn(fs, 'fsyncSync').mockImplementation((file) => {
    fsyncSync(file);
    calls.push(`fsync ${nameOf(file)}`);
  });
  vi.spyOn(fs, 'linkSync').mockImplementation((from, to) => {
    linkSync(from, to);
    calls.push(`link ${nameOf(to)}`);
  });
  vi.spyOn(fs, 'closeSync').mockImplementation((file) => {
    if (nameOf(file).startsWith('.space-')) calls.push(`give back ${nameOf(file)}`);
    names.delete(file);
    closeSync(file);
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
  return calls;
}
