import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import { type ProfileSettings, ProfileStore } from '../../../src/store/machine/profiles.ts';
import { NO_SOURCES } from '../../../src/store/secrets/vault.ts';
import { useKeyring } from '../system-keyring.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';
import { heldByAnother } from '../waiting.ts';

const temporary = temporaryFolder();
const KEYRING = { kind: 'keyring' } as const;
const clear: ProfileSettings = {
  baseUrl: 'https://bank.example/',
  clientId: 'public',
  applicationName: 'public',
  ccClientId: 'public',
  ccApplicationName: 'public',
  ca: { pem: 'public' },
  bankSigningCertificate: { pem: 'public' },
  ccDailyLimit: '400',
  redirectUri: 'http://127.0.0.1:8910/callback',
  payeeCheck: 'check-payee',
  environment: 'sandbox',
  maxAmount: '500.00',
  tppCertificate: 'none',
};
const secret: Partial<ProfileSettings> = {
  clientSecret: 'secret-1',
  ccClientSecret: 'secret-2',
  qwacKey: { pem: 'secret-3' },
  qsealKey: { pem: 'secret-4' },
  signer: 'sign --pin secret-5',
};
let folder: StoreFolder;
let notices: string[];

beforeEach(() => {
  folder = newConfigFolder(temporary);
  notices = [];
});

/** The profiles, as another process opens them. */
const profiles = () => new ProfileStore(folder, (text) => notices.push(text));
const file = () => folder.profile('bank');
const content = () => readFileSync(file(), 'utf8');
/** Everything that a process with the key finds. */
const found = async () => {
  const { sealed: _, ...settings } = profiles().read('bank') ?? {};
  return { ...settings, ...(await profiles().readSealed('bank')) };
};

describe('the settings of a protected profile', () => {
  beforeEach(async () => {
    useKeyring();
    await profiles().vault('bank').protect(KEYRING);
  });

  it('secrets are encrypted, and everything else can be read without the key', async () => {
    await profiles().write('bank', { ...clear, ...secret });
    expect(content()).not.toContain('secret-');
    expect(profiles().read('bank')).toEqual({
      ...clear,
      sealed: { names: Object.keys(secret), content: expect.anything() },
    });
    expect(await profiles().readSealed('bank')).toEqual(secret);
    expect(await found()).toEqual({ ...clear, ...secret });
  });

  it.each<[string, Partial<ProfileSettings>]>([
    ['a certificate', { qwacCertificate: { pem: 'a certificate' } }],
    ['the path of a certificate', { qsealCertificate: { path: '/etc/qseal.pem' } }],
    ['the path of a key', { qwacKey: { path: '/etc/PRIVATE KEY.pem' }, qsealKey: { path: '/etc/key.pem' } }],
    ['a CA bundle with a key in it', { ca: { pem: '-----BEGIN PRIVATE KEY-----' } }],
  ])('%s is no secret, and a profile without secrets is stored as it is', async (_, settings) => {
    await profiles().write('bank', { ...clear, ...settings });
    expect(JSON.parse(content())).toEqual({ ...clear, ...settings });
    expect(await profiles().readSealed('bank')).toEqual({});
  });

  it.each<[string, Partial<ProfileSettings>]>([
    ['a PKCS#12 container', { qwacCertificate: { pkcs12: 'c2VjcmV0LQ==' } }],
    ['a certificate with its key', { qsealCertificate: { pem: 'secret- -----BEGIN PRIVATE KEY-----' } }],
    ['a PKCS#12 container of a key', { qsealKey: { pkcs12: 'c2VjcmV0LQ==' } }],
  ])('%s is a secret', async (_, settings) => {
    await profiles().write('bank', { ...clear, ...settings });
    expect(content()).not.toMatch(/secret-|c2VjcmV0LQ==/);
    expect(await profiles().readSealed('bank')).toEqual(settings);
  });

  it('a setting without a value is not a secret', async () => {
    await profiles().write('bank', { ...clear, clientSecret: undefined });
    expect(JSON.parse(content())).toEqual(clear);
  });

  it('secrets do not open for another bank', async () => {
    await profiles().write('bank', { ...clear, ...secret });
    writeFileSync(file(), content().replace('bank.example', 'evil.example'));
    await expect(profiles().readSealed('bank')).rejects.toMatchObject({
      code: 'config',
      message: expect.stringMatching(`^${file()} is damaged: `),
    });
  });

  it('secrets stay readable while the protection ends, and are then rewritten in clear', async () => {
    await profiles().write('bank', { ...clear, ...secret });
    await profiles().vault('bank').startEnding();
    expect(await found()).toEqual({ ...clear, ...secret });
    await profiles().rewrite('bank');
    expect(JSON.parse(content())).toEqual({ ...clear, ...secret });
  });

  it('without its key, a profile is neither read nor replaced, and the error says what to do', async () => {
    await profiles().write('bank', { ...clear, ...secret });
    rmSync(folder.protection('bank'));
    const before = content();
    const gone = {
      code: 'config',
      message: `${file()} is encrypted, and its key ${folder.protection('bank')} is gone`,
      hint: 'Restore that file, or add the profile again:',
      next: [
        ['profile', 'remove', 'bank'],
        ['profile', 'add', 'bank'],
      ],
    };
    await expect(profiles().readSealed('bank')).rejects.toMatchObject(gone);
    await expect(profiles().write('bank', clear)).rejects.toMatchObject(gone);
    await expect(profiles().rewrite('bank')).rejects.toMatchObject(gone);
    expect(content()).toBe(before);
  });
});

