import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { runOutsideCommand } from '../../../src/commands/shared/outside-command.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();
const PATIENCE = { timeout: 30_000 };

it('psd2 kills a signer that does not answer, and leaves no process behind', async () => {
  const { context } = openCommand(newConfigFolder(temporary), new Date().toISOString());
  const file = join(temporary, 'pid');
  const stop = new AbortController();
  const running = runOutsideCommand(
    { globals: context.globals, world: { ...context.world, signal: stop.signal } },
    'signer',
    `sh -c 'echo $$ > ${file}.part; mv ${file}.part ${file}; exec sleep 600'`,
    '',
  );
  await vi.waitUntil(() => existsSync(file), PATIENCE);
  stop.abort(new Error('the end'));
  await expect(running).rejects.toThrow('the end');
  const pid = Number(readFileSync(file, 'utf8'));
  await vi.waitUntil(() => !isRunning(pid), PATIENCE);
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
