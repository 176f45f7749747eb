import { mkdtempSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { saveDocument } from '../../../src/commands/shared/save-document.ts';
import { startProgram } from '../../store/process.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();

it('psd2 writes a document through no link that someone put under its temporary name, and leaves the file as it was', async () => {
  const { context } = openCommand(newConfigFolder(temporary), '2026-11-21T12:00:00.000Z');
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
