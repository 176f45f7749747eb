import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FileAudit } from '../../../src/store/files/audit.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';

const temporary = temporaryFolder();

describe('in place of the audit log', () => {
  it.each<[string, (path: string) => unknown]>([
    ['a folder', (path) => mkdirSync(path, { recursive: true })],
    ['a named pipe', (path) => execFileSync('mkfifo', ['-m', '600', path])],
  ])('%s is refused before anything is written', async (what, make) => {
    const path = newConfigFolder(temporary).audit('bank');
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    make(path);
    const actor = { operator: 'ada', user: 'ada', machine: 'pisp-1', version: '1.0.0' };
    const worker = { actor, now: () => new Date(0), assertHere: () => undefined, wasCopied: () => false };
    const audit = new FileAudit(path, { profile: 'bank', worker, interrupted: undefined });
    const refusal = expect.objectContaining({
      code: 'config',
      message: `${path} is ${what}, not a file`,
      hint: `Restore it, or move it away: mv ${path} ${path}.damaged`,
    });
    await expect(audit.append({ action: 'logged-out' })).rejects.toThrow(refusal);
    await expect(audit.lines().next()).rejects.toThrow(refusal);
    expect(readdirSync(dirname(path))).toEqual(['bank.ndjson']);
  });
});
