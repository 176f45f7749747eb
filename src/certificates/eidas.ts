// @peculiar/x509 uses tsyringe, which needs this import to be first.
import 'reflect-metadata';
import { createHash, webcrypto } from 'node:crypto';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  Extension,
  type JsonName,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { Psd2Error } from '../errors.ts';
import {
  decodeQcStatements,
  encodeQcStatements,
  type Psd2Statement,
  QC_STATEMENTS_OID,
  type QcType,
} from './qc-statements.ts';

const ORGANIZATION_IDENTIFIER_OID = '2.5.4.97';
const RSA = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' } as const;
/** Allows for a client's clock that is behind. */
const BACKDATED_MS = 60 * 60 * 1000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** The fields of an eIDAS certificate (ETSI EN 319 412-5, TS 119 495). */
export interface EidasCertificate {
  subject: string;
  issuer: string;
  /** Hexadecimal, lower case. */
  serialNumber: string;
  notBefore: Date;
  notAfter: Date;
  /** The certificate's fingerprint: SHA-256 of its DER, 64 hexadecimal digits in lower case. */
  sha256: string;
  /** `PSD<CC>-<NCA>-<number>`, if the subject has one. */
  organizationIdentifier: string | undefined;
  /** Undefined for a certificate that is not qualified. */
  qcType: QcType | undefined;
  /** Empty without a PSD2 statement. */
  roles: string[];
  ncaName: string | undefined;
  ncaId: string | undefined;
  /** Whether a TLS client may use it: its extended key usage has clientAuth, or is missing (RFC 5280, section 4.2.1.12). */
  isForClients: boolean;
}

/**
 * Reads a certificate with its qcStatements, from the first certificate of a PEM text or from DER.
 *
 * @throws Psd2Error `certificate` if it is not a certificate or its qcStatements are malformed.
 */
export function readEidasCertificate(certificate: string | Uint8Array): EidasCertificate {
  const parsed = parseCertificate(certificate);
  const extension = parsed.getExtension(QC_STATEMENTS_OID);
  const statements = extension ? decodeQcStatements(new Uint8Array(extension.value)) : undefined;
  return {
    subject: parsed.subject,
    issuer: parsed.issuer,
    serialNumber: parsed.serialNumber,
    notBefore: parsed.notBefore,
    notAfter: parsed.notAfter,
    sha256: createHash('sha256').update(new Uint8Array(parsed.rawData)).digest('hex'),
    organizationIdentifier: parsed.subjectName.getField(ORGANIZATION_IDENTIFIER_OID)[0],
    qcType: statements?.qcType,
    roles: statements?.psd2?.roles ?? [],
    ncaName: statements?.psd2?.ncaName,
    ncaId: statements?.psd2?.ncaId,
    isForClients:
      parsed.getExtension(ExtendedKeyUsageExtension)?.usages.includes(ExtendedKeyUsage.clientAuth) ?? true,
  };
}

function parseCertificate(certificate: string | Uint8Array): X509Certificate {
  try {
    return new X509Certificate(
      typeof certificate === 'string' ? PemConverter.decodeFirst(certificate) : Uint8Array.from(certificate),
    );
  } catch (cause) {
    throw new Psd2Error('certificate', 'This is not an X.509 certificate', {
      hint: 'Give a PEM file that begins with -----BEGIN CERTIFICATE-----.',
      cause,
    });
  }
}

/** A key pair of the Web Cryptography API, as @peculiar/x509 needs it. */
export type RsaKeyPair = webcrypto.CryptoKeyPair;

/** Makes an RSA key pair of 2048 bits in a separate thread, so several can be made at the same time. */
export function generateRsaKeys(): Promise<RsaKeyPair> {
  return webcrypto.subtle.generateKey(
    { ...RSA, modulusLength: 2048, publicExponent: Uint8Array.of(1, 0, 1) },
    true,
    ['sign', 'verify'],
  );
}

/** The private key of a pair as PKCS#8 PEM, not encrypted. */
export async function privateKeyPem(keys: RsaKeyPair): Promise<string> {
  return pemFile(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY');
}

/** A certificate authority that issues the other certificates of this module. */
export interface CertificateAuthority {
  certificate: X509Certificate;
  keys: RsaKeyPair;
  certificatePem: string;
}

/** The validity of a new certificate. It starts an hour before `from`. */
export interface Validity {
  from: Date;
  days: number;
}

/** Makes a self-signed root that may issue only end-entity certificates. */
export async function makeCertificateAuthority(
  commonName: string,
  keys: RsaKeyPair,
  validity: Validity,
): Promise<CertificateAuthority> {
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: [{ C: ['IT'] }, { CN: [commonName] }],
    keys,
    ...period(validity),
    signingAlgorithm: RSA,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate, keys, certificatePem: certificatePem(certificate) };
}

