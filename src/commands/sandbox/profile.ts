import { isDeepStrictEqual } from 'node:util';
import type { Registration } from '../../sandbox/folder/registration.ts';
import type { ProfileSettings } from '../../store/machine/profiles.ts';
import type { Context } from '../context.ts';

/** The name that `sandbox start` stores its settings under. */
export const SANDBOX_PROFILE = 'sandbox';

/** Whether a profile is that of this configuration's sandbox, which has its certificates in a folder of its own. */
export function isOwnSandbox(
  { qwacCertificate }: Pick<ProfileSettings, 'qwacCertificate'>,
  { folder }: Pick<Context, 'folder'>,
): boolean {
  return (
    qwacCertificate !== undefined &&
    'path' in qwacCertificate &&
    qwacCertificate.path.startsWith(folder.sandbox)
  );
}

/**
 * Stores how the sandbox is reached, unless the user keeps another bank under that name, and chooses that profile where
 * none is chosen.
 */
export async function storeProfile(
  context: Context,
  baseUrl: string,
  registration: Registration,
): Promise<void> {
  const { profiles } = context;
  const known = profiles.read(SANDBOX_PROFILE);
  if (known && !isOwnSandbox(known, context)) return;
  const profile = sandboxSettings(baseUrl, registration);
  // To write costs more than all else here, and at most starts nothing has changed.
  if (!isDeepStrictEqual(known, profile)) await profiles.write(SANDBOX_PROFILE, profile);
  if (profiles.current() === undefined) await profiles.use(SANDBOX_PROFILE);
}

/** How the sandbox is reached, as a profile. */
export function sandboxSettings(baseUrl: string, registration: Registration): ProfileSettings {
  const { authorizationCode, clientCredentials } = registration.applications;
  return {
    baseUrl,
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
