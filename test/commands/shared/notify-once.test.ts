import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { type Notification, notifyOnce } from '../../../src/commands/shared/notify-once.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { openCommand, useFolder } from '../command.ts';

const NOW = '2026-03-01T00:00:00.000Z';

const folder = useFolder();
let got: string;
beforeEach(() => {
  got = join(folder.root, 'got');
  mkdirSync(folder.root, { recursive: true, mode: 0o700 });
  writeFileSync(got, '');
});
/** The operator's command keeps what it gets. */
const keeping = () => `tee -a ${got}`;
const received = (): unknown[] =>
  readFileSync(got, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
const path = () => join(folder.root, 'notified', 'env.json');
const known = () => JSON.parse(readFileSync(path(), 'utf8'));

const about = (key: string, version = '1'): Notification => ({ key, version, content: { about: key } });
const NOT_OVER = () => false;
async function notify(
  notifications: Notification[],
  isOver: (key: string) => boolean = NOT_OVER,
  command = keeping(),
) {
  const { context, said } = openCommand(folder, NOW, {
    env: { PATH: process.env.PATH, PSD2_NOTIFY: command },
  });
  await notifyOnce(context, notifications, isOver);
  return said();
}

it('the command gets each notification once, and again if its version changes', async () => {
  const [a, b] = ['login a', 'login b'].map((key) => ({ profile: 'env', about: key }));
  expect(await notify([about('login a'), about('login b')])).toBe('');
  expect(received()).toEqual([a, b]);
  await notify([about('login a'), about('login b')]);
  expect(received()).toEqual([a, b]);
  await notify([about('login a'), about('login b', '2')]);
  expect(received()).toEqual([a, b, b]);
  expect(known()).toEqual({ 'login a': '1', 'login b': '2' });
  expect(statSync(join(path(), '..')).mode & 0o777).toBe(0o700);
});

it('what is over is forgotten, and the rest stays', async () => {
  await notify([about('login a'), about('login b'), about('consent c')]);
  await notify([], (key) => key.endsWith('b'));
  expect(known()).toEqual({ 'login a': '1', 'consent c': '1' });
  await notify([about('login b'), about('consent c')]);
  expect(received()).toHaveLength(4);
});

it('nothing is written if nothing changes, or without a command', async () => {
  await notify([]);
  await notify([about('login a')], NOT_OVER, '');
  expect(existsSync(path())).toBe(false);
  await notify([about('login a')]);
  const before = statSync(path());
  await notify([about('login a')], (key) => key === 'another');
  expect(statSync(path())).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs });
});

it('a command that fails is a warning, and gets it again the next time', async () => {
  const full = "sh -c 'echo no room >&2; exit 3'";
  const said = await notify([about('login a'), about('login b')], NOT_OVER, full);
  expect(said).toBe('The notify command "sh" ended with the exit code 3. It says: no room\n');
  expect(existsSync(path())).toBe(false);
  await notify([about('login a')]);
  expect(received()).toHaveLength(1);
});

it('a damaged record is a warning with what to do, and the command gets nothing', async () => {
  mkdirSync(join(path(), '..'), { recursive: true, mode: 0o700 });
  writeFileSync(path(), '[]', { mode: 0o600 });
  const said = await notify([about('login a')]);
  expect(said).toContain(`${path()} is damaged`);
  expect(said.trimEnd().split('\n')).toHaveLength(1);
  expect(said).toMatch(/\. \w.*\n$/);
  expect(received()).toEqual([]);
});

it('an interruption and a fault of psd2 are no warning', async () => {
  const reason = new TypeError('the end');
  const { context } = openCommand(folder, NOW, {
    env: { PSD2_NOTIFY: keeping() },
    changes: ({ world }) => ({ world: { ...world, signal: AbortSignal.abort(reason) } }),
  });
  await expect(notifyOnce(context, [about('login a')], NOT_OVER)).rejects.toBe(reason);
  const interrupted = new Psd2Error('interrupted', 'Ctrl-C');
  const over = () => {
    throw interrupted;
  };
  await notify([about('login b')]);
  await expect(notify([], over)).rejects.toBe(interrupted);
});
