import { chmodSync, chownSync, mkdirSync, mkdtempSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readKeyFile } from '../../../src/store/machine/key-file.ts';
import { checkBankFile } from '../../bank-file/described.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const temporary = temporaryFolder();
const newFolder = () => mkdtempSync(join(temporary, 'row-'));
const LEAST = { interface: 'nextgenpsd2' };

/** Something that another user can do to a file that psd2 reads. */
interface Row {
  file?: number;
  folder?: number;
  /** The mode of the folder with a link to the file; undefined: the file itself is read. */
  linkFolder?: number;
  fault: RegExp | undefined;
}

const CHANGED_FILE = /bank\.json can be changed by others \(mode 06\d\d\)/;
const CHANGED_FOLDER = /place can be changed by others \(mode 07\d\d\)/;
const ROWS: Row[] = [
  { file: 0o644, folder: 0o755, fault: undefined },
  { file: 0o666, fault: CHANGED_FILE },
  { file: 0o664, fault: CHANGED_FILE },
  { folder: 0o777, fault: CHANGED_FOLDER },
  { folder: 0o775, fault: CHANGED_FOLDER },
  { folder: 0o1777, fault: undefined },
  { linkFolder: 0o700, fault: undefined },
  { linkFolder: 0o777, fault: /links can be changed by others \(mode 0777\)/ },
  { linkFolder: 0o700, folder: 0o777, fault: CHANGED_FOLDER },
  { linkFolder: 0o700, file: 0o666, fault: CHANGED_FILE },
];

/** A file as the row says. @returns the path that psd2 reads */
function placed({ file = 0o600, folder = 0o700, linkFolder }: Row): string {
  const place = join(newFolder(), 'place');
  mkdirSync(place);
  const path = join(place, 'bank.json');
  writeFileSync(path, JSON.stringify(LEAST));
  chmodSync(path, file);
  chmodSync(place, folder);
  if (linkFolder === undefined) return path;
  const links = join(newFolder(), 'links');
  mkdirSync(links);
  symlinkSync(path, join(links, 'bank.json'));
  chmodSync(links, linkFolder);
  return join(links, 'bank.json');
}

describe('a file that says where secrets go', () => {
  it.each(ROWS)('may not be another user to change: %j', async (row) => {
    const path = placed(row);
    const { problems } = await checkBankFile(path);
    const wanted = row.fault ? [{ path: '', message: expect.stringMatching(row.fault) }] : [];
    expect(problems).toEqual(wanted);
    expect(problems.every(({ message }) => /\. Run: chmod go-w \S+$/.test(message))).toBe(true);
    const read = () => readKeyFile(path, 'CA bundle', 'public').toString();
    if (row.fault) expect(read).toThrow(row.fault);
    else expect(read()).toBe(JSON.stringify(LEAST));
  });

  it('may not be another user to change where another file extends it', async () => {
    const below = placed({ file: 0o666, fault: CHANGED_FILE });
    const own = join(below, '..', 'own.json');
    writeFileSync(own, JSON.stringify({ ...LEAST, extends: 'bank.json' }), { mode: 0o600 });
    expect((await checkBankFile(own)).problems).toEqual([
      { path: 'extends', message: expect.stringMatching(CHANGED_FILE) },
    ]);
  });

  // Only root can give a file away.
  it.runIf(process.getuid?.() === 0)('may not be of another user than that of its folder', async () => {
    const path = placed({ fault: undefined });
    chownSync(path, 65_534, statSync(path).gid);
    expect((await checkBankFile(path)).problems).toEqual([
      { path: '', message: expect.stringContaining('belongs to another user (65534)') },
    ]);
  });
});