/** Makes a TLS server's certificate, in PEM. `hosts` are its names and IP addresses. */
export function makeServerCertificate(
  authority: CertificateAuthority,
  commonName: string,
  hosts: readonly { type: 'dns' | 'ip'; value: string }[],
  keys: RsaKeyPair,
  validity: Validity,
): Promise<string> {
  return issue(authority, [{ C: ['IT'] }, { CN: [commonName] }], keys, validity, [
    new KeyUsagesExtension(KeyUsageFlags.digitalSignature | KeyUsageFlags.keyEncipherment, true),
    new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
    new SubjectAlternativeNameExtension([...hosts]),
  ]);
}

interface QualifiedSubject {
  commonName: string;
  organization: string;
  /** `PSD<CC>-<NCA>-<number>` (ETSI TS 119 495, section 5.2.1). */
  organizationIdentifier: string;
  /** Undefined: no PSD2 statement, as in a bank's own seal. */
  psd2: Psd2Statement | undefined;
}

/**
 * Makes a qualified certificate, in PEM. `web` makes a QWAC (for mutual TLS, client and server), `eseal` a QSealC (for
 * signatures). As with real ones, the key usage of the QSealC lets OpenSSL accept it as a TLS client's certificate too.
 */
export function makeQualifiedCertificate(
  authority: CertificateAuthority,
  qcType: 'web' | 'eseal',
  subject: QualifiedSubject,
  keys: RsaKeyPair,
  validity: Validity,
): Promise<string> {
  const name: JsonName = [
    { C: [subject.organizationIdentifier.slice(3, 5)] },
    { O: [subject.organization] },
    { [ORGANIZATION_IDENTIFIER_OID]: [subject.organizationIdentifier] },
    { CN: [subject.commonName] },
  ];
  const statements = encodeQcStatements({ qcCompliance: true, qcType, psd2: subject.psd2 });
  return issue(authority, name, keys, validity, [
    ...(qcType === 'web'
      ? [
          new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
          new ExtendedKeyUsageExtension([ExtendedKeyUsage.clientAuth, ExtendedKeyUsage.serverAuth]),
          new SubjectAlternativeNameExtension([{ type: 'dns', value: subject.commonName }]),
        ]
      : [new KeyUsagesExtension(KeyUsageFlags.digitalSignature | KeyUsageFlags.nonRepudiation, true)]),
    new Extension(QC_STATEMENTS_OID, false, Uint8Array.from(statements)),
  ]);
}

async function issue(
  authority: CertificateAuthority,
  subject: JsonName,
  keys: RsaKeyPair,
  validity: Validity,
  extensions: readonly Extension[],
): Promise<string> {
  const certificate = await X509CertificateGenerator.create({
    subject,
    issuer: authority.certificate.subjectName,
    publicKey: keys.publicKey,
    signingKey: authority.keys.privateKey,
    ...period(validity),
    signingAlgorithm: RSA,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      ...extensions,
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
      await AuthorityKeyIdentifierExtension.create(authority.keys.publicKey),
    ],
  });
  return certificatePem(certificate);
}

function period({ from, days }: Validity): { notBefore: Date; notAfter: Date } {
  return {
    notBefore: new Date(from.getTime() - BACKDATED_MS),
    notAfter: new Date(from.getTime() + days * DAY_MS),
  };
}

function certificatePem(certificate: X509Certificate): string {
  return pemFile(certificate.rawData, 'CERTIFICATE');
}

function pemFile(der: ArrayBuffer, tag: string): string {
  return `${PemConverter.encode(der, tag)}\n`;
}

/** A certificate with its key, both PEM. */
export interface IssuedPair {
  certificate: string;
  key: string;
}

/** The TPP that gets the two qualified certificates. */
export interface Tpp {
  organization: string;
  /** `PSD<CC>-<NCA>-<number>` (ETSI TS 119 495, section 5.2.1). */
  organizationIdentifier: string;
  psd2: Psd2Statement;
  /** The host name of the QWAC. */
  host: string;
  /** The common name of the QSealC. */
  sealName: string;
}

/** Makes the QWAC and the QSealC of a TPP, RSA 2048 with SHA-256, each with its own key. */
export async function makeTppCertificates(
  authority: CertificateAuthority,
  tpp: Tpp,
  validity: Validity,
): Promise<{ qwac: IssuedPair; qseal: IssuedPair }> {
  const issue = async (qcType: 'web' | 'eseal', commonName: string) => {
    const keys = await generateRsaKeys();
    return issuedPair(
      makeQualifiedCertificate(authority, qcType, { ...tpp, commonName }, keys, validity),
      keys,
    );
  };
  const [qwac, qseal] = await Promise.all([issue('web', tpp.host), issue('eseal', tpp.sealName)]);
  return { qwac, qseal };
}

/** Awaits a certificate and exports its key. */
export async function issuedPair(certificate: Promise<string>, keys: RsaKeyPair): Promise<IssuedPair> {
  return { certificate: await certificate, key: await privateKeyPem(keys) };
}