describe('rewriting a profile', () => {
  it('a profile that becomes protected is encrypted, and half-written copies of it are gone', async () => {
    useKeyring();
    await profiles().write('bank', { ...clear, ...secret });
    const copies = [`${file()}.tmp-123`, join(folder.profiles, 'other.json.tmp-123')];
    for (const path of copies) writeFileSync(path, 'secret-');
    await profiles().vault('bank').protect(KEYRING);
    await profiles().rewrite('bank');
    expect(content()).not.toContain('secret-');
    expect(await found()).toEqual({ ...clear, ...secret });
    expect(copies.map((path) => existsSync(path))).toEqual([false, true]);
  });

  it('a profile that does not exist is not made', async () => {
    await profiles().rewrite('bank');
    expect(profiles().list()).toEqual([]);
  });
});

describe('a damaged profile', () => {
  it('a damaged profile is kept when a new one replaces it, and found again', async () => {
    mkdirSync(dirname(file()), { recursive: true, mode: 0o700 });
    writeFileSync(file(), 'garbage', { mode: 0o600 });
    await profiles().write('bank', clear);
    await profiles().write('other', clear);
    const names = readdirSync(folder.profiles).filter((name) => name.startsWith('bank.json.damaged-'));
    expect(names).toHaveLength(1);
    expect(profiles().damaged('bank')).toEqual(names.map((name) => join(folder.profiles, name)));
    expect(profiles().damaged('other')).toEqual([]);
    expect(profiles().damaged('nk')).toEqual([]);
    expect(notices).toEqual([expect.stringContaining(`psd2 keeps it as ${profiles().damaged('bank')[0]}`)]);
    expect(profiles().list()).toEqual(['bank', 'other']);
  });

  it('a damaged choice of the profile is kept when another is chosen', async () => {
    mkdirSync(folder.root, { recursive: true, mode: 0o700 });
    writeFileSync(folder.config, 'garbage', { mode: 0o600 });
    await profiles().write('bank', clear);
    await profiles().use('bank');
    expect(profiles().current()).toBe('bank');
    expect(notices).toEqual([
      expect.stringContaining(`${folder.config} is damaged: it is not JSON. psd2 keeps`),
    ]);
  });
});

it.each([
  ['writes', (store: ProfileStore) => store.write('bank', clear)],
  ['replaces', (store: ProfileStore) => store.replace('bank', clear, clear)],
  ['rewrites', (store: ProfileStore) => store.rewrite('bank')],
])('psd2 waits ten seconds for another process before it %s a profile', async (_, change) => {
  mkdirSync(dirname(file()), { recursive: true, mode: 0o700 });
  const time = heldByAnother(`${file()}.lock`);
  await expect(change(profiles())).rejects.toMatchObject({
    code: 'config',
    message: 'The profile bank is in use by another psd2: process 7 on h since now',
  });
  expect(time.seconds).toBe(11);
});

it('a profile has one vault, and the sources of its keys are those that were given', () => {
  const store = profiles();
  expect(store.vault('bank')).toBe(store.vault('bank'));
  expect(store.vault('bank')).not.toBe(store.vault('other'));
  expect(store.keySources).toBe(NO_SOURCES);
  const sources = { ...NO_SOURCES };
  expect(new ProfileStore(folder, () => {}, sources).keySources).toBe(sources);
});

it.each([
  ['baseUrl', '1'],
  ['qwacKey', '{"path":7}'],
  ['qwacKey', '{}'],
  ['qwacKey', '"PEM"'],
  ['clientId', '7'],
  ['environment', '"prod"'],
  ['tppCertificate', '"pem"'],
  ['sealed.names', '{"content":{}}'],
])('a profile whose %s was changed to %s is damaged', (where, value) => {
  mkdirSync(dirname(file()), { recursive: true, mode: 0o700 });
  const [name = ''] = where.split('.');
  writeFileSync(file(), `{"baseUrl":"https://bank.example/","${name}":${value}}`, { mode: 0o600 });
  expect(() => profiles().read('bank')).toThrow(`${file()} is damaged: ${where} is not as psd2 wrote it`);
});
