import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { closeSync, constants, openSync, readdirSync, readlinkSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { PROGRAM, useOperator } from '../support/psd2.ts';

const operator = useOperator();
/** Prints more than a pipe takes. */
const LONG = [PROGRAM, 'schema', '--json'];
let count = 0;

/** Starts psd2 with a pipe as its stdout that is full already, and waits until psd2 tries to write. */
async function startWithFullPipe() {
  count += 1;
  const path = join(operator.folder, `pipe-${count}`);
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const filler = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  let before = 0;
  try {
    for (;;) before += writeSync(filler, 'x'.repeat(1024));
  } catch {
    closeSync(filler);
  }
  const stdout = openSync(path, constants.O_WRONLY);
  const child = spawn(process.execPath, LONG, {
    stdio: ['ignore', stdout, 'ignore'],
    env: { HOME: operator.home, PSD2_CONFIG_DIR: operator.config },
  });
  closeSync(stdout);
  onTestFinished(() => void child.kill('SIGKILL'));
  const descriptors = `/proc/${child.pid}/fd`;
  const isThisPipe = (name: string) => readlinkSync(join(descriptors, name)) === path;
  await expect
    .poll(() => child.exitCode ?? readdirSync(descriptors).filter(isThisPipe).length, { timeout: 240_000 })
    .toBe(2);
  return { child, before, reader };
}

it('all output arrives in order at a reader that begins late', async () => {
  const { before, reader } = await startWithFullPipe();
  const read = await buffer(new Socket({ fd: reader }));
  expect(read.subarray(0, before).toString()).toBe('x'.repeat(before));
  expect(read.subarray(before).equals(execFileSync(process.execPath, LONG, { maxBuffer: 1e9 }))).toBe(true);
});

it('a signal ends psd2 while its reader reads nothing', async () => {
  const { child, reader } = await startWithFullPipe();
  onTestFinished(() => closeSync(reader));
  const ended = () => {
    child.kill('SIGTERM');
    return child.exitCode;
  };
  await expect.poll(ended, { timeout: 240_000 }).toBe(130);
});

it.each([
  ['| head -c 1 > /dev/null', 0, /^$/],
  ['> /dev/full', 3, /Standard output could not be written \(ENOSPC\)/],
])('psd2 %s ends with %i', (redirection, code, said) => {
  const script = `set -o pipefail; "$0" "$@" ${redirection}`;
  const { status, stderr } = spawnSync('bash', ['-c', script, process.execPath, ...LONG], {
    env: { PATH: process.env.PATH, HOME: operator.home, PSD2_CONFIG_DIR: operator.config },
    encoding: 'utf8',
  });
  expect(status).toBe(code);
  expect(stderr).toMatch(said);
});
