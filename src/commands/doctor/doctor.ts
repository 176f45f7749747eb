import {
  dailyLimitOf,
  maxAmountOf,
  redirectUriOf,
  requireSetting,
  requireSource,
} from '../../store/machine/settings.ts';
import type { Context } from '../context.ts';
import { openKeyRing } from '../open/keys.ts';
import { type OpenProfile, openProfileOf, openSecrets } from '../open/profile.ts';
import { printChecks } from '../shared/checks.ts';
import { checkConsents, checkToken } from './access.ts';
import { CONNECTION_CHECKS, checkConnection } from './connection.ts';
import { Diagnosis, type Finding } from './diagnosis.ts';
import { checkModes, isBelievable } from './folder.ts';
import { checkCertificates, checkChains, checkSigner } from './keys.ts';
import { checkRedirectPort } from './redirect-port.ts';

/** Those that need a profile, after its settings. */
const PROFILE_CHECKS = [
  'QWAC',
  'chain',
  'signer',
  'redirect port',
  ...CONNECTION_CHECKS,
  'token',
  'consents',
];
const NO_PROFILE = 'there is no profile to check';

/**
 * `psd2 doctor`: each thing that has to be right before a call can go well, one after the other. It sends one
 * request, the authorize call that a login begins with, and spends no token.
 *
 * @throws Psd2Error of the first check that failed
 */
export async function doctor(context: Context): Promise<void> {
  const diagnosis = new Diagnosis();
  if (!isBelievable(context)) {
    await diagnosis.make('file modes', async () => checkModes(context));
    diagnosis.skip(
      ['configuration', 'settings', ...PROFILE_CHECKS],
      'the configuration folder can not be trusted',
    );
    await printChecks(context, diagnosis.checks);
    diagnosis.fail();
  }
  const opened = await diagnosis.make('configuration', () => openConfiguration(context));
  if (opened) await diagnosis.make('settings', async () => checkSettings(opened));
  else diagnosis.skip(['settings'], NO_PROFILE);
  await diagnosis.make('file modes', async () => checkModes(context));
  if (opened) {
    const keys = openKeyRing(context, opened.profile);
    await diagnosis.add('QWAC', () => checkCertificates(context, opened.profile, keys));
    await diagnosis.make('chain', () => checkChains(opened.profile, keys));
    await diagnosis.make('signer', () => checkSigner(context, opened.profile, keys));
    await diagnosis.make('redirect port', () => checkRedirectPort(context, opened.profile));
    await checkConnection(context, opened, keys, diagnosis);
    await diagnosis.make('token', () => checkToken(context, opened));
    await diagnosis.make('consents', async () => checkConsents(context, opened));
  } else {
    diagnosis.skip(PROFILE_CHECKS, NO_PROFILE);
  }
  if (await printChecks(context, diagnosis.checks)) return;
  diagnosis.fail();
}

/** Whether there is a profile that can be read. */
async function openConfiguration(context: Context): Promise<Finding & { value: OpenProfile }> {
  const opened = openProfileOf(context);
  const value = { ...opened, profile: await openSecrets(context, opened.profile) };
  const { profile, baseUrl } = value;
  const { environment } = profile.settings;
  const kind = environment === undefined ? '' : `, ${environment}`;
  return { status: 'ok', detail: `profile ${profile.name}${kind}: ${baseUrl.href}`, fix: null, value };
}

/** Whether the profile has all that a login needs. */
function checkSettings({ profile }: OpenProfile): Finding {
  for (const key of ['clientId', 'clientSecret', 'applicationName'] as const) requireSetting(profile, key);
  requireSource(profile, 'qwacCertificate');
  redirectUriOf(profile);
  dailyLimitOf(profile);
  maxAmountOf(profile);
  return { status: 'ok', detail: 'all that a login needs is set', fix: null };
}
