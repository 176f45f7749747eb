import { cpSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { readError } from '../support/errors.ts';
import { PROGRAM, useLoggedIn } from '../support/psd2.ts';

// psd2's own files change while it runs, as in an upgrade. Each test has a copy of the program.

const operator = useLoggedIn(['--transactions', '5']);
let programs = 0;
/** Installs a copy. @returns its folder of built files */
function install(): { program: string; dist: string } {
  programs += 1;
  const folder = join(operator.folder, `program-${programs}`);
  const source = dirname(dirname(PROGRAM));
  for (const part of ['bin', 'dist', 'package.json'])
    cpSync(join(source, part), join(folder, part), { recursive: true });
  return { program: join(folder, 'bin', 'psd2.js'), dist: join(folder, 'dist') };
}
/** Another version in place of the files: no chunk has its name any more. */
function upgrade(dist: string): void {
  const next = `${dist}.next`;
  mkdirSync(join(next, 'chunks'), { recursive: true });
  for (const name of ['main.js', 'sync-thread.js', 'chunks/run.js', 'chunks/tree.js'])
    writeFileSync(join(next, name), '// the next version\n');
  renameSync(dist, `${dist}.old`);
  renameSync(next, dist);
}
/** Removes the chunk that only the end of a round loads. */
function loseChunk(dist: string): void {
  const folder = join(dist, 'chunks');
  for (const name of readdirSync(folder)) if (/^warn-\w+\.js$/.test(name)) rmSync(join(folder, name));
}

describe('a program that is replaced while it runs', () => {
  let out: string;
  beforeAll(() => {
    out = join(operator.folder, 'out');
  });
  const start = (program: string) => {
    const sync = ['sync', '--out', out, '--unattended-reads', '9999', '--every', '1d', '--verbose', '--json'];
    return operator.startProgram(process.execPath, [program, ...sync]);
  };
  const slow = async () =>
    expect(await operator.psd2(['sandbox', 'fault', 'add', 'delay=1000'])).toMatchObject({ code: 0 });
  const quick = async () =>
    expect(await operator.psd2(['sandbox', 'fault', 'clear'])).toMatchObject({ code: 0 });

  it('psd2 says so, ends with exit code 3, and leaves nothing locked', async () => {
    const { program, dist } = install();
    await slow();
    const running = await start(program);
    await running.prints(/"event":"call"/);
    upgrade(dist);
    await quick();
    const ended = await running.ended;
    expect(readError(ended)).toMatchObject({
      ...{ code: 'config', exitCode: 3 },
      message: 'psd2 was replaced while it ran, and cannot load the rest of itself',
      hint: expect.stringContaining('Start it again.'),
    });
    await operator.succeeds(['sync', '--out', out, '--unattended-reads', '9999', '--json']);
  });

  it('a file that is missing in a program that was not replaced is a bug', async () => {
    const { program, dist } = install();
    loseChunk(dist);
    const ended = await (await start(program)).ended;
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain('"code":"bug"');
  });
});
