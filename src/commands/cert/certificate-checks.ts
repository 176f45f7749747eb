import type { X509Certificate } from 'node:crypto';
import { type EidasCertificate, readEidasCertificate } from '../../certificates/eidas.ts';
import { readPrivateKey, WrongPassphrase } from '../../certificates/key-pair.ts';
import type { QcType } from '../../certificates/qc-statements.ts';
import type { Check } from '../shared/checks.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** What a certificate is used for, and what speaks for it. */
export interface CertificateUse {
  /** How the check is called: `qwac`, or a file's path. */
  name: string;
  /** The kind of certificate that this use wants; undefined: any. */
  qcType: QcType | undefined;
  /** The roles of a TPP are wanted. */
  isTpp: boolean;
  /** Whether its key fits; null when the key is not known. */
  keyMatches: boolean | null;
}

export interface CertificateCheck extends Check {
  subject: string;
  sha256: string;
  /** ISO 8601. */
  notAfter: string;
  /** Whole days until then; negative when it has expired. */
  daysLeft: number;
}

/** What each role of a provider is for here (ETSI TS 119 495, section 5.1). */
const ROLES_WANTED = { PSP_AI: 'reading accounts', PSP_PI: 'making transfers' } as const;
const KINDS: Readonly<Record<QcType, string>> = {
  web: 'a QWAC',
  eseal: 'a QSealC',
  esign: 'for signatures of a person',
};

/**
 * Checks one certificate: validity, key, kind, roles, organization identifier (ETSI EN 319 412-5, TS 119 495).
 *
 * @param days with fewer left it is `soon`
 * @param soon whether a certificate that expires soon has failed, or is worth a warning
 */
export function checkCertificate(
  certificate: X509Certificate,
  use: CertificateUse,
  { now, days, soon }: { now: Date; days: number; soon: 'warn' | 'fail' },
): CertificateCheck {
  const eidas = readEidasCertificate(certificate.raw);
  const daysLeft = Math.floor((eidas.notAfter.getTime() - now.getTime()) / DAY_MS);
  const findings = [validity(eidas, now, daysLeft, days, soon), ...suitability(eidas, use)];
  const status = (['fail', 'warn'] as const).find((each) => findings.some((found) => found.status === each));
  const serious = findings.filter((found) => found.status === status && found.fix !== null);
  return {
    name: use.name,
    status: status ?? 'ok',
    detail: findings.map(({ detail }) => detail).join('; '),
    fix: serious[0]?.fix ?? null,
    subject: eidas.subject,
    sha256: eidas.sha256,
    notAfter: eidas.notAfter.toISOString(),
    daysLeft,
  };
}

type Finding = Omit<Check, 'name'>;

function validity(
  { notBefore, notAfter }: EidasCertificate,
  now: Date,
  daysLeft: number,
  days: number,
  soon: 'warn' | 'fail',
): Finding {
  const until = notAfter.toISOString().slice(0, 10);
  if (notAfter < now) {
    return {
      status: 'fail',
      detail: `expired on ${until}`,
      fix: 'Install its successor in the profile and register it at the bank.',
    };
  }
  if (notBefore > now) {
    return {
      status: 'fail',
      detail: `valid only from ${notBefore.toISOString()}`,
      fix: "Check this computer's clock.",
    };
  }
  const detail = `valid until ${until}, ${daysLeft} ${daysLeft === 1 ? 'day' : 'days'} left`;
  if (daysLeft < days)
    return { status: soon, detail, fix: 'Order its successor and register it at the bank in time.' };
  return { status: 'ok', detail, fix: null };
}

function suitability(eidas: EidasCertificate, { qcType, isTpp, keyMatches }: CertificateUse): Finding[] {
  const findings: Finding[] = [];
  const add = (status: Finding['status'], detail: string, fix: string | null = null) =>
    findings.push({ status, detail, fix });
  if (keyMatches === true) add('ok', 'its key fits');
  else if (keyMatches === false)
    add('fail', 'the key does not belong to it', 'Give the key that the certificate was requested with.');
  if (qcType === undefined) return findings;

  if (eidas.qcType === undefined)
    add('warn', 'no qualified certificate: it has no QcType', 'A bank takes it in its sandbox at most.');
  else if (eidas.qcType !== qcType)
    add('fail', `it is ${KINDS[eidas.qcType]}, not ${KINDS[qcType]}`, 'Give each certificate its own place.');
  else add('ok', `it is ${KINDS[qcType]}`);

  if (!isTpp) return findings;
  if (eidas.roles.length > 0) add('ok', `roles ${eidas.roles.join(' ')}`);
  const missing = Object.entries(ROLES_WANTED).filter(([role]) => !eidas.roles.some((each) => each === role));
  if (missing.length > 0) {
    add(
      'warn',
      missing.map(([role, purpose]) => `without ${role}, which ${purpose} needs`).join(', '),
      'The bank refuses what the licence does not cover.',
    );
  }
  const { organizationIdentifier, ncaName, ncaId } = eidas;
  if (ncaName) add('ok', `authority ${ncaName} (${ncaId})`);
  if (!organizationIdentifier || !/^PSD[A-Z]{2}-[A-Z]{2,8}-.+$/.test(organizationIdentifier))
    add('warn', 'its organizationIdentifier is not of the form PSDIT-BI-12345');
  else add('ok', organizationIdentifier);
  return findings;
}

/**
 * Whether a key belongs to a certificate.
 *
 * @param name of the certificate, for messages
 * @param key PEM; undefined when there is none
 * @returns null when there is no key, or it is encrypted and the passphrase does not open it
 * @throws Psd2Error `certificate` when it is no key
 */
export function keyMatches(
  name: string,
  certificate: X509Certificate,
  key: string | undefined,
  passphrase: string | undefined,
): boolean | null {
  if (key === undefined) return null;
  try {
    return certificate.checkPrivateKey(readPrivateKey(name, key, passphrase));
  } catch (error) {
    if (error instanceof WrongPassphrase) return null;
    throw error;
  }
}
