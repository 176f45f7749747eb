import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serialize } from 'node:v8';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openStateFolder } from '../../../src/sandbox/folder/state-folder.ts';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'psd2-state-folder-')), 'state');
  file = join(folder, 'state.bin');
});
afterEach(async () => {
  await rm(join(folder, '..'), { recursive: true, force: true });
});

const part = (memory: object) => ({ memory, forgetCustomer: () => {} });

/** What a new start finds. */
async function kept(...names: string[]): Promise<object> {
  const parts = Object.fromEntries(names.map((name) => [name, part({ own: true })]));
  (await openStateFolder(folder)).restore(parts);
  return Object.fromEntries(names.map((name) => [name, parts[name]?.memory]));
}

test('a first start makes the folder, keeps no file, and leaves the parts as they are', async () => {
  expect(await kept('a')).toEqual({ a: { own: true } });
  expect([existsSync(file), statSync(folder).mode & 0o777]).toEqual([false, 0o700]);
});

test('each part comes back under its name, beside what it began with', async () => {
  const state = await openStateFolder(folder);
  const shared = { at: new Date(0), in: new Map([['x', new Set([1])]]) };
  await state.save({ a: part({ shared }), b: part({ shared, more: 1 }) });
  const { a, b, c } = Object(await kept('a', 'b', 'c'));
  expect([a, b, c]).toEqual([{ own: true, shared }, { own: true, shared, more: 1 }, { own: true }]);
  // What two parts share stays shared.
  expect(a.shared).toBe(b.shared);
  expect([readdirSync(folder), statSync(file).mode & 0o777]).toEqual([['state.bin'], 0o600]);
});

test('the file begins with a line that names its format and its content', async () => {
  await (await openStateFolder(folder)).save({ a: part({ b: 1 }) });
  const content = readFileSync(file);
  const end = content.indexOf('\n');
  const digest = createHash('sha256')
    .update(content.subarray(end + 1))
    .digest('hex');
  expect(content.subarray(0, end).toString()).toBe(`psd2 sandbox state 2 ${digest}`);
});

test('calls during a write share the next one, and the last state is kept', async () => {
  const state = await openStateFolder(folder);
  const counting = part({ count: 0 });
  const saves: Promise<void>[] = [];
  for (let count = 1; count <= 5; count += 1) {
    counting.memory = { count };
    saves.push(state.save({ counting }));
  }
  // The first write begins only after this turn, so it already sees the last state.
  expect(new Set(saves).size).toBe(1);
  await Promise.all(saves);
  expect(await kept('counting')).toEqual({ counting: { own: true, count: 5 } });
});

test('a state that did not change is not written again', async () => {
  const state = await openStateFolder(folder);
  await state.save({ a: part({ b: 1 }) });
  const before = statSync(file).ino;
  await state.save({ a: part({ b: 1 }) });
  expect(statSync(file).ino).toBe(before);
  await state.save({ a: part({ b: 2 }) });
  expect(await kept('a')).toEqual({ a: { own: true, b: 2 } });
});

const bodyOf = (content: unknown) => serialize(content);
const digestOf = (body: Buffer) => createHash('sha256').update(body).digest('hex');
const whole = (body: Buffer, format = 'psd2 sandbox state 2') =>
  Buffer.concat([Buffer.from(`${format} ${digestOf(body)}\n`), body]);
const good = bodyOf({ a: { b: 1 } });

test.each<[what: string, content: Buffer]>([
  ['nothing', Buffer.alloc(0)],
  ['no line', Buffer.from('psd2 sandbox state 2')],
  ['another format', whole(good, 'psd2 sandbox state 1')],
  ['another digest', Buffer.concat([Buffer.from(`psd2 sandbox state 2 ${'0'.repeat(64)}\n`), good])],
  ['a changed content', Buffer.concat([whole(good), Buffer.from('x')])],
  ['no parts', whole(bodyOf('text'))],
  ['a part that is no record', whole(bodyOf({ a: 1 }))],
  ['a content that cannot be read', whole(Buffer.from('not serialized'))],
])('a file with %s is refused, with what to do', async (_, content) => {
  mkdirSync(folder);
  writeFileSync(file, content);
  await expect(openStateFolder(folder)).rejects.toMatchObject({
    code: 'sandbox',
    message: `${file} is damaged, or another version of psd2 wrote it`,
    hint: 'Restore the file, start that version, or name a new folder with --state.',
    cause: expect.any(Error),
  });
  expect(readFileSync(file)).toEqual(content);
});

test('a file in place of the folder is refused, with what to do', async () => {
  writeFileSync(folder, '');
  await expect(openStateFolder(folder)).rejects.toMatchObject({
    code: 'sandbox',
    message: `The sandbox cannot use the folder ${folder} for its state`,
    hint: 'Name a folder that you may read and write with --state.',
    cause: expect.any(Error),
  });
});

test.each<[what: string, change: () => Promise<void>]>([
  ['writes the file', async () => writeFileSync(file, whole(good))],
  ['removes the file', () => rm(file)],
])('if another one %s, the state is not written, and the refusal says why', async (_, change) => {
  const state = await openStateFolder(folder);
  await state.save({ a: part({ b: 0 }) });
  await change();
  const left = existsSync(file) && readFileSync(file);
  await expect(state.save({ a: part({ b: 2 }) })).rejects.toMatchObject({
    code: 'sandbox',
    message: `Another sandbox uses ${folder}, or changed its file`,
    hint: 'Stop one of them. Each sandbox needs a --state folder of its own.',
  });
  expect(existsSync(file) && readFileSync(file)).toEqual(left);
});

test('if the folder is gone, the refusal says so, and the next write succeeds once it is back', async () => {
  const state = await openStateFolder(folder);
  await rm(folder, { recursive: true });
  await expect(state.save({ a: part({ b: 1 }) })).rejects.toMatchObject({
    code: 'sandbox',
    message: `The sandbox cannot write its state to ${file}`,
    hint: 'Check that you may write to the folder, and that the disk is not full.',
    cause: expect.objectContaining({ code: 'ENOENT' }),
  });
  mkdirSync(folder);
  await state.save({ a: part({ b: 1 }) });
  expect(await kept('a')).toEqual({ a: { own: true, b: 1 } });
});
