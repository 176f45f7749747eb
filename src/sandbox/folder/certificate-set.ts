import { isIP } from 'node:net';
import {
  generateRsaKeys,
  type IssuedPair,
  issuedPair,
  makeCertificateAuthority,
  makeQualifiedCertificate,
  makeServerCertificate,
  makeTppCertificates,
  type Tpp,
  type Validity,
} from '../../certificates/eidas.ts';

/** The certificates and keys of the sandbox and its TPP, as PEM texts. */
interface CertificateSet {
  ca: string;
  server: IssuedPair;
  qwac: IssuedPair;
  qseal: IssuedPair;
  /** For a change of certificates. */
  next: { qwac: IssuedPair; qseal: IssuedPair };
  bankSigning: IssuedPair;
}

const TPP: Tpp = {
  organization: 'Sandbox TPP',
  organizationIdentifier: 'PSDIT-BI-12345',
  psd2: { roles: ['PSP_AI', 'PSP_PI', 'PSP_IC'], ncaName: 'Bank of Italy', ncaId: 'IT-BI' },
  host: 'tpp.example',
  sealName: 'Sandbox TPP seal',
};

/**
 * Makes a certificate authority, the server's certificate for `localhost`, and the qualified certificates of the
 * TPP (QWAC, QSealC, each twice) and of the bank (seal), all RSA 2048 with SHA-256. Makes new keys for all of them.
 *
 * @param names more host names and IP addresses of the server
 */
export async function makeCertificateSet(
  validity: Validity,
  names: readonly string[] = [],
): Promise<CertificateSet> {
  const [caKeys, serverKeys, bankKeys] = await Promise.all([
    generateRsaKeys(),
    generateRsaKeys(),
    generateRsaKeys(),
  ]);
  const ca = await makeCertificateAuthority('psd2 sandbox CA - not for production', caKeys, validity);
  const hosts = [
    { type: 'dns', value: 'localhost' },
    { type: 'ip', value: '127.0.0.1' },
    { type: 'ip', value: '::1' },
    ...names.map((value) => ({ type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const), value })),
  ] as const;
  const bankSubject = {
    commonName: 'Sandbox Bank seal',
    organization: 'Sandbox Bank',
    organizationIdentifier: 'PSDIT-BI-99999',
    psd2: undefined,
  };
  const [tpp, next, server, bankSigning] = await Promise.all([
    makeTppCertificates(ca, TPP, validity),
    makeTppCertificates(ca, TPP, validity),
    issuedPair(makeServerCertificate(ca, 'localhost', hosts, serverKeys, validity), serverKeys),
    issuedPair(makeQualifiedCertificate(ca, 'eseal', bankSubject, bankKeys, validity), bankKeys),
  ]);
  return { ca: ca.certificatePem, server, ...tpp, next, bankSigning };
}
