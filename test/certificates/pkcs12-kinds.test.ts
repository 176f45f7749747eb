import { createPrivateKey, X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readPkcs12 } from '../../src/certificates/pkcs12.ts';
import { thrownBy } from '../support/thrown.ts';
import { EC, withOpenssl } from './openssl.ts';
import {
  bag,
  certificateBag,
  type Encryption,
  keyBag,
  octets,
  part,
  partEncryptedWith,
  pbes2Part,
  pkcs12Of,
  plainPart,
} from './pkcs12-file.ts';

const file = { name: 'tpp.p12', path: '/keys/tpp.p12' };
const passphrase = 'hush hush';

const made = withOpenssl((openssl) => {
  const authority = openssl.authority('Test CA');
  return { authority, pair: openssl.issued(authority, 'tpp.example', EC) };
});

const AES_256 = { oid: '2.16.840.1.101.3.4.1.42', name: 'aes-256-cbc', keyLength: 32 };
const AES_192 = { oid: '2.16.840.1.101.3.4.1.22', name: 'aes-192-cbc', keyLength: 24 };
const AES_128 = { oid: '2.16.840.1.101.3.4.1.2', name: 'aes-128-cbc', keyLength: 16 };
const SHA_256 = { oid: '1.2.840.113549.2.9', hash: 'sha256' };

const certificates = [certificateBag(made.pair.cert), certificateBag(made.authority.cert)];
const key = plainPart(keyBag(made.pair.key));

function namesIn(bytes: Uint8Array): string[] {
  return readPkcs12(bytes, passphrase, file).certificates.map((pem) => new X509Certificate(pem).subject);
}

describe('PKCS#12 files of other programs', () => {
  it.each<[string, Omit<Encryption, 'passphrase'>]>([
    ['AES-256 and HMAC with SHA-1', { cipher: AES_256, prf: { oid: '1.2.840.113549.2.7', hash: 'sha1' } }],
    ['AES-256 and no named HMAC', { cipher: AES_256 }],
    [
      'AES-256 and HMAC with SHA-224',
      { cipher: AES_256, prf: { oid: '1.2.840.113549.2.8', hash: 'sha224' } },
    ],
    ['AES-256 and HMAC with SHA-256', { cipher: AES_256, prf: SHA_256 }],
    [
      'AES-256 and HMAC with SHA-384',
      { cipher: AES_256, prf: { oid: '1.2.840.113549.2.10', hash: 'sha384' } },
    ],
    [
      'AES-256 and HMAC with SHA-512',
      { cipher: AES_256, prf: { oid: '1.2.840.113549.2.11', hash: 'sha512' } },
    ],
    ['AES-192', { cipher: AES_192, prf: SHA_256 }],
    ['AES-128', { cipher: AES_128, prf: SHA_256 }],
    ['the length of the key', { cipher: AES_256, prf: SHA_256, hasKeyLength: true }],
    ['the length of the key and no named HMAC', { cipher: AES_256, hasKeyLength: true }],
    ['encrypted content in pieces', { cipher: AES_256, prf: SHA_256, isSplit: true }],
  ])('psd2 opens a PKCS#12 file with %s', (_, how) => {
    const bytes = pkcs12Of(pbes2Part(certificates, { ...how, passphrase }), key);
    expect(namesIn(bytes)).toEqual(['CN=tpp.example', 'CN=Test CA']);
    const { key: found } = readPkcs12(bytes, passphrase, file);
    expect(new X509Certificate(made.pair.cert).checkPrivateKey(createPrivateKey(found ?? ''))).toBe(true);
  });

  it("the key's own certificate comes first, wherever the file has it", () => {
    expect(namesIn(pkcs12Of(plainPart(...certificates.toReversed()), key))).toEqual([
      'CN=tpp.example',
      'CN=Test CA',
    ]);
    expect(namesIn(pkcs12Of(plainPart(...certificates.toReversed())))).toEqual([
      'CN=Test CA',
      'CN=tpp.example',
    ]);
  });

  it('psd2 takes the first of several keys', () => {
    const both = plainPart(keyBag(made.authority.key), keyBag(made.pair.key));
    expect(namesIn(pkcs12Of(plainPart(...certificates), both))).toEqual(['CN=Test CA', 'CN=tpp.example']);
  });

  it('psd2 skips parts and bags of other kinds, such as lists of revoked certificates', () => {
    const [enveloped, revoked] = ['1.2.840.113549.1.7.3', '1.2.840.113549.1.12.10.1.4'];
    const bytes = pkcs12Of(
      part(enveloped, octets(Buffer.from('sealed'))),
      plainPart(bag(revoked, octets(Buffer.from('list'))), ...certificates),
      key,
    );
    expect(namesIn(bytes)).toEqual(['CN=tpp.example', 'CN=Test CA']);
  });

  it.each<[string, Partial<Encryption>]>([
    ['cipher', { cipher: { ...AES_256, oid: '1.2.3.4' } }],
    ['HMAC', { prf: { ...SHA_256, oid: '1.2.3.4' } }],
    ['derivation of the key (scrypt)', { derivation: '1.3.6.1.4.1.11591.4.11' }],
  ])('psd2 says that it cannot read a PKCS#12 file with an unknown %s', (_, other) => {
    const how = { passphrase, cipher: AES_256, prf: SHA_256, ...other };
    expect(thrownBy(() => namesIn(pkcs12Of(pbes2Part(certificates, how))))).toMatchObject({
      code: 'certificate',
      message: 'The PKCS#12 file tpp.p12 is not readable: it is damaged or has an unusual format',
      hint: 'Get a new copy of the file, or give certificate and key as PEM.',
    });
  });
});

describe('PKCS#12 files with old ciphers', () => {
  const refused = (algorithm: string, path?: string) => {
    const bytes = pkcs12Of(partEncryptedWith(algorithm));
    return expect(() => readPkcs12(bytes, passphrase, { name: 'tpp.p12', path }));
  };

  it.each([
    ['1.2.840.113549.1.12.1.1', 'RC4 with 128 bits'],
    ['1.2.840.113549.1.12.1.2', 'RC4 with 40 bits'],
    ['1.2.840.113549.1.12.1.3', 'triple DES'],
    ['1.2.840.113549.1.12.1.4', 'double DES'],
    ['1.2.840.113549.1.12.1.5', 'RC2 with 128 bits'],
    ['1.2.840.113549.1.12.1.6', 'RC2 with 40 bits'],
    ['1.2.3.4', 'the cipher 1.2.3.4'],
  ])('the error for the cipher %s calls it %s', (algorithm, name) => {
    refused(algorithm).toThrow(
      expect.objectContaining({
        code: 'certificate',
        message: `The PKCS#12 file tpp.p12 is encrypted with ${name}, which is no longer safe`,
      }),
    );
  });

  it.each([
    ['tpp.p12', 'tpp.p12', 'tpp.pem'],
    ['/keys/old.p12.d/TPP.PFX', '/keys/old.p12.d/TPP.PFX', '/keys/old.p12.d/TPP.pem'],
    ['/keys/tpp', '/keys/tpp', '/keys/tpp.pem'],
    [undefined, 'old.p12', 'old.pem'],
  ])('the command that converts %s reads %s and writes %s', (path, old, pem) => {
    refused('1.2.840.113549.1.12.1.3', path).toThrow(
      expect.objectContaining({
        hint: `Convert it, and use the new file for certificate and key: openssl pkcs12 -legacy -in ${old} -out ${pem}`,
      }),
    );
  });
});
