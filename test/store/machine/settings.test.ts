import { chmodSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { ProfileStore, type StoredProfile } from '../../../src/store/machine/profiles.ts';
import {
  applicationNameOf,
  baseUrlOf,
  dailyLimitOf,
  type Environment,
  environmentSettings,
  maxAmountOf,
  missingSetting,
  openProfile,
  type Profile,
  parseBaseUrl,
  passphraseIn,
  readPem,
  readSource,
  redirectUriOf,
  requireSetting,
  requireSource,
  staleAfterOf,
} from '../../../src/store/machine/settings.ts';
import { lacking } from '../../support/lacking.ts';
import { thrownBy } from '../../support/thrown.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';

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

  const PRODUCTION = { environment: 'production' } as const;
  it.each<[string, Partial<StoredProfile>, Environment, Partial<StoredProfile>]>([
    ['fewer approvals', { approvals: '2' }, { PSD2_APPROVALS: '0' }, { approvals: '2' }],
    ['more approvals', { approvals: '1' }, { PSD2_APPROVALS: '2' }, { approvals: '2' }],
    ['credentials from files', { embedded: 'ask' }, { PSD2_EMBEDDED: 'files' }, { embedded: 'ask' }],
    ['credentials where none may be', {}, { PSD2_EMBEDDED: 'ask' }, { embedded: 'never' }],
    ['no credentials', { embedded: 'files' }, { PSD2_EMBEDDED: 'never' }, { embedded: 'never' }],
    ['fewer than production needs', PRODUCTION, { PSD2_APPROVALS: '0' }, { approvals: '1' }],
    ['more than the profile allows', { maxAmount: '50' }, { PSD2_MAX_AMOUNT: '500.00' }, { maxAmount: '50' }],
    ['less than the profile allows', { maxAmount: '50' }, { PSD2_MAX_AMOUNT: '5.00' }, { maxAmount: '5.00' }],
    ['no amount', { maxAmount: '50' }, { PSD2_MAX_AMOUNT: 'x' }, { maxAmount: 'x' }],
    ['an amount for none', { maxAmount: 'x' }, { PSD2_MAX_AMOUNT: '5.00' }, { maxAmount: 'x' }],
    ['no production', PRODUCTION, { PSD2_ENVIRONMENT: 'sandbox' }, PRODUCTION],
    ['production', { environment: 'sandbox' }, { PSD2_ENVIRONMENT: 'production' }, PRODUCTION],
  ])(
    'what limits the operator is the stricter of profile and environment: %s',
    async (_what, limits, env, expected) => {
      await store.write('bank', { ...bank, ...limits });
      expect(openProfile(store, 'bank', env).settings).toMatchObject(expected);
    },
  );

  it('the error for a profile that does not exist lists the existing ones', () => {
    expect(thrownBy(() => openProfile(store, 'gone', {}))).toMatchObject({
      code: 'no_profile',
      message: 'There is no profile "gone"',
      hint: 'Known profiles: bank, other. Choose one with:',
      next: [
        ['profile', 'use', 'bank'],
        ['profile', 'use', 'other'],
      ],
    });
  });

  it('the error for a name that is nearly right asks if another was meant, and offers three profiles at most', async () => {
    for (const name of ['third', 'zebra']) await store.write(name, bank);
    expect(thrownBy(() => openProfile(store, 'bonk', {}))).toMatchObject({
      hint: 'Did you mean bank? Known profiles: bank, other, third, zebra. Choose one with:',
      next: ['bank', 'other', 'third'].map((name) => ['profile', 'use', name]),
    });
  });

  it('without a current profile, the error lists the profiles and suggests none of them as meant', async () => {
    await store.remove('bank');
    expect(thrownBy(() => openProfile(store, undefined, {}))).toMatchObject({
      message: 'No profile is chosen',
      hint: 'Known profiles: other. Choose one with:',
      next: [['profile', 'use', 'other']],
    });
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
  expect(thrownBy(() => openProfile(store, undefined, { PSD2_CLIENT_ID: 'x' }))).toMatchObject({
    code: 'no_profile',
    message: 'No profile is chosen',
    hint: 'Add one, or try the sandbox:',
    next: [
      ['profile', 'add'],
      ['sandbox', 'start', '--detach'],
      ['--profile', 'sandbox', 'auth', 'login'],
    ],
  });
});

it('a variable loses the spaces and line breaks around it, and one that has nothing else is not set', () => {
  expect(
    environmentSettings({ PSD2_CLIENT_SECRET: ' a secret\n', PSD2_CLIENT_ID: ' \n', PSD2_CA: '' }),
  ).toEqual({
    clientSecret: 'a secret',
  });
});

it.each(['Production', 'prod', ' sandbox'])('the environment %j of the bank is refused', (environment) => {
  expect(thrownBy(() => environmentSettings({ PSD2_ENVIRONMENT: environment }))).toMatchObject({
    code: 'config',
    message: `PSD2_ENVIRONMENT "${environment}" is not known`,
    hint: 'Use one of production, sandbox.',
  });
});

it.each([
  [undefined, undefined],
  ['', undefined],
  ['\n', undefined],
  ['correct horse', 'correct horse'],
  ['correct horse\n', 'correct horse'],
  ['correct horse\r\n', 'correct horse'],
  [' two\nlines \n\n', ' two\nlines \n'],
])('the passphrase in PSD2_CONFIG_PASSPHRASE %j is %j', (value, passphrase) => {
  expect(passphraseIn({ PSD2_CONFIG_PASSPHRASE: value })).toBe(passphrase);
});

describe('a required setting', () => {
  const profile = (name: string): Profile => ({ name, settings: { clientId: 'x' } });

  it('a missing setting is named with its environment variable', () => {
    expect(requireSetting(profile('bank'), 'clientId')).toBe('x');
    expect(thrownBy(() => requireSetting(profile('bank'), 'applicationName'))).toMatchObject({
      code: 'config',
      message: 'The profile "bank" has no application name',
      hint: 'Set PSD2_APP_NAME, or the setting of the profile:',
      next: [['profile', 'edit', 'bank']],
    });
    expect(thrownBy(() => missingSetting(profile('env'), 'qwacKey'))).toMatchObject({
      message: 'The profile "env" has no QWAC key',
      hint: 'Set PSD2_QWAC_KEY.',
      context: lacking('next'),
    });
  });

  it.each(['x\ny', 'x\u0000', '\u007f', 'x\u0085'])(
    'a setting with the control character in %j is refused',
    (clientId) => {
      expect(
        thrownBy(() => requireSetting({ name: 'bank', settings: { clientId } }, 'clientId')),
      ).toMatchObject({
        code: 'config',
        message: 'The client id contains a line break or another control character',
        hint: 'Check PSD2_CLIENT_ID, or the profile.',
      });
    },
  );

  it('a secret that was not decrypted is a mistake of the program, not a missing setting', () => {
    const content = { v: 1, cipher: 'aes-256-gcm', nonce: '', tag: '', data: '' } as const;
    const settings = { sealed: { names: ['qwacKey' as const], content } };
    expect(() => missingSetting({ name: 'bank', settings }, 'qwacKey')).toThrow(
      new TypeError('The QWAC key of the profile was not decrypted before it was used'),
    );
    expect(thrownBy(() => missingSetting({ name: 'bank', settings }, 'qsealKey'))).toMatchObject({
      code: 'config',
      message: 'The profile "bank" has no QSealC key',
    });
  });

  it('a PEM setting that is needed is given as it is stored, or named if it is missing', () => {
    const settings = { qwacKey: { path: '/qwac.pem' } };
    expect(requireSource({ name: 'bank', settings }, 'qwacKey')).toEqual({ path: '/qwac.pem' });
    expect(() => requireSource({ name: 'bank', settings }, 'qsealKey')).toThrow(
      'The profile "bank" has no QSealC key',
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
    expect(thrownBy(() => readPem(profileWith(gone), 'qwacKey'))).toMatchObject({
      code: 'certificate',
      message: `The QWAC key ${gone} does not exist`,
      hint: 'Check the path and the mode of the file (PSD2_QWAC_KEY or the profile names it).',
    });
    const circle = join(temporary, 'circle.pem');
    symlinkSync(circle, circle);
    expect(thrownBy(() => readPem(profileWith(circle), 'qwacKey'))).toMatchObject({
      code: 'certificate',
      message: `The QWAC key ${circle} cannot be read`,
    });
    expect(thrownBy(() => readPem(profileWith(temporary), 'qwacCertificate'))).toMatchObject({
      code: 'certificate',
      message: `The QWAC certificate ${temporary} is a folder, not a file`,
      hint: 'Give the path of a file with the certificate or key.',
    });
    expect(() => readPem(profileWith('/dev/null'), 'qwacCertificate')).toThrow(
      'The QWAC certificate /dev/null is a pipe or a device, not a file',
    );
  });

  it('the file of a PEM setting may have 4 MiB', () => {
    const path = join(temporary, 'large.pem');
    writeFileSync(path, '', { mode: 0o600 });
    truncateSync(path, 4 * 1024 * 1024);
    expect(readPem(profileWith(path), 'qwacCertificate')).toHaveLength(4 * 1024 * 1024);
    truncateSync(path, 4 * 1024 * 1024 + 1);
    expect(() => readPem(profileWith(path), 'qwacCertificate')).toThrow(
      `The QWAC certificate ${path} is larger than 4 MiB, so it contains no certificate or key`,
    );
  });

  it('a stored PKCS#12 container is given as its bytes', () => {
    expect(readSource({ pkcs12: 'AAEC/w==' }, 'qwacCertificate')).toEqual(Buffer.from([0, 1, 2, 255]));
  });

  it('others may read the file of a PEM setting only if it is not a key', () => {
    const path = join(temporary, 'open.pem');
    writeFileSync(path, 'PEM');
    chmodSync(path, 0o644);
    expect(readPem(profileWith(path), 'qwacCertificate')).toBe('PEM');
    chmodSync(path, 0o664);
    expect(thrownBy(() => readPem(profileWith(path), 'qwacCertificate'))).toMatchObject({
      ...{ code: 'config', message: `${path} can be changed by others (mode 0664)` },
      hint: `Run: chmod go-w ${path}`,
    });
    chmodSync(path, 0o644);
    for (const key of ['qwacKey', 'qsealKey'] as const)
      expect(thrownBy(() => readPem({ name: 'bank', settings: { [key]: { path } } }, key))).toMatchObject({
        code: 'config',
        message: `${path} can be read by others (mode 0644)`,
      });
  });
});

describe('the base URL', () => {
  it.each([
    ['https://bank.example', 'https://bank.example/'],
    ['https://bank.example/', 'https://bank.example/'],
    ['https://bank.example:8443/psd2/v1/', 'https://bank.example:8443/psd2/v1'],
    ['https://[::1]:8443', 'https://[::1]:8443/'],
    ['http://127.0.0.1:8080/api/', 'http://127.0.0.1:8080/api'],
    ['http://localhost', 'http://localhost/'],
    ['http://[::1]:8080', 'http://[::1]:8080/'],
  ])('the base URL %s is read as %s', (text, href) => {
    expect(parseBaseUrl(text).href).toBe(href);
  });

  it.each([
    ['bank.example', 'The base URL "bank.example" is not a URL'],
    ['http://127.0.0.1.bank.example', 'The base URL "http://127.0.0.1.bank.example" is not https'],
    ['ftp://localhost', 'The base URL "ftp://localhost" is not https'],
    ['http://bank.example', 'The base URL "http://bank.example" is not https'],
    ['https://bank.example/?a=1', 'The base URL "https://bank.example/?a=1" contains a query or a fragment'],
    ['https://bank.example/#a', 'The base URL "https://bank.example/#a" contains a query or a fragment'],
    ['https://bank.example/?', 'The base URL "https://bank.example/?" contains a query or a fragment'],
    ['https://bank.example/#', 'The base URL "https://bank.example/#" contains a query or a fragment'],
    ['https://me:hush@bank.example', 'The base URL contains a user name or password'],
    ['http://me:hush@bank.example', 'The base URL contains a user name or password'],
  ])('the base URL %s is refused', (text, message) => {
    expect(thrownBy(() => parseBaseUrl(text))).toMatchObject({
      code: 'config',
      message,
      hint: 'Use the form https://host[:port][/prefix].',
    });
  });

  it('the base URL of a profile is its own, or named as missing', () => {
    expect(baseUrlOf({ name: 'bank', settings: { baseUrl: 'https://bank.example/v1//' } }).href).toBe(
      'https://bank.example/v1',
    );
    expect(() => baseUrlOf({ name: 'bank', settings: {} })).toThrow('The profile "bank" has no base URL');
  });
});

const profileWith = (settings: Profile['settings']) => ({ name: 'bank', settings });
const limit = (ccDailyLimit?: string) => dailyLimitOf(profileWith({ ccDailyLimit }));
const stale = (staleAfter?: string) => staleAfterOf(profileWith({ staleAfter }));
const redirect = (redirectUri?: string) => redirectUriOf(profileWith({ redirectUri }));
const most = (maxAmount?: string) => maxAmountOf(profileWith({ maxAmount }));
const application = (applicationName: string) =>
  applicationNameOf(profileWith({ applicationName }), 'applicationName');

it('the daily limit is a whole number, or unknown', () => {
  expect([limit(), limit('1'), limit('400'), limit('999999999')]).toEqual([null, 1, 400, 999_999_999]);
});

it('data is stale after two days, or after what the operator says', () => {
  expect([stale(), stale('36h'), stale('1d')]).toEqual([172_800_000, 129_600_000, 86_400_000]);
});

it('the redirect URI has a default, and is kept exactly as registered', () => {
  expect(redirect()).toBe('http://127.0.0.1:8910/callback');
  for (const uri of ['https://tpp.example/back?to=psd2', 'http://localhost:80/cb'])
    expect(redirect(uri)).toBe(uri);
});

it('the largest amount of a transfer has at most nine digits and two decimals, or there is none', () => {
  for (const amount of ['0', '7', '500', '500.5', '500.05', '999999999.99'])
    expect(most(amount)).toBe(amount);
  expect(most()).toBeNull();
});

it('an application name goes into the Signature header as registered', () => {
  expect(application('My App (v2) ~ test!')).toBe('My App (v2) ~ test!');
  expect(applicationNameOf(profileWith({ ccApplicationName: 'Other' }), 'ccApplicationName')).toBe('Other');
});

const REFUSED = [
  {
    ...{ what: 'daily limit', read: limit, hint: 'Check PSD2_CC_DAILY_LIMIT.' },
    texts: ['0', '-1', '4.5', 'many', '', '1000000000', '007', '5 a day'],
    message: (text: string) => `The daily limit ${JSON.stringify(text)} is not a whole number from 1`,
  },
  {
    ...{ what: 'age', read: stale, hint: expect.any(String), message: () => expect.any(String) },
    texts: ['0d', '2', 'two days', '-1d'],
  },
  {
    ...{ what: 'redirect URI', read: redirect },
    texts: 'callback ftp://127.0.0.1/ myapp://callback https://tpp.example/#x https://tpp.example/b#'.split(
      ' ',
    ),
    message: (text: string) => `The redirect URI "${text}" is not an http or https URL without a fragment`,
    hint: 'Set PSD2_REDIRECT_URI, for example to http://127.0.0.1:8910/callback; it must be registered at the bank.',
  },
  {
    ...{ what: 'redirect URI with a port that browsers refuse', read: redirect },
    texts: ['http://127.0.0.1:6000/callback'],
    message: (text: string) => `The redirect URI "${text}" has the port 6000, which browsers refuse to open`,
    hint: 'Use another port, as in http://127.0.0.1:8910/callback (PSD2_REDIRECT_URI or the profile); it must be registered at the bank.',
  },
  {
    ...{ what: 'redirect URI with a line break', read: redirect, hint: expect.any(String) },
    texts: ['http://127.0.0.1:8910/\ncallback'],
    message: () => 'The redirect URI contains a line break or another control character',
  },
  {
    ...{ what: 'largest amount', read: most },
    texts: [
      '',
      ...'1000000000 500. 500.005 .50 +500 -500 500,00 5e2 ٣'.split(' '),
      '500 EUR',
      'EUR 500',
      '500\n',
    ],
    message: (text: string) => `The largest amount ${JSON.stringify(text)} is not an amount`,
    hint: 'Give PSD2_MAX_AMOUNT or --max-amount as digits with a point before at most two decimals: 500.00.',
  },
  {
    ...{ what: 'application name', read: application },
    texts: ['My "App"', 'My\\App', 'Café', 'éA', ''],
    message: () => 'The application name contains a character that the Signature header cannot carry',
    hint: 'Use the registered name: printable ASCII without quotes and backslashes (PSD2_APP_NAME).',
  },
];

it.each(REFUSED.flatMap(({ texts, ...row }) => texts.map((text) => ({ ...row, text }))))(
  'the $what $text is refused',
  ({ read, text, message, hint }) => {
    expect(thrownBy(() => read(text))).toMatchObject({ code: 'config', message: message(text), hint });
  },
);
