import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { readCertificateFile } from '../../certificates/certificate-file.ts';
import { isPkcs12, type PairName } from '../../certificates/key-pair.ts';
import { parsePaymentAmount } from '../../domain/payment-amount.ts';
import { Psd2Error } from '../../errors.ts';
import { FlowJournal } from '../../store/journal.ts';
import type { PemSource, ProfileSettings } from '../../store/profiles.ts';
import {
  applicationNameOf,
  DEFAULT_REDIRECT_URI,
  environmentSettings,
  type PemSetting,
  parseBaseUrl,
  readSource,
  redirectUriOf,
} from '../../store/settings.ts';
import { TokenStore } from '../../store/tokens.ts';
import { checkProfileCertificates } from '../cert/cert.ts';
import type { Context } from '../context.ts';
import { checkConnection } from '../doctor/connection.ts';
import { Diagnosis } from '../doctor/diagnosis.ts';
import { checkRedirectPort } from '../doctor/doctor.ts';
import { type KeyRing, openKeyRing, PAIR_SETTINGS } from '../open/keys.ts';
import { sandboxFolderOf } from '../sandbox/folder.ts';
import type { Check } from '../shared/checks.ts';

/** How a file becomes part of a profile: its contents, or its path. */
export type Keep = (path: string, key: PemSetting) => PemSource;

/**
 * `psd2 profile add <name>` without options: asks for all that a profile needs, checks certificates and keys as
 * they are entered, and tries the connection at the end. Nothing is stored here. What the environment gives is
 * offered as the answer.
 *
 * @throws Psd2Error `cancelled` when the operator does not want the profile after the connection failed
 */
export async function askForProfile(context: Context, name: string, keep: Keep): Promise<ProfileSettings> {
  const { terminal, env } = context;
  const given = environmentSettings(env);
  const environment = await terminal.choose('Which bank is it?', [
    { value: 'production', name: 'a bank, with real money' },
    { value: 'sandbox', name: "a bank's sandbox" },
    { value: 'own', name: "psd2's own sandbox on this computer" },
  ] as const);
  if (environment === 'own') return ownSandbox(context);
  if (environment === 'production') terminal.mark(`PRODUCTION ${name}`);

  const baseUrl = parseBaseUrl(
    await terminal.ask('Base URL of the bank', {
      initial: given.baseUrl,
      check: (text) => void parseBaseUrl(text),
    }),
  );
  const settings: ProfileSettings = { environment, baseUrl: baseUrl.href };
  const needed = (text: string) => {
    if (text.trim() === '') throw new Psd2Error('usage', 'It is needed');
  };
  const askName = (question: string, key: 'applicationName' | 'ccApplicationName') =>
    terminal.ask(question, {
      initial: given[key],
      check: (text) => void applicationNameOf({ name, settings: { [key]: text } }, key),
    });
  settings.clientId = await terminal.ask('Client id', { initial: given.clientId, check: needed });
  settings.clientSecret = given.clientSecret ?? (await askSecret(context, 'Client secret'));
  settings.applicationName = await askName('Application name (the keyId of signatures)', 'applicationName');
  if (await terminal.confirm('Is there an application for client credentials too?')) {
    settings.ccClientId = await terminal.ask('Its client id', { initial: given.ccClientId, check: needed });
    settings.ccClientSecret = given.ccClientSecret ?? (await askSecret(context, 'Its client secret'));
    settings.ccApplicationName = await askName('Its application name', 'ccApplicationName');
  }

  const keys = openKeyRing(context, { name, settings });
  await askForPair(context, keys, settings, 'QWAC', keep);
  if (await terminal.confirm('Does a QSealC sign? Without one the QWAC does', true))
    await askForPair(context, keys, settings, 'QSealC', keep);
  settings.ca = await askForFile(context, "CA bundle of the bank's server (empty: the system's)", 'ca', keep);
  settings.bankSigningCertificate = await askForFile(
    context,
    'Signing certificate of the bank (empty: its signatures are not checked)',
    'bankSigningCertificate',
    keep,
  );

  settings.redirectUri = await terminal.ask('Redirect URI, as it is registered at the bank', {
    initial: given.redirectUri ?? DEFAULT_REDIRECT_URI,
    check: (redirectUri) => void redirectUriOf({ name, settings: { redirectUri } }),
  });
  const maxAmount = await terminal.ask('Largest amount of one transfer (empty: no limit)', {
    initial: given.maxAmount,
    check: (text) => {
      if (text !== '') parsePaymentAmount(text);
    },
  });
  if (maxAmount !== '') settings.maxAmount = maxAmount;
  await tryConnection(context, name, settings, baseUrl, keys);
  return settings;
}

