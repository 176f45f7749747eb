import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { ProfileStore } from '../../src/store/machine/profiles.ts';
import {
  dailyLimitOf,
  environmentSettings,
  missingSetting,
  openProfile,
  type Profile,
  parseBaseUrl,
  readPem,
  redirectUriOf,
  requireSetting,
} from '../../src/store/machine/settings.ts';
import { newConfigFolder, temporaryFolder } from './temporary-folder.ts';

const temporary = temporaryFolder();
let store: ProfileStore;

beforeEach(() => {
  store = new ProfileStore(newConfigFolder(temporary));
});

const bank = { baseUrl: 'https://bank.example', clientId: 'stored', applicationName: 'Stored App' };

describe('choosing a profile', () => {
  beforeEach(async () => {
    await store.write('bank', bank);
    await store.write('other', { ...bank, baseUrl: 'https://other.example' });
    await store.use('bank');
  });

  it('psd2 uses the named profile, or else the current one', () => {
    expect(openProfile(store, 'other', {})).toMatchObject({
      name: 'other',
      settings: { baseUrl: 'https://other.example' },
    });
    expect(openProfile(store, undefined, {})).toEqual({ name: 'bank', settings: bank });
  });

  it('environment variables override the settings of a profile; an empty one counts as not set', () => {
    const env = { PSD2_CLIENT_ID: 'environment', PSD2_APP_NAME: '', PSD2_QWAC_CERT: '/qwac.pem' };
    expect(openProfile(store, undefined, env)).toEqual({
      name: 'bank',
      settings: { ...bank, clientId: 'environment', qwacCertificate: { path: '/qwac.pem' } },
    });
  });

  it('the error for a profile that does not exist lists the existing ones', () => {
    expect(() => openProfile(store, 'gone', {})).toThrow(
      expect.objectContaining({
        code: 'no_profile',
        message: 'There is no profile "gone"',
        hint: 'There is: bank, other. Choose one with:',
        next: [
          ['profile', 'use', 'bank'],
          ['profile', 'use', 'other'],
        ],
      }),
    );
  });

  it('the profile env consists of environment variables only', () => {
    const env = { PSD2_BASE_URL: 'https://env.example' };
    expect(openProfile(store, 'env', env)).toEqual({
      name: 'env',
      settings: { baseUrl: 'https://env.example' },
    });
    expect(() => openProfile(store, 'env', {})).toThrow(
      'The environment does not define a profile: PSD2_BASE_URL is not set',
    );
  });
});

it('without a stored profile, environment variables define one', () => {
  expect(openProfile(store, undefined, { PSD2_BASE_URL: 'https://env.example' })).toEqual({
    name: 'env',
    settings: { baseUrl: 'https://env.example' },
  });
});

it('without any profile, the error says what to run', () => {
  expect(() => openProfile(store, undefined, { PSD2_CLIENT_ID: 'x' })).toThrow(
    expect.objectContaining({
      code: 'no_profile',
      message: 'No profile is chosen',
      hint: 'Add one, or try the sandbox:',
      next: [
        ['profile', 'add'],
        ['sandbox', 'start', '--detach'],
        ['--profile', 'sandbox', 'auth', 'login'],
      ],
    }),
  );
});

it('every setting has an environment variable', () => {
  expect(
    environmentSettings({
      PSD2_BASE_URL: 'a',
      PSD2_CLIENT_ID: 'b',
      PSD2_CLIENT_SECRET: 'c',
      PSD2_APP_NAME: 'd',
      PSD2_CC_CLIENT_ID: 'e',
      PSD2_CC_CLIENT_SECRET: 'f',
      PSD2_CC_APP_NAME: 'g',
      PSD2_REDIRECT_URI: 'h',
      PSD2_QWAC_CERT: 'i',
      PSD2_QWAC_KEY: 'j',
      PSD2_QSEAL_CERT: 'k',
      PSD2_QSEAL_KEY: 'l',
      PSD2_CA: 'm',
      PSD2_BANK_SIGNING_CERT: 'n',
      PATH: '/bin',
    }),
  ).toEqual({
    baseUrl: 'a',
    clientId: 'b',
    clientSecret: 'c',
    applicationName: 'd',
    ccClientId: 'e',
    ccClientSecret: 'f',
    ccApplicationName: 'g',
    redirectUri: 'h',
    qwacCertificate: { path: 'i' },
    qwacKey: { path: 'j' },
    qsealCertificate: { path: 'k' },
    qsealKey: { path: 'l' },
    ca: { path: 'm' },
    bankSigningCertificate: { path: 'n' },
  });
});

describe('a required setting', () => {
  const profile = (name: string): Profile => ({ name, settings: { clientId: 'x' } });

  it('a missing setting is named with its environment variable', () => {
    expect(requireSetting(profile('bank'), 'clientId')).toBe('x');
    expect(() => requireSetting(profile('bank'), 'applicationName')).toThrow(
      expect.objectContaining({
        code: 'config',
        message: 'The profile "bank" has no application name',
        hint: 'Set PSD2_APP_NAME, or the setting of the profile:',
        next: [['profile', 'edit', 'bank']],
      }),
    );
    expect(() => missingSetting(profile('env'), 'qwacKey')).toThrow(
      expect.objectContaining({ message: 'The profile "env" has no QWAC key', hint: 'Set PSD2_QWAC_KEY.' }),
    );
  });
});

