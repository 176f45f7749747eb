import {
  type CertificateAuthority,
  generateRsaKeys,
  makeQualifiedCertificate,
  privateKeyPem,
  type RsaKeyPair,
  type Validity,
} from './eidas.ts';
import type { Psd2Statement } from './qc-statements.ts';

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
