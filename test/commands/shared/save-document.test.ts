import { readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { saveDocument } from '../../../src/commands/shared/save-document.ts';
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
