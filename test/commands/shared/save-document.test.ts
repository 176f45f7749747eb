import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  requireFile,
  requireNewFile,
  saveDocument,
  saveResult,
} from '../../../src/commands/shared/save-document.ts';
import { startProgram } from '../../store/process.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';
import { failureOf } from '../failure.ts';

const temporary = temporaryFolder();
const NOW = '2026-11-21T12:00:00.000Z';

it('psd2 writes a document through no link that someone put under its temporary name, and leaves the file as it was', async () => {
  const { context } = openCommand(newConfigFolder(temporary), NOW);
  const [file, victim] = [join(temporary, 'statement.csv'), join(temporary, 'victim')];
  await saveDocument(context, file, Buffer.from('first'));
  expect(statSync(file).mode & 0o777).toBe(0o600);
  writeFileSync(victim, 'of the victim');
  symlinkSync(victim, `${file}.${process.pid}.part`);
  await expect(saveDocument(context, file, Buffer.from('second'))).rejects.toMatchObject({ code: 'config' });
  expect([file, victim].map((path) => readFileSync(path, 'utf8'))).toEqual(['first', 'of the victim']);
  // What somebody else has put there is theirs.
  expect(lstatSync(`${file}.${process.pid}.part`).isSymbolicLink()).toBe(true);
});

it('psd2 leaves the earlier document and nothing else behind if there is no space for the new one', async () => {
  const folder = mkdtempSync(join(temporary, 'full-'));
  const file = join(folder, 'statement.csv');
  writeFileSync(file, 'first');
  const program = `
    import { saveDocument } from '../../../src/commands/shared/save-document.ts';
    await saveDocument({}, ${JSON.stringify(file)}, Buffer.alloc(10_000)).catch(({ code, message, cause }) =>
      console.log(JSON.stringify({ code, message, because: cause.code })),
    );
  `;
  const { output } = await startProgram(program, temporary, { blocks: 1 });
  expect(JSON.parse(await output)).toEqual({
    code: 'config',
    message: `The document could not be written to ${file}`,
    because: 'EFBIG',
  });
  expect(readdirSync(folder)).toEqual(['statement.csv']);
  expect(readFileSync(file, 'utf8')).toBe('first');
});

const open = (columns?: number) =>
  openCommand(newConfigFolder(temporary), NOW, columns === undefined ? {} : { columns }).context;
const usage = (message: string, hint: string) => ({ code: 'usage', exitCode: 2, message, hint });
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
  expect(await checked(open(), file)).toEqual(
    usage(
      `There is no folder ${join(temporary, 'nowhere')} for the document`,
      'Make the folder, or name another file.',
    ),
  );
  expect(await failureOf(saveDocument(open(), file, Buffer.from('x')))).toEqual({
    ...{ code: 'config', exitCode: 3, message: `The document could not be written to ${file}` },
    hint: 'Check the folder and the free space.',
  });
  mkdirSync(join(temporary, 'nowhere'));
  const { context, said } = openCommand(newConfigFolder(temporary), NOW);
  await saveDocument(context, file, Buffer.from('four'));
  expect(said()).toBe(`Saved 4 bytes to ${file}\n`);
});

describe('a file that must be new', () => {
  const refusedAsNew = (file: string) =>
    failureOf(Promise.resolve().then(() => requireNewFile(open(), file)));

  it('is not one that is there', async () => {
    const file = join(mkdtempSync(join(temporary, 'new-')), 'statement.csv');
    expect(requireNewFile(open(80), file)).toBe(file);
    expect(requireFile(open(80), file, 'binary')).toBe(file);
    writeFileSync(file, 'of an earlier export');
    expect(await refusedAsNew(file)).toEqual(
      usage(`${file} already exists`, 'Name a new file with --file, or remove this one first.'),
    );
    expect(requireFile(open(80), file, 'binary')).toBe(file);
  });

  it('is no pipe either', async () => {
    const pipe = join(mkdtempSync(join(temporary, 'pipe-')), 'pipe');
    execFileSync('mkfifo', [pipe]);
    expect(await refusedAsNew(pipe)).toMatchObject({
      message: `${pipe} is a pipe, but the document needs a file`,
    });
    expect(await refusedAsNew('')).toMatchObject({ message: 'The file for the document is missing' });
  });
});

it.each(['json', 'table'] as const)('a document is the only output of a command: %s', async (format) => {
  const file = join(mkdtempSync(join(temporary, 'result-')), 'document.pdf');
  const bytes: Buffer[] = [];
  onTestFinished(() => rmSync('-', { force: true }));
  const printBytes = (document: Uint8Array) => void bytes.push(Buffer.from(document));
  const { context, printed, said } = openCommand(newConfigFolder(temporary), NOW, {
    format,
    changes: () => ({ printBytes }),
  });
  await saveResult(context, '-', Buffer.from('four'));
  expect([printed(), said(), bytes.toString(), existsSync('-')]).toEqual(['', '', 'four', false]);
  await saveResult(context, file, Buffer.from('five!'));
  expect(said()).toBe(`Saved 5 bytes to ${file}\n`);
  expect(printed() && JSON.parse(printed())).toEqual(format === 'json' ? { file, bytes: 5 } : '');
  expect([readFileSync(file, 'utf8'), bytes.length]).toEqual(['five!', 1]);
});
