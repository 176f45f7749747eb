import { cpSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { readError } from '../support/errors.ts';
import { PROGRAM, useLoggedIn } from '../support/psd2.ts';

const operator = useLoggedIn(['--transactions', '5']);

/** Another version in place of the files: no chunk has its name any more. */
function upgrade(dist: string): void {
  const next = `${dist}.next`;
  mkdirSync(join(next, 'chunks'), { recursive: true });
  for (const name of ['main.js', 'sync-thread.js']) writeFileSync(join(next, name), '// the next version\n');
  renameSync(dist, `${dist}.old`);
  renameSync(next, dist);
}

it('a program that is replaced while it runs says so, ends with exit code 3, and leaves nothing locked', async () => {
  const copy = join(operator.folder, 'program');
  for (const part of ['bin', 'dist', 'package.json'])
    cpSync(join(dirname(dirname(PROGRAM)), part), join(copy, part), { recursive: true });
  const sync = ['sync', '--out', join(operator.folder, 'out'), '--unattended-reads', '9999', '--json'];
  await operator.succeeds(['sandbox', 'fault', 'add', 'delay=1000']);
  const program = [join(copy, 'bin', 'psd2.js'), ...sync, '--every', '1d', '--verbose'];
  const running = await operator.startProgram(process.execPath, program);
  await running.prints(/"event":"call"/);
  upgrade(join(copy, 'dist'));
  await operator.succeeds(['sandbox', 'fault', 'clear']);
  expect(readError(await running.ended)).toMatchObject({
    ...{ code: 'config', exitCode: 3 },
    message: 'psd2 was replaced while it ran, and cannot load the rest of itself',
    hint: expect.stringContaining('Start it again.'),
  });
  await operator.succeeds(sync);
});
