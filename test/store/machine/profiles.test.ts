import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import {
  type ProfileSettings,
  ProfileStore,
  parseProfileName,
  storedProfile,
} from '../../../src/store/machine/profiles.ts';
import { SETTINGS, settingKeys } from '../../../src/store/machine/setting-table.ts';
import { rememberedStore } from '../../../src/store/machine/store-choice.ts';
import { NO_SOURCES } from '../../../src/store/secrets/vault.ts';
import { thrownBy } from '../../support/thrown.ts';
import { useKeyring } from '../system-keyring.ts';
import { newConfigFolder, put, temporaryFolder } from '../temporary-folder.ts';
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
const settings: ProfileSettings = { ...clear, ...secret };
let folder: StoreFolder;
let store: ProfileStore;
let notices: string[];

beforeEach(() => {
  folder = newConfigFolder(temporary);
  store = new ProfileStore(folder);
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
    await profiles().write('bank', settings);
    expect(content()).not.toContain('secret-');
    expect(profiles().read('bank')).toEqual({
      ...clear,
      sealed: { names: Object.keys(secret), content: expect.anything() },
    });
    expect(await profiles().readSealed('bank')).toEqual(secret);
    expect(await found()).toEqual(settings);
  });

  it.each<[string, Partial<ProfileSettings>]>([
    ['a certificate', { qwacCertificate: { pem: 'a certificate' } }],
    ['the path of a certificate', { qsealCertificate: { path: '/etc/qseal.pem' } }],
    ['the path of a key', { qwacKey: { path: '/etc/PRIVATE KEY.pem' }, qsealKey: { path: '/etc/key.pem' } }],
    ['a CA bundle with a key in it', { ca: { pem: '-----BEGIN PRIVATE KEY-----' } }],
  ])('%s is no secret, and a profile without secrets is stored as it is', async (_, more) => {
    await profiles().write('bank', { ...clear, ...more });
    expect(JSON.parse(content())).toEqual({ ...clear, ...more });
    expect(await profiles().readSealed('bank')).toEqual({});
  });

  it.each<[string, Partial<ProfileSettings>]>([
    ['a PKCS#12 container', { qwacCertificate: { pkcs12: 'c2VjcmV0LQ==' } }],
    ['a certificate with its key', { qsealCertificate: { pem: 'secret- -----BEGIN PRIVATE KEY-----' } }],
    ['a PKCS#12 container of a key', { qsealKey: { pkcs12: 'c2VjcmV0LQ==' } }],
  ])('%s is a secret', async (_, more) => {
    await profiles().write('bank', { ...clear, ...more });
    expect(content()).not.toMatch(/secret-|c2VjcmV0LQ==/);
    expect(await profiles().readSealed('bank')).toEqual(more);
  });

  it('a setting without a value is not a secret', async () => {
    await profiles().write('bank', { ...clear, clientSecret: undefined });
    expect(JSON.parse(content())).toEqual(clear);
  });

  it('secrets do not open for another bank', async () => {
    await profiles().write('bank', settings);
    writeFileSync(file(), content().replace('bank.example', 'evil.example'));
    await expect(profiles().readSealed('bank')).rejects.toMatchObject({
      code: 'config',
      message: expect.stringMatching(`^${file()} is damaged: `),
    });
  });

  it('secrets stay readable while the protection ends, and are then rewritten in clear', async () => {
    await profiles().write('bank', settings);
    await profiles().vault('bank').startEnding();
    expect(await found()).toEqual(settings);
    await profiles().rewrite('bank');
    expect(JSON.parse(content())).toEqual(settings);
  });

  it('without its key, a profile is neither read nor replaced, and the error says what to do', async () => {
    await profiles().write('bank', settings);
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

it('a profile that becomes protected is encrypted, and half-written copies of it are gone', async () => {
  useKeyring();
  await profiles().write('bank', settings);
  const copies = [`${file()}.tmp-123`, join(folder.profiles, 'other.json.tmp-123')];
  for (const path of copies) writeFileSync(path, 'secret-');
  await profiles().vault('bank').protect(KEYRING);
  await profiles().rewrite('bank');
  expect(content()).not.toContain('secret-');
  expect(await found()).toEqual(settings);
  expect(copies.map((path) => existsSync(path))).toEqual([false, true]);
});

describe('a damaged profile', () => {
  it('a damaged profile is kept when a new one replaces it, and found again', async () => {
    put(file(), 'garbage');
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
    put(folder.config, 'garbage');
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
  const [name = ''] = where.split('.');
  put(file(), `{"baseUrl":"https://bank.example/","${name}":${value}}`);
  expect(() => profiles().read('bank')).toThrow(`${file()} is damaged: ${where} is not as psd2 wrote it`);
});

it('a profile keeps its settings unchanged, and there is none before', async () => {
  await store.rewrite('bank');
  expect([store.list(), store.read('bank'), store.current()]).toEqual([[], undefined, undefined]);
  await store.write('bank', settings);
  expect(store.read('bank')).toEqual(settings);
  await store.write('bank', { baseUrl: 'https://other.example' });
  expect(store.read('bank')).toEqual({ baseUrl: 'https://other.example' });
});

it('settings are replaced only if they have not changed since they were read', async () => {
  await store.write('bank', settings);
  const read = store.read('bank') ?? settings;
  const [first, second] = ['https://first.example', 'https://second.example'];
  expect(await store.replace('bank', read, { ...settings, baseUrl: first })).toBe(true);
  expect(await store.replace('bank', read, { ...settings, baseUrl: second })).toBe(false);
  expect(store.read('bank')).toEqual({ ...settings, baseUrl: first });
});

it('only the owner can read the profiles', async () => {
  await store.write('bank', settings);
  await store.use('bank');
  for (const file of [folder.profile('bank'), folder.config]) expect(statSync(file).mode & 0o777).toBe(0o600);
  for (const place of [folder.root, folder.profiles]) expect(statSync(place).mode & 0o777).toBe(0o700);
});

it('profiles are listed in order, and other files in the folder are ignored', async () => {
  for (const name of ['zeta', 'alpha', 'a.b']) await store.write(name, settings);
  writeFileSync(join(folder.profiles, 'notes.txt'), '');
  expect(store.list()).toEqual(['a.b', 'alpha', 'zeta']);
});

it('a profile is the current one as long as it exists', async () => {
  await store.write('bank', settings);
  await store.use('bank');
  expect(store.current()).toBe('bank');
  for (let times = 0; times < 2; times += 1) store.remove('bank');
  expect([store.current(), store.read('bank')]).toEqual([undefined, undefined]);
});

it('with a profile goes what is about its bank, and what is about money, people and other profiles stays', async () => {
  const { profile, checkedBank, smoke, shapes, ...others } = folder;
  const { protection, tokens, flows, audit, syncFolders, learning } = others;
  const goes = [profile, checkedBank, smoke, shapes];
  const stays = [protection, tokens, flows, audit, syncFolders, learning];
  const pathsOf = (name: string) => [...goes, ...stays].map((pathOf) => pathOf(name));
  for (const name of ['bank', 'bank2', 'b']) for (const path of pathsOf(name)) put(path, '{}');
  store.remove('bank');
  expect(goes.map((pathOf) => existsSync(pathOf('bank')))).toEqual([false, false, false, false]);
  for (const path of [...stays.map((pathOf) => pathOf('bank')), ...pathsOf('bank2'), ...pathsOf('b')])
    expect([path, existsSync(path)]).toEqual([path, true]);
});

describe('a profile name', () => {
  it.each(['bank', 'Bank-1', 'a', '0.x_y', 'n'.repeat(64)])('a profile name may be %s', async (name) => {
    expect(parseProfileName(name)).toBe(name);
  });

  it.each(['', '.', '..', '../x', 'a/b', '-a', '.a', 'a b', 'è', 'n'.repeat(65), 'a\n'])(
    'the profile name %j is refused',
    async (name) => {
      expect(thrownBy(() => parseProfileName(name))).toMatchObject({
        code: 'usage',
        message: `The profile name ${JSON.stringify(name)} is not usable`,
        hint: 'Use at most 64 letters, digits, dots, dashes and underscores. Begin with a letter or digit.',
      });
      expect(() => store.read(name)).toThrow('is not usable');
      expect(() => store.remove(name)).toThrow('is not usable');
      await expect(store.write(name, settings)).rejects.toThrow('is not usable');
    },
  );

  it('the profile name env is reserved for the settings of the environment', async () => {
    expect(thrownBy(() => parseProfileName('env'))).toMatchObject({
      code: 'usage',
      message: 'The profile name "env" is reserved for the settings of the environment',
      hint: 'Choose another name.',
    });
  });
});

describe('the quick look at a stored file', () => {
  const odd = fc.oneof(fc.string(), fc.constant(null), fc.integer(), fc.constant({}), fc.constant([]));
  const pem = fc.oneof(
    fc.record({ path: fc.string() }),
    fc.record({ pem: fc.string() }),
    fc.record({ pkcs12: odd }),
    fc.record({ pem: fc.string(), path: fc.string() }),
    fc.record({ other: fc.string() }),
  );
  const choices = settingKeys().flatMap((key) => SETTINGS[key].choices ?? []);
  const content = fc.oneof(fc.string(), pem, fc.constantFrom(...choices), odd);
  const key = fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom<string>(...settingKeys()) },
    fc.constantFrom('sealed', 'constructor', 'nonsense'),
  );
  const profile = fc
    .tuple(fc.dictionary(key, content, { maxKeys: 4 }), fc.boolean())
    .map(([some, isComplete]) => (isComplete ? { ...some, baseUrl: 'https://bank.example' } : some));
  const remembered = fc.record(
    { home: fc.constantFrom('files', 'postgres'), isSet: fc.oneof(fc.boolean(), odd), id: odd },
    { requiredKeys: [] },
  );

  it('takes only what the schema takes unchanged', () => {
    let taken = 0;
    type Schema = typeof storedProfile | typeof rememberedStore;
    const check = (value: unknown, { isCertainly, schema }: Schema) => {
      if (!isCertainly(value)) return;
      taken += 1;
      expect(schema().safeParse(value)).toEqual({ success: true, data: value });
    };
    fc.assert(
      fc.property(fc.oneof(profile, odd), (value) => check(value, storedProfile)),
      { numRuns: 3_000 },
    );
    expect(taken).toBeGreaterThan(100);
    taken = 0;
    fc.assert(
      fc.property(fc.oneof(remembered, odd), (value) => check(value, rememberedStore)),
      { numRuns: 1_000 },
    );
    expect(taken).toBeGreaterThan(1);
  });

  it('is enough for a profile that is not protected', () => {
    expect(storedProfile.isCertainly(settings)).toBe(true);
  });
});
