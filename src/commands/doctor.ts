import { X509Certificate } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { isLoopback } from '../domain/loopback.ts';
import { entriesBelow } from '../store/files.ts';
import {
  dailyLimitOf,
  maxAmountOf,
  type Profile,
  redirectUriOf,
  requireSetting,
  requireSource,
} from '../store/settings.ts';
import { checkProfileCertificates } from './cert.ts';
import { printChecks } from './checks.ts';
import type { Context } from './context.ts';
import { Diagnosis, type Finding } from './diagnosis.ts';
import { checkConsents, checkToken } from './doctor-access.ts';
import { CONNECTION_CHECKS, checkConnection } from './doctor-connection.ts';
import { type KeyRing, openKeyRing } from './open-keys.ts';
import { type OpenProfile, openProfileOf, openSecrets } from './open-profile.ts';

/** A certificate with fewer days left is worth a warning. */
const SOON_DAYS = 30;

const NO_PROFILE = 'there is no profile to check';

/**
 * `psd2 doctor`: each thing that has to be right before a call can go well, one after the other. It sends one
 * request, the authorize call that a login begins with, and spends no token.
 *
 * @throws Psd2Error of the first check that failed
 */
export async function doctor(context: Context): Promise<void> {
  const diagnosis = new Diagnosis();
  const opened = await diagnosis.make('configuration', () => openConfiguration(context));
  if (opened) await diagnosis.make('settings', async () => checkSettings(opened));
  else diagnosis.skip(['settings'], NO_PROFILE);
  await diagnosis.make('file modes', async () => checkModes(context.folder.root));
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
    const rest = ['QWAC', 'chain', 'signer', 'redirect port', ...CONNECTION_CHECKS, 'token', 'consents'];
    diagnosis.skip(rest, NO_PROFILE);
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

/** Whether others can read what is stored. */
function checkModes(root: string): Finding {
  if (process.platform === 'win32')
    return { status: 'skip', detail: 'file modes mean nothing on Windows', fix: null };
  const own = process.getuid?.();
  const open = (path: string): boolean => {
    const { mode, uid } = statSync(path);
    return uid === own && (mode & 0o077) !== 0;
  };
  let paths: string[];
  try {
    paths = [
      root,
      ...entriesBelow(root)
        .filter((entry) => entry.isFile() || entry.isDirectory())
        .map(({ parentPath, name }) => join(parentPath, name)),
    ];
  } catch {
    return { status: 'skip', detail: `there is no folder ${root} yet`, fix: null };
  }
  const wrong = paths.filter((path) => {
    try {
      return open(path);
    } catch {
      // Gone in the meantime, as a lock is.
      return false;
    }
  });
  if (wrong.length === 0)
    return { status: 'ok', detail: `${root} and what is in it can be read by you alone`, fix: null };
  return {
    status: 'fail',
    detail: `others can read ${wrong.slice(0, 3).join(', ')}${wrong.length > 3 ? ` and ${wrong.length - 3} more` : ''}`,
    fix: `chmod -R go= ${root}`,
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
  const { outsideSigner } = await import('./outside-signer.ts');
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
  const { serveOnLoopback } = await import('../terminal/loopback-server.ts');
  const { makeLoopbackCertificate } = await import('../certificates/loopback.ts');
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
