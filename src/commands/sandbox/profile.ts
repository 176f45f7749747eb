import { sep } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { doorBankFile } from '../../sandbox/folder/door-bank-file.ts';
import type { Registration } from '../../sandbox/folder/registration.ts';
import { DOOR_PATH } from '../../sandbox/nextgenpsd2/operations.ts';
import type { ProfileSettings } from '../../store/machine/profiles.ts';
import type { SettingKey } from '../../store/machine/setting-table.ts';
import type { Context } from '../context.ts';
import { contentOfBank, needsClientSecret } from '../open/bank-file.ts';

/** The profile that `sandbox start` stores. */
export const SANDBOX_PROFILE = 'sandbox';
/** The profile for the second door of the sandbox (NextGenPSD2, section 5). */
export const DOOR_PROFILE = 'sandbox-nextgen';

/** Where the second door of a sandbox is. */
export function doorUrlOf(baseUrl: string): string {
  return `${baseUrl}${DOOR_PATH}`;
}

/** Whether a profile belongs to the sandbox of this configuration: its certificates are in the sandbox's folder. */
export function isOwnSandbox(
  { qwacCertificate }: Pick<ProfileSettings, 'qwacCertificate'>,
  { folder }: Pick<Context, 'folder'>,
): boolean {
  return (
    qwacCertificate !== undefined &&
    'path' in qwacCertificate &&
    qwacCertificate.path.startsWith(`${folder.sandbox}${sep}`)
  );
}

/**
 * Stores the sandbox's profiles, one for each door, unless the user has another bank under that name. If no profile is chosen,
 * it chooses that of the first door.
 */
export async function storeProfile(
  context: Context,
  baseUrl: string,
  registration: Registration,
  folder: string,
): Promise<void> {
  const { profiles } = context;
  const first = sandboxSettings(baseUrl, registration);
  if (await storeOne(context, SANDBOX_PROFILE, first))
    if (profiles.current() === undefined) await profiles.use(SANDBOX_PROFILE);
  await storeOne(context, DOOR_PROFILE, await doorSettings(first, folder));
}

/** @returns false if the user has another bank under that name */
async function storeOne(context: Context, name: string, profile: ProfileSettings): Promise<boolean> {
  const { profiles } = context;
  const stored = profiles.read(name);
  if (stored && !isOwnSandbox(stored, context)) return false;
  const { sealed: _sealed, ...clear } = { ...stored };
  const current = { ...clear, ...(await profiles.readSealed(name)) };
  const settings = { ...keptOf(current), ...profile };
  // Writing is the slowest step here, and usually nothing has changed.
  if (!isDeepStrictEqual(current, settings)) await profiles.write(name, settings);
  return true;
}

/** What the profile of one door has, and that of the other may not. Everything else that no start sets is the operator's, and stays. */
const OF_ONE_DOOR: readonly SettingKey[] = [
  'bank',
  'clientId',
  'clientSecret',
  'applicationName',
  'ccClientId',
  'ccClientSecret',
  'ccApplicationName',
  'bankSigningCertificate',
];

function keptOf(settings: Partial<ProfileSettings>): Partial<ProfileSettings> {
  const rest: Partial<ProfileSettings> = { ...settings };
  for (const key of OF_ONE_DOOR) delete rest[key];
  return rest;
}

/** The settings of the sandbox's profile. */
export function sandboxSettings(baseUrl: string, registration: Registration): ProfileSettings {
  const { authorizationCode, clientCredentials } = registration.applications;
  return {
    baseUrl,
    environment: 'sandbox',
    clientId: authorizationCode.clientId,
    clientSecret: authorizationCode.clientSecret,
    applicationName: authorizationCode.applicationName,
    ccClientId: clientCredentials.clientId,
    ccClientSecret: clientCredentials.clientSecret,
    ccApplicationName: clientCredentials.applicationName,
    qwacCertificate: { path: registration.qwacCertFile },
    qwacKey: { path: registration.qwacKeyFile },
    qsealCertificate: { path: registration.qsealCertFile },
    qsealKey: { path: registration.qsealKeyFile },
    ca: { path: registration.caFile },
    bankSigningCertificate: { path: registration.bankSigningCertFile },
  };
}

/**
 * The settings of the profile for the second door (NextGenPSD2, section 5), with the client secret only if its bank wants one.
 *
 * @param first those for the first door
 * @param folder of a sandbox that has started, with the bank file of its door
 */
async function doorSettings(first: ProfileSettings, folder: string): Promise<ProfileSettings> {
  const { content, description } = await contentOfBank(doorBankFile(folder));
  const { environment, clientSecret, qwacCertificate, qwacKey, qsealCertificate, qsealKey, ca } = first;
  return {
    bank: content,
    baseUrl: doorUrlOf(first.baseUrl),
    environment,
    ...(needsClientSecret(description) && { clientSecret }),
    qwacCertificate,
    qwacKey,
    qsealCertificate,
    qsealKey,
    ca,
  };
}
