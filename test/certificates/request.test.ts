// @peculiar/x509 uses tsyringe, which needs this import to be first.
import 'reflect-metadata';
import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { X509Certificate as ParsedCertificate, Pkcs10CertificateRequest } from '@peculiar/x509';
import { describe, expect, it } from 'vitest';
import {
  generateRsaKeys,
  makeCertificateAuthority,
  makeTppCertificates,
} from '../../src/certificates/eidas.ts';
import {
  decodeQcStatements,
  encodeQcStatements,
  QC_STATEMENTS_OID,
} from '../../src/certificates/qc-statements.ts';
import { requestSuccessor } from '../../src/certificates/request.ts';
import { withOpenssl } from './openssl.ts';

const NAME = '/C=IT/O=Test TPP/CN=tpp.example';

/** Returns the DER of a certificate with a new key of this kind. @param more arguments of openssl */
function certificateWith(kind: string[], more: string[] = []): Uint8Array {
  return withOpenssl((openssl) => {
    const files = ['-nodes', '-keyout', 'a.key', '-out', 'a.der', '-outform', 'DER'];
    openssl.run('req', '-x509', '-days', '2', '-subj', NAME, '-newkey', ...kind, ...files, ...more);
    return openssl.runBinary('x509', '-in', 'a.der', '-inform', 'DER', '-outform', 'DER');
  });
}

const ec = (curve: string) => ['ec', '-pkeyopt', `ec_paramgen_curve:${curve}`];

/** Returns what a request says, as openssl reads it. */
function textOf(request: string): string {
  return withOpenssl((openssl) =>
    openssl.run('req', '-in', openssl.write('a.csr', request), '-noout', '-text', '-verify'),
  );
}

