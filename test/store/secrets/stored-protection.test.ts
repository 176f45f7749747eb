import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { Vault } from '../../../src/store/secrets/vault.ts';
import { thrownBy } from '../../support/thrown.ts';
import { stored } from '../stored-protection.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';

const temporary = temporaryFolder();

/** What is wrong with a file, the field that the error names, and the content. */
const DAMAGED: [string, string, object][] = [
  ['of a later format', 'v', { ...stored, v: 2 }],
  ['in another state', 'state', { ...stored, state: 'off' }],
  ['with another kind of protection', 'wrappedBy.kind', { ...stored, wrappedBy: { kind: 'card' } }],
  ...[{ N: 1024 }, { r: 1 }, { p: 1 }].map((less): [string, string, object] => {
    const scrypt = { ...stored.wrappedBy.scrypt, ...less };
    const where = `wrappedBy.scrypt.${Object.keys(less).join()}`;
    return [
      'with less work for a passphrase',
      where,
      { ...stored, wrappedBy: { kind: 'passphrase', scrypt } },
    ];
  }),
  ['without a salt', 'wrappedBy.scrypt', { ...stored, wrappedBy: { kind: 'passphrase' } }],
  ['without an id', 'id', { ...stored, id: undefined }],
  ['without a key', 'key', { ...stored, key: undefined }],
  ...[{ v: 2 }, { cipher: 'aes-128-gcm' }, { nonce: 'AAAA' }, { tag: 'AAAA' }, { data: 7 }].map(
    (change): [string, string, object] => [
      'with a changed key',
      `key.${Object.keys(change).join()}`,
      { ...stored, key: { ...stored.key, ...change } },
    ],
  ),
];

it('psd2 reads every file of a key that it has ever stored, and names the field of one that it never stored', () => {
  const folder = newConfigFolder(temporary);
  const file = folder.protection('bank');
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const kindOf = (content: object) => {
    writeFileSync(file, JSON.stringify(content), { mode: 0o600 });
    return new Vault(folder, 'bank').kind;
  };
  for (const state of ['on', 'ending']) {
    expect(kindOf({ ...stored, state })).toBe('passphrase');
    expect(kindOf({ ...stored, state, wrappedBy: { kind: 'keyring' } })).toBe('keyring');
  }
  for (const [what, where, content] of DAMAGED)
    expect(
      thrownBy(() => kindOf(content)),
      what,
    ).toMatchObject({
      code: 'config',
      message: `${file} is damaged: ${where} is not as psd2 wrote it`,
    });
});
