import { X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { isLoopback } from '../../domain/loopback.ts';
import { Psd2Error } from '../../errors.ts';
import { checkStore, inspectStore } from '../../store/folder.ts';
import {
  baseUrlOf,
  dailyLimitOf,
  maxAmountOf,
  type Profile,
  redirectUriOf,
  requireSetting,
  requireSource,
} from '../../store/settings.ts';
import { checkProfileCertificates } from '../cert/cert.ts';
import type { Context } from '../context.ts';
import type { KeyRing } from '../open/keys.ts';
import { printChecks } from '../shared/checks.ts';
import { checkConsents, checkToken } from './access.ts';
import { CONNECTION_CHECKS, checkConnection } from './connection.ts';
import { Diagnosis, type Finding } from './diagnosis.ts';

/** A certificate with fewer days left is worth a warning. */
const SOON_DAYS = 30;

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
  const profile = await diagnosis.make('configuration', () => openConfiguration(context));
  if (profile) await diagnosis.make('settings', async () => checkSettings(profile));
  else diagnosis.skip(['settings'], NO_PROFILE);
  await diagnosis.make('file modes', async () => checkModes(context));
  if (profile) {
    const keys = await context.keys();
    await diagnosis.add('QWAC', () => checkCertificates(context, profile, keys));
    await diagnosis.make('chain', () => checkChains(profile, keys));
    await diagnosis.make('signer', () => checkSigner(context, profile, keys));
    await diagnosis.make('redirect port', () => checkRedirectPort(context, profile));
    await checkConnection(context, diagnosis);
    await diagnosis.make('token', () => checkToken(context));
    await diagnosis.make('consents', () => checkConsents(context));
  } else {
    diagnosis.skip(PROFILE_CHECKS, NO_PROFILE);
  }
  if (await printChecks(context, diagnosis.checks)) return;
  diagnosis.fail();
}

/** Whether psd2 may use the configuration folder. What stands in one that others can change is not even read. */
function isBelievable({ folder }: Context): boolean {
  try {
    checkStore(folder, () => {});
    return true;
  } catch (error) {
    if (error instanceof Psd2Error) return false;
    throw error;
  }
}

/** Whether there is a profile that can be read. */
async function openConfiguration(context: Context): Promise<Finding & { value: Profile }> {
  await context.store();
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

/** Whether psd2 may believe what is stored, and nobody else can read it: the judgement of every command. */
function checkModes({ folder, terminal }: Context): Finding {
  if (process.platform === 'win32')
    return { status: 'skip', detail: 'file modes mean nothing on Windows', fix: null };
  checkStore(folder, terminal.warn);
  const { root } = folder;
  if (!existsSync(root)) return { status: 'skip', detail: `there is no folder ${root} yet`, fix: null };
  const { faults, listable } = inspectStore(folder);
  const [first, ...more] = faults;
  if (first) {
    return {
      status: 'fail',
      detail: more.length === 0 ? first.message : `${first.message}, and so it is with ${more.length} more`,
      fix:
        more.length === 0
          ? (first.hint ?? null)
          : `${first.hint} (all of them at once: chmod -R go= ${root})`,
    };
  }
  if (listable.length > 0) {
    return {
      status: 'warn',
      detail: `others can list ${listable.slice(0, 3).join(', ')}${listable.length > 3 ? ` and ${listable.length - 3} more` : ''}`,
      fix: `Run: chmod 700 ${listable.join(' ')}`,
    };
  }
  return {
    status: 'ok',
    detail: `${root} and what is in it can be read and changed by you alone`,
    fix: null,
  };
}

async function checkCertificates(context: Context, profile: Profile, keys: KeyRing) {
  const limits = { now: context.world.now(), days: SOON_DAYS, soon: 'warn' as const };
  const checks = await checkProfileCertificates(context, profile, limits, keys);
  return checks.map(({ name, status, detail, fix }): Finding & { name: string } => ({
    ...{ name, status, detail, fix },
    code: 'certificate',
  }));
}

/** Whether each certificate that stands behind another in a file issued it. */
async function checkChains(profile: Profile, keys: KeyRing): Promise<Finding> {
  const lengths: string[] = [];
  for (const name of ['QWAC', 'QSealC'] as const) {
    if (name === 'QSealC' && !profile.settings.qsealCertificate) continue;
    const { certificate } = await keys.read(name);
    const pems = certificate.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
    const chain = pems.map((pem) => new X509Certificate(pem));
    const broken = chain.findIndex((each, index) => {
      const issuer = chain[index + 1];
      return issuer && !(each.checkIssued(issuer) && each.verify(issuer.publicKey));
    });
    if (broken !== -1) {
      return {
        status: 'fail',
        code: 'certificate',
        detail: `in the file of the ${name} certificate ${broken + 2} did not issue certificate ${broken + 1}`,
        fix: 'Put the certificate first, then its issuer, then the issuer of that.',
      };
    }
    lengths.push(`${name}: ${chain.length === 1 ? 'no issuers' : `${chain.length - 1} issuers`} in the file`);
  }
  return { status: 'ok', detail: lengths.join('; '), fix: null };
}

/** Whether the operator's signer makes signatures that fit the certificate. */
async function checkSigner(context: Context, { settings }: Profile, keys: KeyRing): Promise<Finding> {
  if (settings.signer === undefined)
    return { status: 'skip', detail: 'psd2 signs itself: no PSD2_SIGNER', fix: null };
  const { outsideSigner } = await import('../open/outside-signer.ts');
  const certificate = await keys.certificate(settings.qsealCertificate ? 'QSealC' : 'QWAC');
  await outsideSigner(context, settings.signer, certificate)('psd2 doctor');
  return { status: 'ok', detail: 'the signer command makes signatures that fit the certificate', fix: null };
}

/** Whether psd2 can listen where the customer's browser returns to. */
export async function checkRedirectPort({ env }: Context, profile: Profile): Promise<Finding> {
  const uri = new URL(redirectUriOf(profile));
  if (!isLoopback(uri)) {
    return {
      status: 'skip',
      detail: `${uri.href} is not on this computer: log in with --paste`,
      fix: null,
    };
  }
  const { serveOnLoopback } = await import('../../callback/loopback-server.ts');
  const { makeLoopbackCertificate } = await import('../../certificates/loopback.ts');
  const stop = await serveOnLoopback(
    uri,
    () => makeLoopbackCertificate([uri.hostname]),
    (_, response) => response.end(),
  );
  await stop();
  const port = uri.port || (uri.protocol === 'https:' ? '443' : '80');
  return {
    status: 'ok',
    detail: `psd2 can listen at ${uri.href}`,
    fix: env.SSH_CONNECTION
      ? `For a browser on your own computer: ssh -L ${port}:127.0.0.1:${port} <this computer>`
      : null,
  };
}