describe('a request for the successor of a certificate', () => {
  it.each([
    ['P-256', 256, 'prime256v1', 'ecdsa-with-SHA256'],
    ['P-384', 384, 'secp384r1', 'ecdsa-with-SHA384'],
    ['P-521', 521, 'secp521r1', 'ecdsa-with-SHA512'],
  ])('has a new key on the curve of the old one: %s', async (curve, keyBits, name, signature) => {
    const { request, key, ...kind } = await requestSuccessor(certificateWith(ec(curve)), undefined);
    expect(kind).toEqual({ keyType: 'EC', keyBits });
    expect(request).toMatch(
      /^-----BEGIN CERTIFICATE REQUEST-----\n[^-]+\n-----END CERTIFICATE REQUEST-----\n$/,
    );
    expect(key).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
    expect(createPrivateKey(key).asymmetricKeyDetails?.namedCurve).toBe(name);
    const text = textOf(request);
    expect(new Pkcs10CertificateRequest(request).subject).toBe('C=IT, O=Test TPP, CN=tpp.example');
    expect(text).toContain(`Signature Algorithm: ${signature}`);
    expect(new Pkcs10CertificateRequest(request).publicKey.rawData).toEqual(
      new Uint8Array(createPublicKey(key).export({ type: 'spki', format: 'der' })).buffer,
    );
  });

  it.each([
    ['a short RSA key', ['rsa:1024'], 2048],
    ['a key of RSASSA-PSS', ['rsa-pss', '-pkeyopt', 'rsa_keygen_bits:2056'], 2056],
  ])('has instead of %s an RSA key of at least 2048 bits', async (_what, kind, keyBits) => {
    const old = certificateWith(kind);
    const { request, key, ...rest } = await requestSuccessor(old, undefined);
    expect(rest).toEqual({ keyType: 'RSA', keyBits });
    const { modulusLength, publicExponent } = createPrivateKey(key).asymmetricKeyDetails ?? {};
    expect([modulusLength, publicExponent]).toEqual([keyBits, 65537n]);
    expect(textOf(request)).toContain('Signature Algorithm: sha256WithRSAEncryption');
  });

  it('has a key that the passphrase encrypts', async () => {
    const { key } = await requestSuccessor(certificateWith(ec('P-256')), 'a long passphrase');
    expect(key).toMatch(/^-----BEGIN ENCRYPTED PRIVATE KEY-----\n/);
    expect(createPrivateKey({ key, passphrase: 'a long passphrase' }).asymmetricKeyType).toBe('ec');
    expect(() => createPrivateKey({ key, passphrase: 'another one' })).toThrow();
    // An empty passphrase is one.
    const empty = await requestSuccessor(certificateWith(ec('P-256')), '');
    expect(empty.key).toMatch(/^-----BEGIN ENCRYPTED PRIVATE KEY-----\n/);
  });

  it('keeps usages and names, and no other extension', async () => {
    const extensions = [
      'keyUsage=critical,digitalSignature',
      'extendedKeyUsage=clientAuth,serverAuth',
      'subjectAltName=DNS:tpp.example,DNS:www.tpp.example',
      'basicConstraints=critical,CA:FALSE',
      'nsComment=old',
    ];
    const old = certificateWith(
      ec('P-256'),
      extensions.flatMap((extension) => ['-addext', extension]),
    );
    const { request } = await requestSuccessor(old, undefined);
    const { extensions: kept } = new Pkcs10CertificateRequest(request);
    const before = new ParsedCertificate(Uint8Array.from(old));
    expect(kept.map(({ type, critical }) => [type, critical]).toSorted()).toEqual([
      ['2.5.29.15', true],
      ['2.5.29.17', false],
      ['2.5.29.37', false],
    ]);
    for (const { type, value } of kept) expect(value).toEqual(before.getExtension(type)?.value);
    const text = textOf(request);
    expect(text).toContain('DNS:tpp.example, DNS:www.tpp.example');
    expect(text).toContain('TLS Web Client Authentication, TLS Web Server Authentication');
  });

  it('keeps of the statements those about the TPP', async () => {
    const validity = { from: new Date('2026-11-21T12:00:00Z'), days: 30 };
    const authority = await makeCertificateAuthority('Test CA', await generateRsaKeys(), validity);
    const psd2 = { roles: ['PSP_PI', 'PSP_AI'] as const, ncaName: "Banca d'Italia", ncaId: 'IT-BI' };
    const { qwac } = await makeTppCertificates(
      authority,
      {
        ...{ organization: 'Test TPP', organizationIdentifier: 'PSDIT-BI-12345', host: 'tpp.example' },
        ...{ psd2: { ...psd2, roles: [...psd2.roles] }, sealName: 'Test TPP seal' },
      },
      validity,
    );
    const old = new X509Certificate(qwac.certificate).raw;
    const request = new Pkcs10CertificateRequest((await requestSuccessor(old, undefined)).request);
    expect(request.subject).toBe('C=IT, O=Test TPP, 2.5.4.97=PSDIT-BI-12345, CN=tpp.example');
    const statements = request.extensions.filter(({ type }) => type === QC_STATEMENTS_OID);
    expect(statements.map(({ value }) => decodeQcStatements(new Uint8Array(value)))).toEqual([
      { qcCompliance: true, qcType: 'web', psd2 },
    ]);
  });

  it.each([true, false])(
    'asks for the statements as the old certificate has them: critical %s',
    async (critical) => {
      const der = encodeQcStatements({ qcCompliance: true, qcType: 'web', psd2: undefined });
      const value = Buffer.from(der)
        .toString('hex')
        .replace(/(?<=.)(?=(..)+$)/g, ':');
      const how = `${QC_STATEMENTS_OID}=${critical ? 'critical,' : ''}DER:${value}`;
      const { request } = await requestSuccessor(certificateWith(ec('P-256'), ['-addext', how]), undefined);
      const kept = new Pkcs10CertificateRequest(request).getExtension(QC_STATEMENTS_OID);
      expect(kept?.critical).toBe(critical);
      expect(Buffer.from(kept?.value ?? new ArrayBuffer(0))).toEqual(Buffer.from(der));
    },
  );

  it.each([
    ['ec', ec('secp256k1')],
    ['ed25519', ['ed25519']],
  ])('is refused for a key of another kind: %s', async (type, kind) => {
    await expect(requestSuccessor(certificateWith(kind), undefined)).rejects.toMatchObject({
      code: 'certificate',
      message: `psd2 cannot create a key of the kind that the certificate has: ${type}`,
      hint: 'Make the key and the request with openssl.',
    });
  });
});
