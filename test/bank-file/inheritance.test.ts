import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkBankFile, describeBank, readBankFile } from './described.ts';
import { bankFolder, LEAST } from './folder.ts';

const { folder, write } = bankFolder();

async function messageOf(nameOrPath: string): Promise<string> {
  const { problems } = await checkBankFile(nameOrPath);
  return problems.map(({ path, message }) => `${path}|${message}`).join('\n');
}

describe('what a bank file inherits', () => {
  it('objects merge field by field, lists and single values replace, at every level of the chain', async () => {
    write('far.json', {
      ...LEAST,
      name: 'far',
      headers: { static: { a: '1', b: '1' }, date: 'always' },
      signing: { keyId: { serial: 'decimal', case: 'upper' }, headers: ['digest', 'x-request-id', 'date'] },
      accounts: { paging: { totalPagesHeader: 'pages', pageParameter: 'page' } },
    });
    write('near.json', {
      ...LEAST,
      extends: './far.json',
      headers: { static: { b: '2' } },
      signing: { keyId: { case: 'lower' } },
    });
    const own = {
      ...LEAST,
      extends: 'near.json',
      name: 'own',
      signing: { headers: ['digest'] },
      accounts: { paging: 'link' },
    };
    const { file, description, defaults } = await readBankFile(write('own.json', own));
    expect(file).toEqual({
      ...LEAST,
      name: 'own',
      headers: { static: { a: '1', b: '2' }, date: 'always' },
      signing: { keyId: { serial: 'decimal', case: 'lower' }, headers: ['digest'] },
      accounts: { paging: 'link' },
    });
    expect(description).toMatchObject({ ...file, signing: { ...file.signing, when: 'always' } });
    expect(defaults).toContain('signing.when');
    expect(defaults).toContain('signing.keyId.dn');
    expect(defaults).toContain('verifiedOn');
    for (const said of [
      'interface',
      'name',
      'signing.keyId.case',
      'signing.headers',
      'accounts.paging',
      'headers.static.a',
    ])
      expect(defaults).not.toContain(said);
  });

  it('a platform goes before a file of the same name, and ./ names the file', async () => {
    write('sparda', { ...LEAST, name: 'mine' });
    expect((await readBankFile(write('a.json', { ...LEAST, extends: 'sparda' }))).description.name).toBe(
      'Sparda-Banken',
    );
    expect((await readBankFile(write('a.json', { ...LEAST, extends: './sparda' }))).description.name).toBe(
      'mine',
    );
    expect((await readBankFile('sparda')).description.name).toBe('Sparda-Banken');
    expect((await readBankFile(join(folder, 'sparda'))).description.name).toBe('mine');
  });

  it('that somebody saw the facts hold at one bank says nothing of another', async () => {
    write('seen.json', { ...LEAST, verifiedOn: '2026-11-23', learned: { 'psu.id': '2026-11-23' } });
    expect((await readBankFile(join(folder, 'seen.json'))).description.verifiedOn).toBe('2026-11-23');
    const { description, defaults } = await readBankFile(write('a.json', { ...LEAST, extends: 'seen.json' }));
    expect([description.verifiedOn, description.learned]).toEqual([null, undefined]);
    expect(defaults).toContain('verifiedOn');
  });

  it('fields that do not fit together are found across the chain', async () => {
    write('base.json', {
      ...LEAST,
      signing: { headers: ['digest', 'psu-id'], ifSent: ['tpp-redirect-uri'] },
    });
    const path = write('a.json', { ...LEAST, extends: 'base.json', signing: { ifSent: ['psu-id'] } });
    expect(await messageOf(path)).toBe(
      'signing.ifSent|signing.ifSent names psu-id, which signing.headers already names',
    );
  });

  it('a problem of an inherited file names that file', async () => {
    const base = write('base.json', { ...LEAST, signin: {} });
    expect(await messageOf(write('a.json', { ...LEAST, extends: 'base.json' }))).toBe(
      `signin|In ${base}, which this file extends: signin is not a field of a bank file. Did you mean signing?`,
    );
  });

  it('each file names its interface', async () => {
    expect(await messageOf(write('a.json', { extends: 'standard' }))).toBe(
      'interface|interface must be "nextgenpsd2"',
    );
  });
});

describe('what a bank file cannot extend', () => {
  it.each([
    '../base.json',
    '/etc/passwd',
    'sub/base.json',
    './../base.json',
    'sub/../base.json',
    '..',
    '.',
    'a\\b.json',
  ])('a path that leaves its folder: %s', async (path) => {
    mkdirSync(join(folder, 'sub'), { recursive: true });
    expect(await messageOf(write('a.json', { ...LEAST, extends: path }))).toBe(
      'extends|extends must name a platform that comes with psd2, or a file in the same folder',
    );
  });

  it('a name that every object has', async () => {
    expect(await messageOf(write('a.json', { ...LEAST, extends: 'constructor' }))).toContain(
      'neither a platform',
    );
    await expect(messageOf('toString')).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('what is no bank file', () => {
  it('a text that is not JSON', async () => {
    const path = write('bad.json', '{"interface": "nextgenpsd2"');
    expect(await messageOf(path)).toMatch(`|${path} is not valid JSON: line 1, column 28: `);
  });

  it.each(['[]', 'null', '3', '"nextgenpsd2"'])('%s is JSON, but no object', async (text) => {
    expect(await messageOf(write('bad.json', text))).toBe('|The file must be an object');
  });
});

describe('a bank that a profile stores', () => {
  it('is described as the file was', async () => {
    const { file, description } = await readBankFile('cbi-globe');
    expect(await describeBank(JSON.parse(JSON.stringify(file)))).toEqual(description);
  });
});
