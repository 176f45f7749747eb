import { readFileSync } from 'node:fs';
import { Psd2Error } from '../../../errors.ts';
import { refuseUnsafe } from '../../../store/disk/permissions.ts';
import { isMissing } from '../../../store/disk/system-error.ts';
import type { ProfileSettings } from '../../../store/machine/profiles.ts';
import type { Context } from '../../context.ts';
import type { SettingOptions } from './setting-options.ts';

/**
 * Reads the settings that the options give: the paths of certificates and keys, and the contents of secrets.
 *
 * @throws Psd2Error `usage`, `config`
 */
export async function readSettingOptions(
  context: Context,
  options: SettingOptions,
): Promise<Partial<ProfileSettings>> {
  const { baseUrl } = options;
  const file = (path: string | undefined) => (path === undefined ? undefined : { path });
  return withoutUnset({
    ...(baseUrl !== undefined && { baseUrl }),
    clientId: options.clientId,
    clientSecret: await readClientSecret(context, options),
    applicationName: options.appName,
    ccClientId: options.ccClientId,
    ccClientSecret:
      options.ccClientSecretFile === undefined ? undefined : readSecretFile(options.ccClientSecretFile),
    ccApplicationName: options.ccAppName,
    ccDailyLimit: options.ccDailyLimit,
    qwacCertificate: file(options.qwacCert),
    qwacKey: file(options.qwacKey),
    qsealCertificate: file(options.qsealCert),
    qsealKey: file(options.qsealKey),
    ca: file(options.ca),
    bankSigningCertificate: file(options.bankSigningCert),
    redirectUri: options.redirectUri,
    tppCertificate: options.tppCertificate,
    signer: options.signer,
    payeeCheck: options.payeeCheck,
    environment: options.environment,
    maxAmount: options.maxAmount,
  });
}

/** Leaves out settings without a value, so that they do not overwrite others when both are merged. */
function withoutUnset(settings: Partial<ProfileSettings>): Partial<ProfileSettings> {
  return Object.fromEntries(
    Object.entries(settings).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}

async function readClientSecret(
  { readStdin }: Context,
  { clientSecretStdin, clientSecretFile }: SettingOptions,
): Promise<string | undefined> {
  if (clientSecretStdin && clientSecretFile !== undefined)
    throw new Psd2Error('usage', '--client-secret-stdin and --client-secret-file exclude each other');
  if (clientSecretFile !== undefined) return readSecretFile(clientSecretFile);
  return clientSecretStdin ? requireSecret((await readStdin()).trim(), 'standard input') : undefined;
}

function readSecretFile(path: string): string {
  let secret: string;
  try {
    secret = readFileSync(path, 'utf8').trim();
  } catch (cause) {
    throw new Psd2Error(
      'config',
      `The secret file ${path} ${isMissing(cause) ? 'does not exist' : 'cannot be read'}`,
      { cause },
    );
  }
  refuseUnsafe(path, 'secret');
  return requireSecret(secret, path);
}

/** @throws Psd2Error `usage` if it is empty */
export function requireSecret(secret: string, source: string): string {
  if (secret === '') throw new Psd2Error('usage', `The client secret from ${source} is empty`);
  return secret;
}
