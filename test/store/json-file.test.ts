import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { readJsonFile, writeJsonFile } from '../../src/store/json-file.ts';
import { newConfigFolder, temporaryFolder } from './temporary-folder.ts';

const temporary = temporaryFolder();
const schema = z.object({ name: z.string(), depth: z.optional(z.object({ 'a.b': z.number() })) });
let path: string;

beforeEach(() => {
  path = join(newConfigFolder(temporary).root, 'some', 'name.of.it.json');
});

function write(content: string, mode = 0o600): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, content, { mode });
  chmodSync(path, mode);
}

it('reads what it wrote, and there is nothing before', async () => {
  expect(readJsonFile(path, schema)).toBeUndefined();
  await writeJsonFile(path, { name: 'Caffè', depth: { 'a.b': 1 } });
  expect(readJsonFile(path, schema)).toEqual({ name: 'Caffè', depth: { 'a.b': 1 } });
  await writeJsonFile(path, { name: 'other' });
  expect(readJsonFile(path, schema)).toEqual({ name: 'other' });
});

it('writes for its owner alone, and leaves nothing else behind', async () => {
  await writeJsonFile(path, { name: 'x' });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
  expect(statSync(dirname(dirname(path))).mode & 0o777).toBe(0o700);
  expect(readdirSync(dirname(path))).toEqual(['name.of.it.json']);
});

it('a file that others could read is closed when it is written anew', async () => {
  write('{"name":"x"}', 0o644);
  await writeJsonFile(path, { name: 'y' });
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

describe('a damaged file', () => {
  it.each(['', '{', 'null', '[]', '{"name":7}', '{}'])(
    '%j is refused, and how to go on is said',
    (content) => {
      write(content);
      expect(() => readJsonFile(path, schema)).toThrow(
        expect.objectContaining({
          code: 'config',
          message: expect.stringContaining(`${path} is damaged: `),
          hint: `Restore it, or move it away: mv ${path} ${path}.damaged`,
        }),
      );
    },
  );

  it('names the field that is wrong', () => {
    write('{"name":"x","depth":{"a.b":"1"}}');
    expect(() => readJsonFile(path, schema)).toThrow('is damaged: depth.a.b is not as psd2 wrote it');
  });

  it('can be replaced', async () => {
    write('{"name":');
    await writeJsonFile(path, { name: 'whole' });
    expect(readFileSync(path, 'utf8')).toContain('whole');
  });
});

it.each([0o640, 0o604, 0o666, 0o620])('a file of the mode %i (decimal) is refused', (mode) => {
  write('{"name":"x"}', mode);
  expect(() => readJsonFile(path, schema)).toThrow(
    expect.objectContaining({
      code: 'config',
      message: `${path} can be read by others (mode 0${mode.toString(8)})`,
      hint: `Run: chmod 600 ${path}`,
    }),
  );
});

it('a file that cannot be read or written is an error of the configuration', async () => {
  mkdirSync(path, { recursive: true });
  expect(() => readJsonFile(path, schema)).toThrow(
    expect.objectContaining({ code: 'config', message: `${path} cannot be read` }),
  );
  await expect(writeJsonFile(path, { name: 'x' })).rejects.toMatchObject({
    code: 'config',
    message: `${path} cannot be written`,
  });
});
