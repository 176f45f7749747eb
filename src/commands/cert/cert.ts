import type { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readCertificateFile } from '../../certificates/certificate-file.ts';
import { readEidasCertificate } from '../../certificates/eidas.ts';
import type { PairName } from '../../certificates/key-pair.ts';
import { Psd2Error } from '../../errors.ts';
import { type Profile, readPem } from '../../store/settings.ts';
import { isMissing } from '../../store/system-error.ts';
import type { Context } from '../context.ts';
import { type KeyRing, openKeyRing, PAIR_SETTINGS } from '../open/keys.ts';
import { printChecks } from '../shared/checks.ts';
import { type CertificateCheck, checkCertificate, keyMatches } from './certificate-checks.ts';

/** What `cert inspect` tells of a certificate; times are ISO 8601. */
interface InspectedCertificate {
  subject: string;
  issuer: string;
  serialNumber: string;
  notBefore: string;
  notAfter: string;
  sha256: string;
  organizationIdentifier: string | null;
  qcType: string | null;
  roles: string[];
  ncaName: string | null;
  ncaId: string | null;
  keyMatches: boolean | null;
}

/** `psd2 cert inspect [file]`: what certificates say, also expired ones; without a file those of the profile. */
export async function certInspect(
  context: Context,
  file: string | undefined,
  keyFile: string | undefined,
): Promise<void> {
  const found = file === undefined ? await ofProfile(context) : await ofFile(context, file, keyFile);
  const certificates = found.map(({ certificate, keyMatches }) => inspect(certificate, keyMatches));
  const { output } = context;
  if (output.format !== 'table') return output.table(certificates, [], '');
  for (const [index, certificate] of certificates.entries()) {
    if (index > 0 && context.stdoutIsTerminal) output.text('');
    output.record(certificate, [
      { title: 'Subject', value: ({ subject }) => subject },
      { title: 'Issuer', value: ({ issuer }) => issuer },
      { title: 'Serial number', value: ({ serialNumber }) => serialNumber },
      { title: 'Valid from', value: ({ notBefore }) => notBefore, kind: 'time' },
      { title: 'Valid until', value: ({ notAfter }) => notAfter, kind: 'time' },
      { title: 'SHA-256', value: ({ sha256 }) => sha256 },
      { title: 'Organization', value: ({ organizationIdentifier }) => organizationIdentifier },
      { title: 'QcType', value: ({ qcType }) => qcType && `${qcType} (${QC_TYPES[qcType] ?? 'not known'})` },
      { title: 'Roles', value: ({ roles }) => roles.join(' ') },
      {
        title: 'Authority',
        value: ({ ncaName, ncaId }) => (ncaName === null ? null : `${ncaName} (${ncaId})`),
      },
      {
        title: 'Key',
        value: (shown) =>
          shown.keyMatches === null ? 'not known' : shown.keyMatches ? 'fits' : 'does not fit',
      },
    ]);
  }
}

const QC_TYPES: Readonly<Record<string, string>> = { web: 'QWAC', eseal: 'QSealC', esign: 'signature' };

/**
 * `psd2 cert check [file]`: whether certificates suit their use and for how long; without a file all of the
 * profile.
 *
 * @throws Psd2Error `certificate` when one is wrong, or ends within these days
 */
export async function certCheck(context: Context, file: string | undefined, days: string): Promise<void> {
  if (!/^\d{1,4}$/.test(days))
    throw new Psd2Error('usage', `--days ${JSON.stringify(days)} is not a number of days from 0 to 9999`);
  const limits = { now: context.world.now(), days: Number(days), soon: 'fail' as const };
  const checks =
    file === undefined
      ? await checkProfileCertificates(context, await context.unsealed(), limits)
      : (await ofFile(context, file, undefined)).map(({ certificate, keyMatches }) => {
          const { qcType, roles } = readEidasCertificate(certificate.raw);
          const use = { qcType, isTpp: roles.length > 0, keyMatches };
          return checkCertificate(certificate, { name: commonName(certificate), ...use }, limits);
        });
  if (await printChecks(context, checks)) return;
  const failed = checks.filter(({ status }) => status === 'fail');
  const fix = failed.find((check) => check.fix !== null)?.fix;
  throw new Psd2Error(
    'certificate',
    `${failed.length} of ${checks.length} certificates ${failed.length === 1 ? 'needs' : 'need'} attention: ${failed.map(({ name }) => name).join(', ')}`,
    fix ? { hint: fix } : {},
  );
}