describe('a PEM setting', () => {
  const profileWith = (path: string): Profile => ({
    name: 'bank',
    settings: { qwacKey: { path }, qwacCertificate: { path }, ca: { pem: 'stored PEM' } },
  });

  it('a PEM setting is the stored text, or the current text of its file', () => {
    const path = join(temporary, 'now.pem');
    writeFileSync(path, 'first', { mode: 0o600 });
    expect(readPem(profileWith(path), 'ca')).toBe('stored PEM');
    expect(readPem(profileWith(path), 'qwacKey')).toBe('first');
    writeFileSync(path, 'second');
    expect(readPem(profileWith(path), 'qwacKey')).toBe('second');
    expect(readPem(profileWith(path), 'qsealKey')).toBeUndefined();
  });

  it('the error for a PEM setting names a file that does not exist or cannot be read', () => {
    const gone = join(temporary, 'gone.pem');
    expect(() => readPem(profileWith(gone), 'qwacKey')).toThrow(
      expect.objectContaining({ code: 'certificate', message: `The QWAC key ${gone} does not exist` }),
    );
    expect(() => readPem(profileWith(temporary), 'qwacCertificate')).toThrow(
      `The QWAC certificate ${temporary} is a folder, not a file`,
    );
  });

  it('others may read the file of a PEM setting only if it is not a key', () => {
    const path = join(temporary, 'open.pem');
    writeFileSync(path, 'PEM');
    chmodSync(path, 0o644);
    expect(readPem(profileWith(path), 'qwacCertificate')).toBe('PEM');
    expect(() => readPem(profileWith(path), 'qwacKey')).toThrow(
      expect.objectContaining({ code: 'config', message: `${path} can be read by others (mode 0644)` }),
    );
  });
});

describe('the base URL', () => {
  it.each([
    ['https://bank.example', 'https://bank.example/'],
    ['https://bank.example/', 'https://bank.example/'],
    ['https://bank.example:8443/psd2/v1/', 'https://bank.example:8443/psd2/v1'],
    ['https://[::1]:8443', 'https://[::1]:8443/'],
  ])('the base URL %s is read as %s', (text, href) => {
    expect(parseBaseUrl(text).href).toBe(href);
  });

  it.each([
    ['bank.example', 'The base URL "bank.example" is not a URL'],
    ['http://bank.example', 'The base URL "http://bank.example" is not https'],
    ['https://bank.example/?a=1', 'The base URL "https://bank.example/?a=1" holds a query or a fragment'],
    ['https://bank.example/#a', 'The base URL "https://bank.example/#a" holds a query or a fragment'],
    ['https://bank.example/?', 'The base URL "https://bank.example/?" holds a query or a fragment'],
    ['https://bank.example/#', 'The base URL "https://bank.example/#" holds a query or a fragment'],
    ['https://me:hush@bank.example', 'The base URL holds a user name or password'],
    ['http://me:hush@bank.example', 'The base URL holds a user name or password'],
  ])('the base URL %s is refused', (text, message) => {
    expect(() => parseBaseUrl(text)).toThrow(expect.objectContaining({ code: 'config', message }));
  });
});

describe('the daily limit', () => {
  const of = (ccDailyLimit: string) => dailyLimitOf({ name: 'bank', settings: { ccDailyLimit } });

  it('the daily limit is a whole number, or unknown', () => {
    expect(dailyLimitOf({ name: 'bank', settings: {} })).toBeNull();
    expect([of('1'), of('400')]).toEqual([1, 400]);
  });

  it.each(['0', '-1', '4.5', 'many', ''])('the daily limit %j is refused', (limit) => {
    expect(() => of(limit)).toThrow(
      expect.objectContaining({
        code: 'config',
        message: expect.stringContaining('is not a whole number from 1'),
      }),
    );
  });
});

describe('the redirect URI', () => {
  const of = (redirectUri?: string) =>
    redirectUriOf({ name: 'bank', settings: redirectUri === undefined ? {} : { redirectUri } });

  it('the redirect URI has a default, and is kept exactly as registered', () => {
    expect(of()).toBe('http://127.0.0.1:8910/callback');
    expect(of('https://tpp.example/back?to=psd2')).toBe('https://tpp.example/back?to=psd2');
    expect(of('http://localhost:80/cb')).toBe('http://localhost:80/cb');
  });

  it.each([
    'callback',
    'ftp://127.0.0.1/',
    'myapp://callback',
    'https://tpp.example/#x',
    'https://tpp.example/back#',
  ])('the redirect URI %s is refused', (uri) => {
    expect(() => of(uri)).toThrow(expect.objectContaining({ code: 'config' }));
  });
});