/** A certificate and its key, asked for until they are right or the operator takes them as they are. */
async function askForPair(
  context: Context,
  keys: KeyRing,
  settings: ProfileSettings,
  pair: PairName,
  keep: Keep,
): Promise<void> {
  const { terminal, env, world } = context;
  const given = environmentSettings(env);
  const setting = PAIR_SETTINGS[pair];
  const shown = (source: PemSource | undefined) => (source && 'path' in source ? source.path : undefined);
  for (;;) {
    delete settings.signer;
    delete settings[setting.key];
    const path = await terminal.ask(`${pair} certificate: a PEM or PKCS#12 file`, {
      initial: shown(given[setting.certificate]),
      check: async (text) => {
        const bytes = readSource({ path: pathOf(text) }, setting.certificate);
        if (!isPkcs12(bytes)) await readCertificateFile(bytes, undefined, text);
      },
    });
    settings[setting.certificate] = keep(pathOf(path), setting.certificate);
    try {
      if (pair === 'QSealC' && (await terminal.confirm('Is its key elsewhere, for example in an HSM?'))) {
        settings.signer = await terminal.ask(
          'Command that gets the signing string and prints the signature',
          {
            initial: given.signer,
          },
        );
        await keys.certificate(pair);
      } else {
        if ((await keys.read(pair)).key() === undefined) {
          const keyPath = await terminal.ask(`${pair} key: a PEM file`, {
            initial: shown(given[setting.key]),
            check: (text) => void readSource({ path: pathOf(text) }, setting.key),
          });
          settings[setting.key] = keep(pathOf(keyPath), setting.key);
        }
        await keys.pair(pair);
      }
      const only = {
        signer: settings.signer,
        [setting.certificate]: settings[setting.certificate],
        [setting.key]: settings[setting.key],
      };
      const limits = { now: world.now(), days: 30, soon: 'warn' } as const;
      const checks = await checkProfileCertificates(context, { name: '', settings: only }, limits, keys);
      if (show(context, checks)) return;
      if (await terminal.confirm('Use it all the same?')) return;
    } catch (error) {
      if (!(error instanceof Psd2Error) || error.code === 'interrupted') throw error;
      terminal.warn([error.message, error.hint].filter(Boolean).join('. '));
    }
  }
}

/** A file with certificates that a profile need not have. */
async function askForFile(
  { terminal, env }: Context,
  question: string,
  key: 'ca' | 'bankSigningCertificate',
  keep: Keep,
): Promise<PemSource | undefined> {
  const source = environmentSettings(env)[key];
  const path = await terminal.ask(question, {
    initial: source && 'path' in source ? source.path : undefined,
    check: async (text) => {
      if (text !== '') await readCertificateFile(readSource({ path: pathOf(text) }, key), undefined, text);
    },
  });
  return path === '' ? undefined : keep(pathOf(path), key);
}

async function askSecret({ terminal }: Context, question: string): Promise<string> {
  for (;;) {
    const secret = (await terminal.askSecret(question)).trim();
    if (secret !== '') return secret;
  }
}

/** @throws Psd2Error `cancelled` */
async function tryConnection(
  context: Context,
  name: string,
  settings: ProfileSettings,
  baseUrl: URL,
  keys: KeyRing,
): Promise<void> {
  const { folder, world, terminal } = context;
  const profile = { name, settings };
  const opened = {
    profile,
    baseUrl,
    tokens: new TokenStore(folder, name, baseUrl),
    journal: new FlowJournal(folder, name, world.now, world.random),
  };
  const diagnosis = new Diagnosis();
  await terminal.whileWaiting(
    'Trying the connection',
    (async () => {
      await diagnosis.make('redirect port', () => checkRedirectPort(context, profile));
      await checkConnection(context, opened, keys, diagnosis);
    })(),
  );
  show(context, diagnosis.checks);
  if (diagnosis.ok || (await terminal.confirm('Store the profile all the same?', true))) return;
  throw new Psd2Error('cancelled', 'Nothing was stored');
}

/** @returns whether none has failed */
function show({ terminal }: Context, checks: Check[]): boolean {
  for (const { name, status, detail, fix } of checks)
    terminal.warn(`  ${status.padEnd(4)}  ${name}: ${detail}${fix === null ? '' : `\n        → ${fix}`}`);
  return checks.every(({ status }) => status !== 'fail');
}

/** The settings of psd2's own sandbox, which has to run. */
async function ownSandbox(context: Context): Promise<ProfileSettings> {
  const { runningSandbox } = await import('../../sandbox/folder/running.ts');
  const { loadOrCreateRegistration } = await import('../../sandbox/folder/registration.ts');
  const { sandboxSettings } = await import('../sandbox/start.ts');
  const folder = sandboxFolderOf(context);
  const running = await runningSandbox(folder);
  if (running) return sandboxSettings(running.baseUrl, await loadOrCreateRegistration(folder));
  throw new Psd2Error('sandbox', 'The sandbox is not running', {
    hint: 'Start it, which stores a profile of its own too: psd2 sandbox start --detach',
  });
}

/** A path as it is typed, where no shell has read it. */
function pathOf(text: string): string {
  const path = text.trim();
  return path.startsWith('~/') ? join(homedir(), path.slice(2)) : resolve(path);
}
