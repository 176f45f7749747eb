import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { browserOf } from '../../../src/commands/shared/browser.ts';
import { runOutsideCommand } from '../../../src/commands/shared/outside-command.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';
import { failureOf } from '../failure.ts';

const temporary = temporaryFolder();
const PATIENCE = { timeout: 30_000 };

const open = () => openCommand(newConfigFolder(temporary), new Date().toISOString()).context;
const run = (command: string, input = '', setting: 'signer' | 'notify' = 'signer') =>
  runOutsideCommand(open(), setting, command, input);

it('psd2 kills a signer that does not answer, and leaves no process behind', async () => {
  const context = open();
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

it.each([
  ['what it prints is the answer', 'cat', 'a\n b', 'a\n b'],
  ['what it says besides is not', "sh -c 'cat; echo noise >&2'", 'a', 'a'],
  ['it need not read its input', 'true', 'x'.repeat(1_000_000), ''],
  ['it may print 64 kB', 'head -c 65536', 'x'.repeat(65_537), 'x'.repeat(65_536)],
])('of a command that ends well, %s', async (_, command, input, answer) => {
  expect(await run(command, input)).toBe(answer);
});

it.each([
  ['false', '"false" ended with the exit code 1', 'Check PSD2_SIGNER or the profile.'],
  ["sh -c 'echo why >&2; exit 3'", '"sh" ended with the exit code 3', 'It says: why'],
  [
    "sh -c 'head -c 501 /dev/zero | tr '\\''\\0'\\'' x >&2; echo y >&2; exit 3'",
    '"sh" ended with the exit code 3',
    `It says: ${'x'.repeat(499)}y`,
  ],
  ["sh -c 'echo answer; exit 3'", '"sh" ended with the exit code 3', 'Check PSD2_SIGNER or the profile.'],
  ["sh -c 'kill -9 $$'", '"sh" was ended by SIGKILL', 'Check PSD2_SIGNER or the profile.'],
  ['head -c 65537 /dev/zero', '"head" printed too much', 'Check PSD2_SIGNER or the profile.'],
  [' ', '"" is empty', 'Check PSD2_SIGNER or the profile.'],
])('%j fails', async (command, what, hint) => {
  expect(await failureOf(run(command))).toEqual({
    ...{ code: 'config', exitCode: 3, message: `The signer command ${what}`, hint },
  });
});

it('a program that is not there cannot be started, and the variable that names it is said', async () => {
  expect(await failureOf(run('/does/not/exist', '', 'notify'))).toMatchObject({
    message: expect.stringMatching(/^The notify command "\/does\/not\/exist" could not be started/),
    hint: 'Check PSD2_NOTIFY.',
  });
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

it('a command that takes too long is ended, and the error names the limit', async () => {
  const context = open();
  const hurried = { ...context, globals: { ...context.globals, timeoutMs: 50 } };
  expect(await failureOf(runOutsideCommand(hurried, 'signer', 'sleep 600', ''))).toMatchObject({
    ...{ code: 'config', exitCode: 3 },
    message: 'The signer command "sleep" did not answer within 0.05 s',
  });
});

it('the browser is PSD2_BROWSER, then BROWSER, and none with --no-browser and --qr', () => {
  const context = open();
  const [own, other] = [{ PSD2_BROWSER: 'mine', BROWSER: 'all' }, { BROWSER: 'all' }];
  const chosen = (changes: Partial<typeof context.globals>) =>
    [own, other, {}].map((env) => browserOf({ env, globals: { ...context.globals, ...changes } }));
  expect(chosen({})).toEqual(['mine', 'all', undefined]);
  for (const changes of [{ noBrowser: true }, { qrCode: true }])
    expect(chosen(changes)).toEqual(['none', 'none', 'none']);
});
