import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { LEFT_OUT, ROOMS, roomOf, testsOf } from './rooms.js';

it.each(Object.entries(ROOMS))('the sources and the tests that the room %s names exist', (_, room) => {
  const paths = [...room.mutate, ...room.tests].map((glob) => glob.replace('/**', ''));
  expect(paths.filter((path) => !existsSync(path))).toEqual([]);
});

it('each mutant that is known to be equivalent exists in a room, and has a reason', () => {
  const known = z.strictObject({
    file: z.string(),
    line: z.optional(z.string()),
    before: z.string().min(1),
    after: z.string(),
    why: z.string().min(1),
  });
  const equivalent = z.array(known).parse(JSON.parse(readFileSync('test/mutation/equivalent.json', 'utf8')));
  for (const { file, line, before } of equivalent) {
    const source = readFileSync(file, 'utf8');
    const times = source.split(before).length - 1;
    expect(times, `${file} contains ${before}`).toBeGreaterThan(0);
    const lines = source.split('\n').map((each) => each.trim());
    // Without its line an entry would excuse the others, too.
    if (line === undefined) expect(times, `${file} contains ${before} once`).toBe(1);
    else expect(lines, `${file} contains this line`).toContain(line);
    expect(roomOf(file), `${file} is in a room`).toBeDefined();
  }
});

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

it('each source belongs to a room, or is left out with a reason', () => {
  const isLeftOut = (file: string) =>
    Object.keys(LEFT_OUT).some((path) => file === path || file.startsWith(path.replace('**', '')));
  const sources = filesIn('src').filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'));
  expect(sources.filter((file) => roomOf(file) === undefined && !isLeftOut(file))).toEqual([]);
  expect(Object.keys(LEFT_OUT).filter((path) => !existsSync(path.replace('/**', '')))).toEqual([]);
});

it.each(Object.keys(ROOMS))('the room %s has tests', (room) => {
  expect(testsOf(room, filesIn('test')).length).toBeGreaterThan(0);
});
