import { execFileSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  type CertificateAuthority,
  generateRsaKeys,
  makeCertificateAuthority,
  makeQualifiedCertificate,
  makeServerCertificate,
  makeTppCertificates,
  privateKeyPem,
  type RsaKeyPair,
  readEidasCertificate,
} from '../../src/certificates/eidas.ts';

const validity = { from: new Date('2026-11-21T12:00:00Z'), days: 30 };
const subject = {
  commonName: 'tpp.example',
  organization: 'Test TPP',
  organizationIdentifier: 'PSDIT-BI-12345',
  psd2: { roles: ['PSP_PI', 'PSP_IC'] as const, ncaName: "Banca d'Italia è", ncaId: 'IT-BI' },
};

let authority: CertificateAuthority;
let keys: RsaKeyPair;
let qwac: string;
let qseal: string;

beforeAll(async () => {
  const [caKeys, leafKeys] = await Promise.all([generateRsaKeys(), generateRsaKeys()]);
  keys = leafKeys;
  authority = await makeCertificateAuthority('Test CA', caKeys, validity);
  const psd2 = { ...subject.psd2, roles: [...subject.psd2.roles] };
  qwac = await makeQualifiedCertificate(authority, 'web', { ...subject, psd2 }, keys, validity);
  qseal = await makeQualifiedCertificate(authority, 'eseal', { ...subject, psd2: undefined }, keys, validity);
});

/** Returns a certificate as OpenSSL, an independent decoder, prints it. */
function opensslText(pem: string): string {
  return execFileSync('openssl', ['x509', '-noout', '-text', '-certopt', 'ext_parse'], {
    input: pem,
    encoding: 'utf8',
  });
}

/** The extensions of a certificate as OpenSSL prints them, without the key identifiers. */
function extensionsOf(pem: string): string[] {
  const known =
    /X509v3 (Basic Constraints|Key Usage|Extended Key Usage|Subject Alternative Name): (critical)?\s*\n\s*(.*)/g;
  return [...opensslText(pem).matchAll(known)].map(([, name, critical, value]) =>
    [name, critical, value].filter((part) => part !== undefined).join(': '),
  );
}

test('a new authority may issue certificates, but not other authorities', () => {
  expect(extensionsOf(authority.certificatePem)).toEqual([
    'Basic Constraints: critical: CA:TRUE, pathlen:0',
    'Key Usage: critical: Certificate Sign, CRL Sign',
  ]);
  expect(readEidasCertificate(authority.certificatePem)).toMatchObject({
    subject: 'C=IT, CN=Test CA',
    issuer: 'C=IT, CN=Test CA',
    notBefore: new Date('2026-11-21T11:00:00Z'),
    notAfter: new Date('2026-12-21T12:00:00Z'),
  });
});

describe('a new QWAC', () => {
  test('a new QWAC contains the values that it was made with', () => {
    expect(readEidasCertificate(qwac)).toEqual({
      subject: 'C=IT, O=Test TPP, 2.5.4.97=PSDIT-BI-12345, CN=tpp.example',
      issuer: 'C=IT, CN=Test CA',
      serialNumber: expect.stringMatching(/^[0-9a-f]+$/),
      notBefore: new Date('2026-11-21T11:00:00Z'),
      notAfter: new Date('2026-12-21T12:00:00Z'),
      sha256: new X509Certificate(qwac).fingerprint256.replaceAll(':', '').toLowerCase(),
      organizationIdentifier: 'PSDIT-BI-12345',
      qcType: 'web',
      roles: ['PSP_PI', 'PSP_IC'],
      ncaName: "Banca d'Italia è",
      ncaId: 'IT-BI',
      isForClients: true,
    });
  });

  test('psd2 reads the same from DER as from PEM', () => {
    expect(readEidasCertificate(new X509Certificate(qwac).raw)).toEqual(readEidasCertificate(qwac));
  });

  test('OpenSSL also reads the statements, usages and name of the new QWAC', () => {
    const text = opensslText(qwac);
    const values = [...text.matchAll(/prim: +(OBJECT|UTF8STRING) +:(.*)$/gm)].map(([, , value]) => value);
    expect(values).toMatchInlineSnapshot(`
      ["0.4.0.1862.1.1", "0.4.0.1862.1.6", "0.4.0.1862.1.6.3", "0.4.0.19495.2", "0.4.0.19495.1.2",
       "PSP_PI", "0.4.0.19495.1.4", "PSP_IC", "Banca d'Italia è", "IT-BI"]
    `);
    expect(text).toContain('organizationIdentifier = PSDIT-BI-12345');
    expect(text).toContain('TLS Web Client Authentication, TLS Web Server Authentication');
    expect(text).toContain('Signature Algorithm: sha256WithRSAEncryption');
    expect(text).toContain('Public-Key: (2048 bit)');
  });

  test('a QWAC is for clients and servers with its name, and no authority', () => {
    expect(extensionsOf(qwac)).toEqual([
      'Basic Constraints: critical: CA:FALSE',
      'Key Usage: critical: Digital Signature',
      'Extended Key Usage: TLS Web Client Authentication, TLS Web Server Authentication',
      'Subject Alternative Name: DNS:tpp.example',
    ]);
    expect(opensslText(qwac)).toMatch(/qcStatements: *\n/);
  });

  test('the authority issues the QWAC for the given key', async () => {
    const certificate = new X509Certificate(qwac);
    const ca = new X509Certificate(authority.certificatePem);
    expect(certificate.checkIssued(ca)).toBe(true);
    expect(certificate.verify(ca.publicKey)).toBe(true);
    expect(certificate.checkPrivateKey(createPrivateKey(await privateKeyPem(keys)))).toBe(true);
  });
});

