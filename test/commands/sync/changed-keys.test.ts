import { appendFileSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_INTERFACE, interfaceNamed } from '../../../src/bank/open.ts';
import type { FindInterface } from '../../../src/commands/open/bank.ts';
import { profileProtect } from '../../../src/commands/profile/protect.ts';
import type { ProfileSettings } from '../../../src/store/machine/profiles.ts';
import type { Environment } from '../../../src/store/machine/settings.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { storeLogin } from '../access.ts';
import { useOperatorHere } from '../operator.ts';
import { runService, type Service } from './service.ts';

// The certificates that psd2 sync --every uses, when they change while it runs.

const operator = useOperatorHere();
const temporary = temporaryFolder();
const ROUND = 'A round has ended: 1 of 1 customers are completely synced.\n';
const CHANGED = 'The certificates have changed. psd2 uses the new ones from now on.\n';
/** The service has ended well, and has called with the old and the new certificate. */
const BOTH_USED = { failure: null, certificates: 2 };
const BY_ENVIRONMENT = { keyring: false, passphrase: false, passphraseStdin: false };
const STILL = 'The certificates have changed, but psd2 still uses the old ones: ';

let folder: string;
beforeEach(async () => {
  operator.folder = newConfigFolder(temporary);
  folder = join(operator.folder.root, 'keys');
  mkdirSync(folder, { recursive: true });
  for (const name of ['qwac', 'qseal', 'next-qwac', 'bank-signing'])
    for (const end of ['.pem', '-key.pem']) put(`${name}${end}`, `${name}${end}`);
  await operator.logIn('anna');
});

const path = (name: string) => join(folder, name);

/** Puts a file of the registration in the place of another one. */
function put(name: string, of: string): void {
  copyFileSync(join(dirname(operator.bank.sandbox.registration.qwacCertFile), of), path(name));
}

function usePair(of: string): void {
  put('qwac.pem', `${of}.pem`);
  put('qwac-key.pem', `${of}-key.pem`);
}

/** The settings of an operator whose certificates are in the folder. */
const inFolder = (): Environment => ({
  ...{ PSD2_QWAC_CERT: path('qwac.pem'), PSD2_QWAC_KEY: path('qwac-key.pem') },
  ...{ PSD2_QSEAL_CERT: path('qseal.pem'), PSD2_QSEAL_KEY: path('qseal-key.pem') },
});

type Change = (service: Service) => void | Promise<void>;

/** Runs rounds with these changes between them. */
async function syncing(changes: Change[], env = inFolder(), profile?: string) {
  const used = new Set<string>();
  const find: FindInterface = async () => {
    const known = await interfaceNamed(DEFAULT_INTERFACE);
    return {
      ...known,
      open: (settings) => {
        used.add(settings.identity.qwacCertificate.serialNumber);
        return known.open(settings);
      },
    };
  };
  const globals = { psuIp: '192.0.2.1', ...(profile && { profile }) };
  const { said, printed, failure } = await runService(
    operator,
    ['--out', join(operator.folder.root, 'banking'), '--every', '30s'],
    [...changes, ({ stop }) => stop('SIGTERM')],
    { env, globals, find },
  );
  return { said, failure, certificates: used.size, totals: printed && JSON.parse(printed).totals };
}

it('certificates that are the same are not opened again', async () => {
  const { said } = await syncing([() => {}, () => usePair('qwac')]);
  expect(said).toBe(ROUND.repeat(3));
});

it.each(['qwac.pem', 'qwac-key.pem', 'qseal.pem', 'qseal-key.pem'])(
  'the next round uses a changed %s, and says so once',
  async (name) => {
    const { said, totals } = await syncing([() => appendFileSync(path(name), '\n'), () => {}]);
    expect(said).toBe(`${ROUND}${CHANGED}${ROUND}${ROUND}`);
    // The calls over the new connection count too.
    expect(totals.calls).toBeGreaterThan(6);
  },
);

it('psd2 calls the bank with the new certificate, and takes the old one again', async () => {
  const ended = await syncing([() => usePair('next-qwac'), () => usePair('qwac')]);
  expect(ended).toMatchObject({ ...BOTH_USED, said: `${ROUND}${CHANGED}${ROUND}${CHANGED}${ROUND}` });
});

