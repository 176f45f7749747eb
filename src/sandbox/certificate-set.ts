import {
  generateRsaKeys,
  makeCertificateAuthority,
  makeQualifiedCertificate,
  makeServerCertificate,
  privateKeyPem,
  type RsaKeyPair,
  type Validity,
} from '../certificates/eidas.ts';
import type { Psd2Statement } from '../certificates/qc-statements.ts';

/** The PEM texts of everything the sandbox and its TPP identify themselves with. */
export interface CertificateSet {
  ca: string;
  server: Pair;
  qwac: Pair;
  qseal: Pair;
  bankSigning: Pair;
}

interface Pair {
  certificate: string;
  key: string;
}

const tpp: Psd2Statement = {
  roles: ['PSP_AI', 'PSP_PI', 'PSP_IC'],
  ncaName: 'Bank of Italy',
  ncaId: 'IT-BI',
};

/**
 * Makes a certificate authority, the server's certificate for `localhost`, and the qualified certificates of the
 * TPP (QWAC, QSealC) and of the bank (seal), all RSA 2048 with SHA-256. The five keys are made at the same time.
 */
export async function makeCertificateSet(validity: Validity): Promise<CertificateSet> {
  const [caKeys, serverKeys, qwacKeys, qsealKeys, bankKeys] = await Promise.all([
    generateRsaKeys(),
    generateRsaKeys(),
    generateRsaKeys(),
    generateRsaKeys(),
    generateRsaKeys(),
  ]);
  const ca = await makeCertificateAuthority('psd2 sandbox CA, not for production', caKeys, validity);
  const hosts = [
    { type: 'dns', value: 'localhost' },
    { type: 'ip', value: '127.0.0.1' },
    { type: 'ip', value: '::1' },
  ] as const;
  const tppSubject = {
    organization: 'Sandbox TPP',
    organizationIdentifier: 'PSDIT-BI-12345',
    psd2: tpp,
  };
  const bankSubject = {
    commonName: 'Sandbox Bank seal',
    organization: 'Sandbox Bank',
    organizationIdentifier: 'PSDIT-BI-99999',
    psd2: undefined,
  };
  const [server, qwac, qseal, bankSigning] = await Promise.all([
    pair(makeServerCertificate(ca, 'localhost', hosts, serverKeys, validity), serverKeys),
    pair(
      makeQualifiedCertificate(ca, 'web', { ...tppSubject, commonName: 'tpp.example' }, qwacKeys, validity),
      qwacKeys,
    ),
    pair(
      makeQualifiedCertificate(
        ca,
        'eseal',
        { ...tppSubject, commonName: 'Sandbox TPP seal' },
        qsealKeys,
        validity,
      ),
      qsealKeys,
    ),
    pair(makeQualifiedCertificate(ca, 'eseal', bankSubject, bankKeys, validity), bankKeys),
  ]);
  return { ca: ca.certificatePem, server, qwac, qseal, bankSigning };
}

async function pair(certificate: Promise<string>, keys: RsaKeyPair): Promise<Pair> {
  return { certificate: await certificate, key: await privateKeyPem(keys) };
}
