import type { X509Certificate } from 'node:crypto';
import { type EidasCertificate, readEidasCertificate } from '../../certificates/eidas.ts';
import type { QcType } from '../../certificates/qc-statements.ts';
import { object, text, time, type ValueOf, whole } from '../../terminal/output/fields.ts';
import { type Check, finding, printedCheck, type Unwritten } from '../shared/checks.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** What a certificate is used for, and whether its key matches. */
export interface CertificateUse {
  /** Name of the check: `QWAC`, or the certificate's common name. */
  name: string;
  /** The kind of certificate that this use needs; undefined: any. */
  qcType: QcType | undefined;
  /** Whether this use needs the roles of a TPP. */
  isTpp: boolean;
  /** Whether its key matches; null if the key is not known. */
  keyMatches: boolean | null;
}

/** The check of a certificate as psd2 prints it. */
export const certificateCheck = object({
  ...printedCheck.fields,
  subject: text('distinguished name'),
  sha256: text('fingerprint, hexadecimal'),
  notAfter: time('valid until'),
  daysLeft: whole('whole days until notAfter; negative if it has passed'),
});

export type CertificateCheck = Unwritten<ValueOf<typeof certificateCheck>>;

/** The roles that a TPP needs here, and what for (ETSI TS 119 495, section 5.1). */
const NEEDED_ROLES = { PSP_AI: 'reading accounts', PSP_PI: 'making transfers' } as const;
const KINDS: Readonly<Record<QcType, string>> = {
  web: 'a QWAC',
  eseal: 'a QSealC',
  esign: "a certificate for a person's signatures",
};

/** What a certificate is checked against. */
export interface Limits {
  now: Date;
  /** With fewer days left, the status is `soon`. */
  days: number;
  /** The status of a certificate that expires soon. */
  soon: 'warn' | 'fail';
  /** The last consent to end, of those that depend on the TPP's certificates. */
  lastConsent?: LastingConsent | undefined;
  /** Customers have consented to confirmations of funds. */
  confirmsFunds?: boolean;
}

/** A consent in force, with its end. */
export interface LastingConsent {
  customerId: string | null;
  /** ISO 8601. */
  expiresAt: string;
}

/**
 * Checks one certificate: validity, key, kind, roles, organization identifier (ETSI EN 319 412-5, TS 119 495).
 */
export function checkCertificate(
  certificate: X509Certificate,
  use: CertificateUse,
  limits: Limits,
): CertificateCheck {
  const eidas = readEidasCertificate(certificate.raw);
  const daysLeft = Math.floor((eidas.notAfter.getTime() - limits.now.getTime()) / DAY_MS);
  const findings = [
    validity(eidas, daysLeft, limits),
    ...(use.isTpp ? endOfConsents(eidas, limits) : []),
    ...suitability(eidas, use, limits),
  ];
  const status = (['fail', 'warn'] as const).find((each) =>
    findings.some((finding) => finding.status === each),
  );
  const serious = findings.filter((finding) => finding.status === status && finding.fix !== null);
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
  daysLeft: number,
  { now, days, soon }: Limits,
): Finding {
  const until = notAfter.toISOString().slice(0, 10);
  if (notAfter < now) {
    const hint = 'Register a new certificate at the bank and store it in the profile.';
    return finding('fail', `expired on ${until}`, { hint });
  }
  if (notBefore > now) {
    const hint = "Check this computer's clock.";
    return finding('fail', `valid only from ${notBefore.toISOString()}`, { hint });
  }
  const detail = `valid until ${until}, ${daysLeft} ${daysLeft === 1 ? 'day' : 'days'} left`;
  if (daysLeft < days)
    return finding(soon, `${detail}: it ends within ${days} days`, {
      hint: 'Order a new certificate and register it at the bank in time.',
    });
  return finding('ok', detail);
}

/** Without valid certificates, psd2 cannot use a consent. */
function endOfConsents({ notAfter }: EidasCertificate, { now, lastConsent }: Limits): Finding[] {
  if (!lastConsent || notAfter < now || Date.parse(lastConsent.expiresAt) <= notAfter.getTime()) return [];
  const { customerId, expiresAt } = lastConsent;
  const whose = customerId === null ? '' : `customer ${customerId}, `;
  const detail = `ends before a consent that depends on it (${whose}until ${expiresAt.slice(0, 10)})`;
  const hint = 'Before that, register a new certificate at the bank and store it with:';
  return [finding('warn', detail, { hint, next: [['profile', 'set']] })];
}

function suitability(
  eidas: EidasCertificate,
  { qcType, isTpp, keyMatches }: CertificateUse,
  { confirmsFunds = false }: Pick<Limits, 'confirmsFunds'>,
): Finding[] {
  const findings: Finding[] = [];
  const add = (status: Finding['status'], detail: string, hint?: string) =>
    findings.push(finding(status, detail, hint === undefined ? null : { hint }));
  if (keyMatches === true) add('ok', 'the key matches');
  else if (keyMatches === false)
    add(
      'fail',
      'the key does not match the certificate',
      'Use the key that the certificate was requested with.',
    );
  if (qcType === undefined) return findings;

  if (eidas.qcType === undefined)
    add('warn', 'not a qualified certificate: it has no QcType', 'Banks accept it at most in a sandbox.');
  else if (eidas.qcType !== qcType)
    add(
      'fail',
      `it is ${KINDS[eidas.qcType]}, not ${KINDS[qcType]}`,
      'Use each certificate for its own setting.',
    );
  else add('ok', `it is ${KINDS[qcType]}`);

  if (!isTpp) return findings;
  if (qcType === 'web' && !eidas.isForClients)
    add(
      'fail',
      'TLS clients must not use it: its extended key usage lacks clientAuth',
      'Request a new one with clientAuth. Public authorities have left it out since June 2026. Ask yours for a QWAC for PSD2, from a hierarchy that browsers do not use.',
    );
  if (eidas.roles.length > 0) add('ok', `roles ${eidas.roles.join(' ')}`);
  const needed = { ...NEEDED_ROLES, ...(confirmsFunds && { PSP_IC: 'confirmations of funds' }) };
  const missing = Object.entries(needed).filter(([role]) => !eidas.roles.some((each) => each === role));
  if (missing.length > 0)
    add(
      'warn',
      missing.map(([role, purpose]) => `without the role ${role}, needed for ${purpose}`).join(', '),
      'The bank refuses calls that the roles do not cover.',
    );
  const { organizationIdentifier, ncaName, ncaId } = eidas;
  if (ncaName) add('ok', `authority ${ncaName} (${ncaId})`);
  if (!organizationIdentifier || !/^PSD[A-Z]{2}-[A-Z]{2,8}-.+$/.test(organizationIdentifier))
    add('warn', 'its organizationIdentifier is not of the form PSDIT-BI-12345');
  else add('ok', organizationIdentifier);
  return findings;
}