it('a key that does not fit leaves the old pair in use, until the other half comes', async () => {
  const ended = await syncing([
    () => put('qwac-key.pem', 'next-qwac-key.pem'),
    () => {},
    () => put('qwac.pem', 'next-qwac.pem'),
  ]);
  const why = /still uses the old ones: (.*)\n/.exec(ended.said)?.[1] ?? '';
  expect(why).toMatch(/key.*\.$/);
  const said = `${ROUND}${STILL}${why}\n${ROUND}${ROUND}${CHANGED}${ROUND}`;
  expect(ended).toMatchObject({ ...BOTH_USED, said });
});

it('as long as a file is missing, each round says that psd2 still uses the old one', async () => {
  const { said } = await syncing([
    () => rmSync(path('qwac.pem')),
    () => {},
    () => put('qwac.pem', 'qwac.pem'),
  ]);
  const missing = `${STILL}The QWAC certificate ${path('qwac.pem')} does not exist.\n`;
  expect(said).toBe(`${ROUND}${missing}${ROUND}${missing}${ROUND}${ROUND}`);
});

it('Ctrl-C while psd2 looks for changes ends the service', async () => {
  const work = syncing([
    ({ interrupt }) => {
      appendFileSync(path('qwac.pem'), '\n');
      interrupt();
    },
  ]);
  await expect(work).rejects.toThrow('Interrupted');
});

describe('a profile with a file', () => {
  const PASSPHRASE = { PSD2_CONFIG_PASSPHRASE: 'correct horse' };
  /** None of the settings of the operator: they are in the file. */
  const free = (): Environment => Object.fromEntries(Object.keys(operator.env).map((name) => [name, '']));
  const open = (env: Environment = {}) =>
    operator.open({ env: { ...free(), ...env }, globals: { profile: 'bank' } }).context;
  const stored = (changes: Partial<ProfileSettings> = {}): ProfileSettings => {
    const { PSD2_BASE_URL, PSD2_APP_NAME, PSD2_CA, PSD2_BANK_SIGNING_CERT } = operator.env;
    return {
      ...{ baseUrl: PSD2_BASE_URL ?? '', applicationName: PSD2_APP_NAME ?? '', clientSecret: 'hush' },
      ...{ ca: { path: PSD2_CA ?? '' }, bankSigningCertificate: { path: PSD2_BANK_SIGNING_CERT ?? '' } },
      ...{ qwacCertificate: { path: path('qwac.pem') }, qwacKey: { path: path('qwac-key.pem') } },
      ...{ qsealCertificate: { path: path('qseal.pem') }, qsealKey: { path: path('qseal-key.pem') } },
      ...changes,
    };
  };
  const begin = async (env?: Environment, protect = false) => {
    const context = open(env);
    await context.profiles.write('bank', stored());
    if (protect) await profileProtect(context, undefined, BY_ENVIRONMENT);
    const { accessToken, refreshToken } = await operator.bank.tpp.login('anna');
    await storeLogin(open(env), operator.idOf('anna'), { accessToken, refreshToken });
  };
  const other = () => ({
    qwacCertificate: { path: path('next-qwac.pem') },
    qwacKey: { path: path('next-qwac-key.pem') },
  });

  it('is read again: other certificates count, and no other setting', async () => {
    await begin();
    const changed = stored({ ...other(), applicationName: 'Nobody', baseUrl: 'https://elsewhere.example' });
    const ended = await syncing([() => open().profiles.write('bank', changed), () => {}], free(), 'bank');
    expect(ended).toMatchObject({ ...BOTH_USED, said: `${ROUND}${CHANGED}${ROUND}${ROUND}` });
  });

  it('may have the key in the file of the certificate from now on', async () => {
    await begin();
    const pair = ['next-qwac.pem', 'next-qwac-key.pem'].map((name) => readFileSync(path(name)));
    writeFileSync(path('both.pem'), Buffer.concat(pair), { mode: 0o600 });
    const { qwacKey: _key, ...settings } = stored({ qwacCertificate: { path: path('both.pem') } });
    const ended = await syncing([() => open().profiles.write('bank', settings)], free(), 'bank');
    expect(ended).toMatchObject({ ...BOTH_USED, said: `${ROUND}${CHANGED}${ROUND}` });
  });

  it('may be protected', async () => {
    await begin(PASSPHRASE, true);
    const env = { ...free(), ...PASSPHRASE };
    const key = { pem: readFileSync(path('next-qwac-key.pem'), 'utf8') };
    const settings = stored({ ...other(), qwacKey: key });
    const change = () => open(PASSPHRASE).profiles.write('bank', settings);
    const ended = await syncing([() => {}, change, () => {}], env, 'bank');
    expect(ended).toMatchObject({ ...BOTH_USED, said: `${ROUND}${ROUND}${CHANGED}${ROUND}${ROUND}` });
  });
});
