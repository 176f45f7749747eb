import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
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

describe('a file that must be new', () => {
  const checked = (file: string, columns?: number) => {
    const { context } = openCommand(
      newConfigFolder(temporary),
      NOW,
      columns === undefined ? {} : { columns },
    );
    return failureOf(Promise.resolve().then(() => requireNewFile(context, file)));
  };

  it('is not one that is there', async () => {
    const file = join(mkdtempSync(join(temporary, 'new-')), 'statement.csv');
    const { context } = openCommand(newConfigFolder(temporary), NOW, { columns: 80 });
    expect(requireNewFile(context, file)).toBe(file);
    expect(requireNewFile(context, '-')).toBe('-');
    expect(requireFile(context, file, 'binary')).toBe(file);
    writeFileSync(file, 'of an earlier export');
    expect(await checked(file)).toEqual({
      ...{ code: 'usage', exitCode: 2, message: `${file} already exists` },
      hint: 'Name a new file with --file, or remove this one first.',
    });
    expect(requireFile(context, file, 'binary')).toBe(file);
  });

  it('is no pipe either', async () => {
    const pipe = join(mkdtempSync(join(temporary, 'pipe-')), 'pipe');
    execFileSync('mkfifo', [pipe]);
    expect(await checked(pipe)).toMatchObject({
      message: `${pipe} is a pipe, but the document needs a file`,
    });
    expect(await checked('')).toMatchObject({ message: 'The file for the document is missing' });
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
