import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  readFurtherData,
  readJsonOption,
  refuseFurtherData,
} from '../../../src/commands/shared/read-data.ts';
import { requireFile, requireNewFile, saveDocument } from '../../../src/commands/shared/save-document.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';
import { failureOf } from '../failure.ts';

const temporary = temporaryFolder();
const NOW = '2026-03-01T00:00:00.000Z';
const open = (columns?: number) =>
  openCommand(newConfigFolder(temporary), NOW, columns === undefined ? {} : { columns }).context;
const read = (value: string, stdin = '') =>
  readJsonOption({ ...open(), readStdin: async () => stdin }, '--data', value);
const usage = (message: string, hint?: string) => ({
  ...{ code: 'usage', exitCode: 2, message },
  ...(hint !== undefined && { hint }),
});

it('the data of an option stays as it is written, from the option, a file and standard input', async () => {
  const text = '{"amount": 1.10}\n';
  const file = join(temporary, 'data.json');
  writeFileSync(file, text);
  expect(await read(text)).toBe(text);
  expect(await read(`@${file}`)).toBe(text);
  expect(await read('-', text)).toBe(text);
  expect(await read('false')).toBe('false');
});

it.each(['', ' ', '{', '{"secret": hush}'])(
  '%j is no JSON, and the error has nothing of it',
  async (text) => {
    const failure = await failureOf(read(text));
    expect(failure).toEqual({
      ...usage(expect.stringMatching(/^--data is not JSON: .+/)),
      hint: 'Give JSON text, @file, or - for standard input.',
    });
    expect(failure.message).not.toContain('hush');
  },
);

it('a file that is not there is named with its option', async () => {
  expect((await failureOf(read('@/does/not/exist'))).message).toContain('/does/not/exist of --data');
});

it('standard input is read once', async () => {
  const context = { ...open(), readStdin: async () => '1' };
  expect(await readFurtherData(context, ['2', '-'])).toEqual(['2', '1']);
  expect(await readFurtherData(context, ['2'], '-')).toEqual(['2']);
  const twice = usage('Only one of --data and --verify-data can read standard input');
  expect(await failureOf(readFurtherData(context, ['-', '-']))).toEqual(twice);
  expect(await failureOf(readFurtherData(context, ['-'], '-'))).toEqual(twice);
});

it('the data of further steps is refused at a bank without operations', async () => {
  expect(refuseFurtherData({ has: new Set(['operations']) })).toBeUndefined();
  const refused = Promise.resolve().then(() => refuseFurtherData({ has: new Set() }));
  expect(await failureOf(refused)).toEqual(usage("This bank's interface has no --verify-data"));
});

const checked = (...given: Parameters<typeof requireFile>) =>
  failureOf(Promise.resolve().then(() => requireFile(...given)));

it.each([undefined, ''])('a document needs a file, and %j is none', async (file) => {
  expect(await checked(open(), file)).toEqual(
    usage('The file for the document is missing', 'Add --file <path>.'),
  );
});

it('a binary document does not go to a terminal, and a text and a pipe are fine', async () => {
  expect(await checked(open(80), '-')).toEqual(
    usage(
      'The document is binary, and psd2 does not write it to a terminal',
      'Add --file <path>, or pipe it to another program.',
    ),
  );
  expect(requireFile(open(80), '-', 'text')).toBe('-');
  expect(requireFile(open(), '-')).toBe('-');
  expect(requireNewFile(open(80), '-')).toBe('-');
});

it('a folder, a socket and a device are no files', async () => {
  const hint = 'Give the path of a file, or - for standard output.';
  const folder = mkdtempSync(join(temporary, 'folder-'));
  const socket = join(folder, 'socket');
  const server = createServer().listen(socket);
  await new Promise((resolve) => server.once('listening', resolve));
  const what = async (path: string) => (await checked(open(), path)).message;
  expect(await checked(open(), folder)).toEqual(
    usage(`${folder} is a folder, but the document needs a file`, hint),
  );
  expect(await what(socket)).toBe(`${socket} is a device or socket, but the document needs a file`);
  expect(await what('/dev/null')).toBe('/dev/null is a device or socket, but the document needs a file');
  expect(await failureOf(saveDocument(open(), folder, Buffer.from('x')))).toMatchObject({ code: 'usage' });
  server.close();
});

it('a folder that is not there is an error that says so, and nothing is left behind', async () => {
  const file = join(temporary, 'nowhere', 'document');
  expect(await failureOf(saveDocument(open(), file, Buffer.from('x')))).toEqual({
    ...{ code: 'config', exitCode: 3, message: `The document could not be written to ${file}` },
    hint: 'Check the folder and the free space.',
  });
  mkdirSync(join(temporary, 'nowhere'));
  const { context, said } = openCommand(newConfigFolder(temporary), NOW);
  await saveDocument(context, file, Buffer.from('four'));
  expect(said()).toBe(`Saved 4 bytes to ${file}\n`);
});