test('a QSealC has the type eseal, no TLS usage, and no roles without a PSD2 statement', () => {
  expect(readEidasCertificate(qseal)).toMatchObject({
    qcType: 'eseal',
    roles: [],
    ncaName: undefined,
    ncaId: undefined,
    // A certificate without an extended key usage is for any use (RFC 5280).
    isForClients: true,
  });
  expect(extensionsOf(qseal)).toEqual([
    'Basic Constraints: critical: CA:FALSE',
    'Key Usage: critical: Digital Signature, Non Repudiation',
  ]);
});

test('a server certificate has its hosts and is not a qualified one', async () => {
  const hosts = [
    { type: 'dns', value: 'localhost' },
    { type: 'ip', value: '127.0.0.1' },
    { type: 'ip', value: '::1' },
  ] as const;
  const pem = await makeServerCertificate(authority, 'localhost', hosts, keys, validity);
  const certificate = new X509Certificate(pem);
  expect(certificate.checkHost('localhost')).toBe('localhost');
  expect(certificate.checkIP('127.0.0.1')).toBe('127.0.0.1');
  expect(certificate.checkIP('::1')).toBe('::1');
  expect(certificate.checkHost('example.com')).toBeUndefined();
  expect(readEidasCertificate(pem)).toMatchObject({
    subject: 'C=IT, CN=localhost',
    qcType: undefined,
    isForClients: false,
  });
  expect(extensionsOf(pem)).toEqual([
    'Basic Constraints: critical: CA:FALSE',
    'Key Usage: critical: Digital Signature, Key Encipherment',
    'Extended Key Usage: TLS Web Server Authentication',
    'Subject Alternative Name: DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1',
  ]);
});

describe('input that is not a certificate', () => {
  test.each([
    ['text', 'hello'],
    ['an empty PEM block', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'],
    ['an empty input', new Uint8Array()],
  ])('psd2 refuses %s as a certificate', (_name, input) => {
    expect(() => readEidasCertificate(input)).toThrowError(
      expect.objectContaining({
        name: 'Psd2Error',
        code: 'certificate',
        message: 'This is not an X.509 certificate',
        hint: 'Give a PEM file that begins with -----BEGIN CERTIFICATE-----.',
      }),
    );
  });
});

test('a TPP gets a QWAC for its host and a QSealC, of one authority, each with its own key', async () => {
  const { organization, organizationIdentifier } = subject;
  const psd2 = { ...subject.psd2, roles: [...subject.psd2.roles] };
  const tpp = { organization, organizationIdentifier, psd2, host: 'tpp.example', sealName: 'The seal' };
  const made = await makeTppCertificates(authority, tpp, validity);
  const of = {
    issuer: 'C=IT, CN=Test CA',
    organizationIdentifier,
    notAfter: new Date('2026-12-21T12:00:00Z'),
  };
  for (const [{ certificate, key }, qcType, name] of [
    [made.qwac, 'web', 'tpp.example'],
    [made.qseal, 'eseal', 'The seal'],
  ] as const) {
    expect(readEidasCertificate(certificate)).toMatchObject({
      ...{ ...of, ...psd2, qcType },
      subject: `C=IT, O=Test TPP, 2.5.4.97=PSDIT-BI-12345, CN=${name}`,
    });
    expect(new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))).toBe(true);
  }
  expect(made.qwac.key).not.toBe(made.qseal.key);
});
