import {
  baseUrlOf,
  dailyLimitOf,
  maxAmountOf,
  type Profile,
  redirectUriOf,
  requireSetting,
  requireSource,
} from '../../store/machine/settings.ts';
import type { Context } from '../context.ts';
import { printChecks } from '../shared/checks.ts';
import { checkConsents, checkEndings, checkToken } from './access.ts';
import { CONNECTION_CHECKS, checkConnection } from './connection.ts';
import { Diagnosis, type Finding } from './diagnosis.ts';
import { checkModes, isBelievable } from './folder.ts';
import { checkCertificates, checkChains, checkSigner } from './keys.ts';
import { checkRedirectPort } from './redirect-port.ts';

/** The checks of what is in the store. */
const STORE_CHECKS = ['token', 'consents', 'expiring'];
/** Those that need a profile, after its settings. */
const PROFILE_CHECKS = ['QWAC', 'chain', 'signer', 'redirect port', ...CONNECTION_CHECKS, ...STORE_CHECKS];
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
  const profile = await diagnosis.make('configuration', () => openConfiguration(context));
  if (profile) await diagnosis.make('settings', async () => checkSettings(profile));
  else diagnosis.skip(['settings'], NO_PROFILE);
  await diagnosis.make('file modes', async () => checkModes(context));
  await diagnosis.add('store', () => checkStore(context, profile?.name));
  if (profile) {
    const keys = await context.keys();
    await diagnosis.add('QWAC', () => checkCertificates(context, profile, keys));
    await diagnosis.make('chain', () => checkChains(profile, keys));
    await diagnosis.make('signer', () => checkSigner(context, profile, keys));
    await diagnosis.make('redirect port', () => checkRedirectPort(context, profile));
    if (diagnosis.checks.some(({ name, status }) => name === 'store' && status === 'fail'))
      diagnosis.skip([...CONNECTION_CHECKS, ...STORE_CHECKS], 'the store can not be used');
    else {
      await checkConnection(context, diagnosis);
      await diagnosis.make('token', () => checkToken(context));
      await diagnosis.make('consents', () => checkConsents(context));
      await diagnosis.make('expiring', () => checkEndings(context));
    }
  } else {
    diagnosis.skip(PROFILE_CHECKS, NO_PROFILE);
  }
  if (await printChecks(context, diagnosis.checks)) return;
  diagnosis.fail();
}

/** What the store says of itself, and whether it is the one with the data of the profile. */
async function checkStore(
  context: Context,
  profile: string | undefined,
): Promise<(Finding & { name: string })[]> {
  const found: (Finding & { name: string })[] = [];
  for await (const check of (await context.home()).check(profile)) found.push(check);
  return found;
}

/** Whether there is a profile that can be read. */
async function openConfiguration(context: Context): Promise<Finding & { value: Profile }> {
  const profile = await context.unsealed();
  const baseUrl = baseUrlOf(profile);
  const { environment } = profile.settings;
  const kind = environment === undefined ? '' : `, ${environment}`;
  return {
    status: 'ok',
    detail: `profile ${profile.name}${kind}: ${baseUrl.href}`,
    fix: null,
    value: profile,
  };
}

/** Whether the profile has all that a login needs. */
function checkSettings(profile: Profile): Finding {
  for (const key of ['clientId', 'clientSecret', 'applicationName'] as const) requireSetting(profile, key);
  requireSource(profile, 'qwacCertificate');
  redirectUriOf(profile);
  dailyLimitOf(profile);
  maxAmountOf(profile);
  return { status: 'ok', detail: 'all that a login needs is set', fix: null };
}
