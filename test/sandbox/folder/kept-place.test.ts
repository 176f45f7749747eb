import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { controlTokenOf, keepPorts, keptPorts } from '../../../src/sandbox/folder/kept-place.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'psd2-kept-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

test('the ports are kept for the next start', async () => {
  expect(await keptPorts(folder)).toBeUndefined();
  await keepPorts(folder, { api: 8443, site: 8444 });
  expect(await keptPorts(folder)).toEqual({ api: 8443, site: 8444 });
  expect(readFileSync(join(folder, 'ports.json'), 'utf8')).toBe('{"api":8443,"site":8444}\n');
  await keepPorts(folder, { api: 1, site: 65_535 });
  expect(await keptPorts(folder)).toEqual({ api: 1, site: 65_535 });
  expect(readdirSync(folder)).toEqual(['ports.json']);
});

test.each([
  ['', '{'],
  ['a missing port', '{"api":1}'],
  ['port 0', '{"api":0,"site":1}'],
  ['a port that is too large', '{"api":1,"site":65536}'],
  ['half a port', '{"api":1.5,"site":1}'],
  ['a text', '{"api":"1","site":1}'],
])('a file with %s is as none', async (_, content) => {
  writeFileSync(join(folder, 'ports.json'), content);
  expect(await keptPorts(folder)).toBeUndefined();
});

test('without a state folder each start has another secret', async () => {
  const [one, other] = [await controlTokenOf(undefined), await controlTokenOf(undefined)];
  for (const token of [one, other]) expect(token).toMatch(/^[\w-]{32}$/);
  expect(one).not.toBe(other);
});

test('with a state folder the secret stays, in a file of its user', async () => {
  const token = await controlTokenOf(folder);
  expect(token).toMatch(/^[\w-]{32}$/);
  expect(await controlTokenOf(folder)).toBe(token);
  const file = join(folder, 'control-token');
  expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual([`${token}\n`, 0o600]);
  expect(readdirSync(folder)).toEqual(['control-token']);
});

test.each<[content: string, isKept: boolean]>([
  ['a'.repeat(16), true],
  [` ${'a'.repeat(16)} \n`, true],
  ['a'.repeat(15), false],
  [`${'a'.repeat(15)}\n`, false],
  ['', false],
])('the secret %j in the file counts: %s', async (content, isKept) => {
  const file = join(folder, 'control-token');
  writeFileSync(file, content);
  const token = await controlTokenOf(folder);
  expect(token === content.trim()).toBe(isKept);
  expect(readFileSync(file, 'utf8').trim()).toBe(token);
});
