import { beforeEach, expect, it } from 'vitest';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand, runIn } from '../command.ts';

const temporary = temporaryFolder();
const STANDING = ['standingOrder', '--account', '0000012345'];

let folder: StoreFolder;
beforeEach(() => {
  folder = newConfigFolder(temporary);
});

const run = async (verb: string, ...words: string[]) => {
  const { context } = openCommand(folder, '2026-03-01T10:00:00.000Z', { globals: { yes: true } });
  await runIn(context, 'operation', verb, ...words);
};

it.each([
  ['run', [...STANDING, '--data', ''], '--data is not JSON'],
  ['run', [...STANDING, '--data', '{', '--verify-data', '{'], '--verify-data is not JSON'],
  ['run', [...STANDING, '--data', '@'], '--data'],
  [
    'run',
    [...STANDING, '--data', '{}', '--verify-data', '{}', '--verify-data', ''],
    '--verify-data is not JSON',
  ],
  ['run', [...STANDING, '--verify-data', '-', '--verify-data', '-'], 'read standard input'],
  ['run', [...STANDING, '--data', '-', '--verify-data', '-'], 'read standard input'],
  ['run', ['standingOrder', '--account', ''], '""'],
  ['run', ['', '--account', '0000012345'], 'The operation name "" is not a word'],
  ['run', [...STANDING, '--receipt', ''], 'file for the document is missing'],
  ['verify', [...STANDING, '--data', 'false', '--resource', ''], 'empty'],
  ['sca', [...STANDING, '--resource', ''], 'empty'],
  ['execute', [...STANDING, '--resource', ''], 'empty'],
  ['status', [...STANDING, '--resource', ''], 'empty'],
  ['resume', [''], 'empty'],
])('psd2 operation %s %j begins and sends nothing', async (verb, words, message) => {
  await expect(run(verb, ...words)).rejects.toMatchObject({ message: expect.stringContaining(message) });
  const { context, printed } = openCommand(folder, '2026-03-01T10:00:00.000Z');
  await runIn(context, 'operation', 'list');
  expect(JSON.parse(printed())).toEqual([]);
});
