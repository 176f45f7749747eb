import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
import { thrownBy } from '../../support/thrown.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';

const temporary = temporaryFolder();
const settings: ProfileSettings = {
  baseUrl: 'https://bank.example',
  clientId: 'client-1',
  clientSecret: 'secret-1',
  qwacCertificate: { path: '/etc/psd2/qwac.pem' },
  qwacKey: { pem: '-----BEGIN PRIVATE KEY-----' },
  tppCertificate: 'none',
};

let folder: StoreFolder;
let store: ProfileStore;

beforeEach(() => {
  folder = newConfigFolder(temporary);
  store = new ProfileStore(folder);
});

it('there is no profile at first', async () => {
  expect(store.list()).toEqual([]);
  expect(store.read('bank')).toBeUndefined();
  expect(store.current()).toBeUndefined();
});

it('a profile keeps its settings unchanged', async () => {
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
    const check = (
      value: unknown,
      { isCertainly, schema }: typeof storedProfile | typeof rememberedStore,
    ) => {
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
      {
        numRuns: 1_000,
      },
    );
    expect(taken).toBeGreaterThan(1);
  });

  it('is enough for a profile that is not protected', () => {
    expect(storedProfile.isCertainly(settings)).toBe(true);
  });
});
