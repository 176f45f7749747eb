import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { readKeyPair, type TppCertificateEncoding } from '../certificates/key-pair.ts';
import { Psd2Error } from '../errors.ts';
import { refuseIfOthersCanRead } from '../store/files.ts';
import { type PemSource, type ProfileSettings, parseProfileName } from '../store/profiles.ts';
import {
  dailyLimitOf,
  environmentSettings,
  PEM_VARIABLES,
  type PemSetting,
  parseBaseUrl,
  readPemSource,
  redirectUriOf,
} from '../store/settings.ts';
import { isMissing } from '../store/system-error.ts';
import type { Context } from './context.ts';

export interface ProfileAddOptions {
  baseUrl?: string | undefined;
  clientId?: string | undefined;
  clientSecretFile?: string | undefined;
  clientSecretStdin: boolean;
  appName?: string | undefined;
  ccClientId?: string | undefined;
  ccClientSecretFile?: string | undefined;
  ccAppName?: string | undefined;
  qwacCert?: string | undefined;
  qwacKey?: string | undefined;
  qsealCert?: string | undefined;
  qsealKey?: string | undefined;
  ca?: string | undefined;
  bankSigningCert?: string | undefined;
  ccDailyLimit?: string | undefined;
  redirectUri?: string | undefined;
  tppCertificate?: TppCertificateEncoding | undefined;
  /** Store paths instead of the contents of certificates and keys. */
  reference: boolean;
}

/**
 * `psd2 profile add <name>`: settings from options, else from the environment, else asked for; all of them
 * are checked before anything is stored.
 */
export async function profileAdd(context: Context, name: string, options: ProfileAddOptions): Promise<void> {
  const { profiles, env, terminal, globals, world, output } = context;
  parseProfileName(name);
  if (profiles.list().includes(name) && !globals.yes) {
    if (!terminal.canAsk) {
      throw new Psd2Error(
        'confirmation_needed',
        `There is a profile ${name} already, and there is no terminal to ask at`,
        {
          hint: 'Add --yes to replace it, or choose another name.',
        },
      );
    }
    if (!(await terminal.confirm(`There is a profile ${name} already. Replace it?`))) {
      throw new Psd2Error('cancelled', 'Nothing was stored');
    }
  }

  const given = environmentSettings(env);
  const pem = (key: PemSetting, option: string | undefined): PemSource | undefined => {
    const source = option === undefined ? given[key] : { path: option };
    if (!source || 'pem' in source) return source;
    const content = readPemSource(source, key);
    return options.reference ? { path: resolve(source.path) } : { pem: content };
  };
  const required = async (value: string | undefined, question: string, option: string) => {
    if (value !== undefined && value !== '') return value;
    if (terminal.canAsk) return terminal.ask(question);
    throw new Psd2Error('usage', `${option} is missing, and there is no terminal to ask for it`, {
      hint: `Add ${option}, or set it in the environment.`,
    });
  };

  const settings: ProfileSettings = {
    baseUrl: parseBaseUrl(
      await required(options.baseUrl ?? given.baseUrl, 'Base URL of the bank', '--base-url'),
    ).href,
    clientId: await required(options.clientId ?? given.clientId, 'Client id', '--client-id'),
    clientSecret: await readSecret(context, options, given.clientSecret),
    applicationName: await required(
      options.appName ?? given.applicationName,
      'Application name (the keyId of signatures)',
      '--app-name',
    ),
    ccClientId: options.ccClientId ?? given.ccClientId,
    ccClientSecret:
      options.ccClientSecretFile === undefined
        ? given.ccClientSecret
        : readSecretFile(options.ccClientSecretFile),
    ccApplicationName: options.ccAppName ?? given.ccApplicationName,
    ccDailyLimit: options.ccDailyLimit ?? given.ccDailyLimit,
    qwacCertificate: pem('qwacCertificate', options.qwacCert),
    qwacKey: pem('qwacKey', options.qwacKey),
    qsealCertificate: pem('qsealCertificate', options.qsealCert),
    qsealKey: pem('qsealKey', options.qsealKey),
    ca: pem('ca', options.ca),
    bankSigningCertificate: pem('bankSigningCertificate', options.bankSigningCert),
    redirectUri: options.redirectUri ?? given.redirectUri,
    tppCertificate: options.tppCertificate,
  };
  redirectUriOf({ name, settings });
  dailyLimitOf({ name, settings });
  checkPair('QWAC', settings.qwacCertificate, settings.qwacKey, env.PSD2_KEY_PASSPHRASE, world.now());
  if (settings.qsealCertificate ?? settings.qsealKey) {
    checkPair('QSealC', settings.qsealCertificate, settings.qsealKey, env.PSD2_KEY_PASSPHRASE, world.now());
  }

  const first = profiles.current() === undefined;
  await profiles.write(name, settings);
  if (first) await profiles.use(name);
  if (output.format === 'table')
    terminal.say(`The profile ${name} is stored. Log in with: psd2 --profile ${name} auth login`);
  else output.record({ name, baseUrl: settings.baseUrl, current: profiles.current() === name }, []);
}

function checkPair(
  name: 'QWAC' | 'QSealC',
  certificate: PemSource | undefined,
  key: PemSource | undefined,
  passphrase: string | undefined,
  now: Date,
): void {
  const keys =
    name === 'QWAC' ? (['qwacCertificate', 'qwacKey'] as const) : (['qsealCertificate', 'qsealKey'] as const);
  if (!certificate || !key) {
    const [missing, variable] = certificate
      ? ['key', PEM_VARIABLES[keys[1]]]
      : ['certificate', PEM_VARIABLES[keys[0]]];
    throw new Psd2Error('usage', `The ${name} ${missing} is missing`, {
      hint: `Add --${name.toLowerCase().replace('qsealc', 'qseal')}-${missing === 'key' ? 'key' : 'cert'} <file>, or set ${variable}.`,
    });
  }
  readKeyPair({
    name,
    certificate: readPemSource(certificate, keys[0]),
    key: readPemSource(key, keys[1]),
    passphrase,
    now,
  });
}

async function readSecret(
  context: Context,
  options: ProfileAddOptions,
  given: string | undefined,
): Promise<string> {
  const { terminal } = context;
  if (options.clientSecretStdin && options.clientSecretFile !== undefined) {
    throw new Psd2Error('usage', '--client-secret-stdin and --client-secret-file exclude each other');
  }
  if (options.clientSecretFile !== undefined) return readSecretFile(options.clientSecretFile);
  if (options.clientSecretStdin) return requireSecret((await context.readStdin()).trim(), 'standard input');
  if (given !== undefined) return given;
  if (terminal.canAsk) return requireSecret(await terminal.askSecret('Client secret'), 'the prompt');
  throw new Psd2Error('usage', 'The client secret is missing, and there is no terminal to ask for it', {
    hint: 'Use --client-secret-stdin, --client-secret-file <file> or PSD2_CLIENT_SECRET.',
  });
}

function readSecretFile(path: string): string {
  let secret: string;
  try {
    secret = readFileSync(path, 'utf8').trim();
  } catch (cause) {
    throw new Psd2Error(
      'config',
      `The secret's file ${path} ${isMissing(cause) ? 'is not there' : 'cannot be read'}`,
      { cause },
    );
  }
  refuseIfOthersCanRead(path);
  return requireSecret(secret, path);
}

function requireSecret(secret: string, source: string): string {
  if (secret === '') throw new Psd2Error('usage', `The client secret from ${source} is empty`);
  return secret;
}
