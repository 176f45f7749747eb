import fs, { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { Generations } from '../../../src/store/files/token-file.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';
import { failing, once, replaceForStore } from '../waiting.ts';

const temporary = temporaryFolder();
let folder: string;
let generations: Generations;

beforeEach(() => {
  folder = join(newConfigFolder(temporary).root, 'login');
  mkdirSync(folder, { recursive: true });
  generations = new Generations(folder);
});

it('the newest generation counts, 10 comes after 9, and earlier ones are removed', () => {
  expect(generations.newest()).toBe(0);
  expect(generations.add(1, 'one')).toBe(true);
  expect(generations.add(9, 'nine')).toBe(true);
  expect(generations.add(10, 'ten')).toBe(true);
  expect(generations.newest()).toBe(10);
  expect(readFileSync(generations.pathOf(10), 'utf8')).toBe('ten');
  expect(readdirSync(folder)).toEqual(['10.json']);
});

it.each([true, false])('a generation is written once, on a file system with hard links: %s', (canLink) => {
  if (!canLink) replaceForStore(fs, 'linkSync', failing('EPERM'));
  expect(generations.add(1, 'first')).toBe(true);
  expect(generations.add(1, 'second')).toBe(false);
  expect(readFileSync(generations.pathOf(1), 'utf8')).toBe('first');
  expect(readdirSync(folder)).toEqual(['1.json']);
});

it('a process that stalled while others continued cannot bring back an older generation', () => {
  for (const generation of [1, 2, 3]) generations.add(generation, String(generation));
  expect(generations.add(2, 'late')).toBe(false);
  expect(generations.newest()).toBe(3);
  expect(readdirSync(folder)).toEqual(['3.json']);
});

it('files that killed processes left half written are removed, and damaged files are kept', () => {
  writeFileSync(join(folder, '.11111111-1111-4111-8111-111111111111'), 'half');
  writeFileSync(join(folder, '1.json.damaged-20261121T100000000Z'), 'damaged');
  generations.add(2, 'two');
  expect(readdirSync(folder).sort()).toEqual(['1.json.damaged-20261121T100000000Z', '2.json']);
});

it('a process that stalled cannot bring back a login that was removed', () => {
  const gone = new Generations(join(folder, 'gone'));
  expect(gone.add(5, 'late')).toBe(false);
  expect(readdirSync(folder)).toEqual([]);
});

it('of two processes that write the same generation at the same time, the faster one wins', () => {
  once('linkSync', (link) => {
    expect(new Generations(folder).add(1, 'faster')).toBe(true);
    return link();
  });
  expect(generations.add(1, 'slower')).toBe(false);
  expect(readFileSync(generations.pathOf(1), 'utf8')).toBe('faster');
});

it('a process writes again what another one took for half written, and removed', () => {
  generations.add(1, 'one');
  once('linkSync', (link) => {
    for (const name of readdirSync(folder)) if (name.startsWith('.')) rmSync(join(folder, name));
    return link();
  });
  expect(generations.add(2, 'two')).toBe(true);
  expect(readFileSync(generations.pathOf(2), 'utf8')).toBe('two');
});