/** The certificates of a profile, each with its use: QWAC, QSealC, the bank's signing certificate, the CA bundle. */
export async function checkProfileCertificates(
  context: Context,
  profile: Profile,
  limits: Parameters<typeof checkCertificate>[2],
  keys: KeyRing = openKeyRing(context, profile),
): Promise<CertificateCheck[]> {
  const checks: CertificateCheck[] = [];
  for (const [pair, qcType] of PAIRS) {
    const found = await pairOf(context, profile, keys, pair);
    if (!found) continue;
    const use = { name: pair, qcType, isTpp: true, keyMatches: found.keyMatches };
    checks.push(checkCertificate(found.certificate, use, limits));
  }
  if (checks.length === 0) await keys.read('QWAC');
  for (const [setting, name] of OTHERS) {
    const pem = readPem(profile, setting);
    if (pem === undefined) continue;
    const { certificates } = await readCertificateFile(Buffer.from(pem), undefined, name);
    const qcType = setting === 'ca' ? undefined : 'eseal';
    const each = certificates.map((certificate) =>
      checkCertificate(certificate, { name, qcType, isTpp: false, keyMatches: null }, limits),
    );
    // Of several the one that ends last decides: an old one beside its successor does no harm.
    const [last] = each.sort((a, b) => b.daysLeft - a.daysLeft);
    if (last) checks.push(last);
  }
  return checks;
}

const PAIRS = [
  ['QWAC', 'web'],
  ['QSealC', 'eseal'],
] as const;
const OTHERS = [
  ['ca', 'CA'],
  ['bankSigningCertificate', 'bank signing certificate'],
] as const;

interface Found {
  certificate: X509Certificate;
  keyMatches: boolean | null;
}

/** @throws Psd2Error `config` when the profile has none */
async function ofProfile(context: Context): Promise<Found[]> {
  const profile = await context.unsealed();
  const keys = await context.keys();
  const found: Found[] = [];
  for (const [pair] of PAIRS) {
    const each = await pairOf(context, profile, keys, pair);
    if (each) found.push(each);
  }
  if (found.length === 0) await keys.read('QWAC');
  return found;
}

/** A certificate of the profile with what is known of its key; undefined when the profile has none. */
async function pairOf(
  { env }: Context,
  profile: Profile,
  keys: KeyRing,
  pair: PairName,
): Promise<Found | undefined> {
  if (!profile.settings[PAIR_SETTINGS[pair].certificate]) return undefined;
  const { certificate: pem, key } = await keys.read(pair);
  const { certificates } = await readCertificateFile(Buffer.from(pem), undefined, `The ${pair} certificate`);
  const [certificate] = certificates;
  // The key of an outside signer is out of reach; psd2 doctor has it make a signature.
  const isOutside = pair === 'QSealC' && profile.settings.signer !== undefined;
  const fits =
    certificate && (isOutside ? null : keyMatches(pair, certificate, key(), env.PSD2_KEY_PASSPHRASE));
  return certificate && { certificate, keyMatches: fits ?? null };
}

/** The certificates of a file, each with whether its key is known: from the file, the option, or the profile. */
async function ofFile(context: Context, file: string, keyFile: string | undefined): Promise<Found[]> {
  const { env } = context;
  const bytes = readBytes(file);
  const { certificates, key } = await openKeyRing(context, { name: '', settings: {} }).opening(
    `the PKCS#12 file ${file}`,
    (passphrase) => readCertificateFile(bytes, passphrase, file),
  );
  const given = keyFile === undefined ? key : readBytes(keyFile).toString('utf8');
  const known = given === undefined ? await keysOfProfile(context) : [given];
  return certificates.map((certificate) => {
    const matches = known.map((each) => keyMatches(file, certificate, each, env.PSD2_KEY_PASSPHRASE));
    // An issuer beside the certificate has its key elsewhere, of course.
    const expected = !certificate.ca || keyFile !== undefined;
    const fits = matches.includes(true) || (expected && matches.includes(false) ? false : null);
    return { certificate, keyMatches: fits };
  });
}

/** The keys of the profile, if there is one: what can't be read says nothing about another file. */
async function keysOfProfile(context: Context): Promise<string[]> {
  const known: string[] = [];
  for (const [pair] of PAIRS) {
    try {
      const silent = { ...context, terminal: { ...context.terminal, canAsk: false } };
      const { key } = await openKeyRing(silent, await context.unsealed()).read(pair);
      const pem = key();
      if (pem !== undefined) known.push(pem);
    } catch (error) {
      if (!(error instanceof Psd2Error)) throw error;
    }
  }
  return known;
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new Psd2Error(
      'certificate',
      `The file ${path} ${isMissing(cause) ? 'is not there' : 'cannot be read'}`,
      {
        cause,
      },
    );
  }
}

function inspect({ raw }: X509Certificate, keyMatches: boolean | null): InspectedCertificate {
  const { organizationIdentifier, qcType, ncaName, ncaId, ...said } = readEidasCertificate(raw);
  return {
    subject: said.subject,
    issuer: said.issuer,
    serialNumber: said.serialNumber,
    notBefore: said.notBefore.toISOString(),
    notAfter: said.notAfter.toISOString(),
    sha256: said.sha256,
    organizationIdentifier: organizationIdentifier ?? null,
    qcType: qcType ?? null,
    roles: said.roles,
    ncaName: ncaName ?? null,
    ncaId: ncaId ?? null,
    keyMatches,
  };
}

function commonName({ subject }: X509Certificate): string {
  return /^CN=(.*)$/m.exec(subject)?.[1] ?? subject.split('\n').join(', ');
}
