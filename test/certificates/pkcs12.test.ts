import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AsnType } from 'asn1js';
import { describe, expect, it } from 'vitest';
import { isPkcs12, WrongPassphrase } from '../../src/certificates/key-pair.ts';
import { readPkcs12 } from '../../src/certificates/pkcs12.ts';
import { thrownBy } from '../support/thrown.ts';
import { EC, RSA, withOpenssl } from './openssl.ts';
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
  shroudedKeyBag,
} from './pkcs12-file.ts';

const PASSPHRASE = 'hush hush';

const made = withOpenssl((openssl) => {
  const authority = openssl.authority('Test CA');
  const pair = openssl.issued(authority, 'tpp.example', RSA);
  openssl.write('pair.key', pair.key);
  openssl.write('pair.pem', pair.cert);
  openssl.write('chain.pem', authority.cert);
  const pack = (passphrase: string, ...how: string[]) => {
    const files = ['-in', 'pair.pem', '-certfile', 'chain.pem', '-out', 'new.p12'];
    openssl.run('pkcs12', '-export', ...files, '-passout', `pass:${passphrase}`, ...how);
    return readFileSync(join(openssl.folder, 'new.p12'));
  };
  const withKey = ['-inkey', 'pair.key'];
  const old = pack(PASSPHRASE, '-legacy', ...withKey);
  return {
    authority,
    pair,
    old,
    files: {
      'AES-256 with SHA-256': pack(PASSPHRASE, ...withKey),
      'AES-128': pack(PASSPHRASE, '-certpbe', 'AES-128-CBC', '-keypbe', 'AES-128-CBC', ...withKey),
      'SHA-512': pack(PASSPHRASE, '-macalg', 'sha512', ...withKey),
      'no encryption of certificates': pack(PASSPHRASE, '-certpbe', 'NONE', ...withKey),
      'no encryption at all': pack(PASSPHRASE, '-certpbe', 'NONE', '-keypbe', 'NONE', ...withKey),
    },
    empty: pack('', ...withKey),
    umlauts: pack('pässwört €', ...withKey),
    keyless: pack(PASSPHRASE, '-nokeys'),
    tripleDes: pack(PASSPHRASE, '-certpbe', 'PBE-SHA1-3DES', '-keypbe', 'PBE-SHA1-3DES', ...withKey),
    oldKeyOnly: pack(PASSPHRASE, '-keypbe', 'PBE-SHA1-3DES', ...withKey),
  };
});

const file = { name: 'tpp.p12', path: '/keys of mine/tpp.p12' };
const der = (pem: string) => new X509Certificate(pem).raw.toString('hex');
const rsa = (pem: string) => createPrivateKey(pem).export({ type: 'pkcs1', format: 'pem' });

describe('a PKCS#12 file', () => {
  it.each(Object.entries(made.files))(
    'psd2 reads certificate, chain and key from a PKCS#12 file with %s',
    (_, bytes) => {
      const { certificates, key } = readPkcs12(bytes, PASSPHRASE, file);
      expect(certificates.map(der)).toEqual([der(made.pair.cert), der(made.authority.cert)]);
      expect(rsa(key ?? '')).toBe(rsa(made.pair.key));
    },
  );

  it.each([
    ['an empty passphrase', made.empty, ''],
    ['an empty passphrase that the user did not give', made.empty, undefined],
    ['a passphrase that is not ASCII', made.umlauts, 'pässwört €'],
  ])('psd2 opens a PKCS#12 file with %s', (_, bytes, passphrase) => {
    expect(readPkcs12(bytes, passphrase, file).key).toContain('BEGIN PRIVATE KEY');
  });

  it('psd2 reads the certificates from a PKCS#12 file without a key', () => {
    const { certificates, key } = readPkcs12(made.keyless, PASSPHRASE, file);
    expect(certificates).toHaveLength(2);
    expect(key).toBeUndefined();
  });

  it.each([
    ['wrong', 'another', 'The passphrase does not open the PKCS#12 file tpp.p12'],
    ['missing', undefined, 'The PKCS#12 file tpp.p12 is protected by a passphrase, and none was given'],
  ])('the error says if the passphrase of a PKCS#12 file is %s', (_, passphrase, message) => {
    for (const bytes of [made.files['AES-256 with SHA-256'], made.keyless]) {
      const open = () => readPkcs12(bytes, passphrase, file);
      expect(open).toThrow(WrongPassphrase);
      expect(thrownBy(open)).toMatchObject({
        code: 'certificate',
        message,
        hint: 'Set PSD2_KEY_PASSPHRASE.',
      });
    }
  });

  it.each([
    ['RC2', made.old, 'RC2 with 40 bits'],
    ['triple DES', made.tripleDes, 'triple DES'],
    ['triple DES for its key', made.oldKeyOnly, 'triple DES'],
  ])('psd2 refuses a PKCS#12 file with %s and shows the command that converts it', (_, bytes, cipher) => {
    expect(thrownBy(() => readPkcs12(bytes, PASSPHRASE, file))).toMatchObject({
      code: 'certificate',
      message: expect.stringContaining(cipher),
      hint: expect.stringContaining(
        "openssl pkcs12 -legacy -in '/keys of mine/tpp.p12' -out '/keys of mine/tpp.pem'",
      ),
    });
  });

  it('psd2 says that a truncated or unreadable PKCS#12 file is damaged', () => {
    const whole = made.files['AES-256 with SHA-256'];
    for (const bytes of [whole.subarray(0, 900), Buffer.from('3003020103', 'hex'), Buffer.from('hello')]) {
      expect(() => readPkcs12(bytes, PASSPHRASE, file)).toThrow('is not readable: it is damaged');
    }
  });

  it('psd2 recognises a PKCS#12 file by its first bytes', () => {
    const short = Buffer.from('3003020103', 'hex');
    const indefinite = Buffer.from('3080020103', 'hex');
    for (const bytes of [made.old, made.keyless, short, indefinite, ...Object.values(made.files)])
      expect(isPkcs12(bytes)).toBe(true);
    for (const other of [made.pair.cert, made.pair.key, '', '0'])
      expect(isPkcs12(Buffer.from(other))).toBe(false);
    expect(isPkcs12(new X509Certificate(made.pair.cert).raw)).toBe(false);
    for (const at of [0, 2, 3, 4]) {
      const other = Buffer.from(short);
      other[at] = 9;
      expect(isPkcs12(other)).toBe(false);
    }
  });
});

it('the command that converts an old file writes certificate and key to one PEM file', () => {
  withOpenssl((openssl) => {
    openssl.write('old.p12', made.old);
    const pass = ['-passin', `pass:${PASSPHRASE}`, '-passout', 'pass:new'];
    openssl.run('pkcs12', '-legacy', '-in', 'old.p12', '-out', 'old.pem', ...pass);
    const pem = readFileSync(join(openssl.folder, 'old.pem'), 'utf8');
    expect(der(pem)).toBe(der(made.pair.cert));
    expect(pem).toContain('BEGIN ENCRYPTED PRIVATE KEY');
    expect(new X509Certificate(pem).checkPrivateKey(createPrivateKey({ key: pem, passphrase: 'new' }))).toBe(
      true,
    );
  });
});

const small = withOpenssl((openssl) => {
  const authority = openssl.authority('Test CA');
  return { authority, pair: openssl.issued(authority, 'tpp.example', EC) };
});

const AES_256 = { oid: '2.16.840.1.101.3.4.1.42', name: 'aes-256-cbc', keyLength: 32 };
const AES_192 = { oid: '2.16.840.1.101.3.4.1.22', name: 'aes-192-cbc', keyLength: 24 };
const AES_128 = { oid: '2.16.840.1.101.3.4.1.2', name: 'aes-128-cbc', keyLength: 16 };
const SHA_256 = { oid: '1.2.840.113549.2.9', hash: 'sha256' };
const hmac = (number: number, hash: string) => ({
  ...{ cipher: AES_256, prf: { oid: `1.2.840.113549.2.${number}`, hash } },
});

const certificates = [certificateBag(small.pair.cert), certificateBag(small.authority.cert)];
const key = plainPart(keyBag(small.pair.key));

function namesIn(bytes: Uint8Array): string[] {
  return readPkcs12(bytes, PASSPHRASE, file).certificates.map((pem) => new X509Certificate(pem).subject);
}

describe('PKCS#12 files of other programs', () => {
  it.each<[string, Omit<Encryption, 'passphrase'>]>([
    ['AES-256 and HMAC with SHA-1', hmac(7, 'sha1')],
    ['AES-256 and no named HMAC', { cipher: AES_256 }],
    ['AES-256 and HMAC with SHA-224', hmac(8, 'sha224')],
    ['AES-256 and HMAC with SHA-256', { cipher: AES_256, prf: SHA_256 }],
    ['AES-256 and HMAC with SHA-384', hmac(10, 'sha384')],
    ['AES-256 and HMAC with SHA-512', hmac(11, 'sha512')],
    ['AES-192', { cipher: AES_192, prf: SHA_256 }],
    ['AES-128', { cipher: AES_128, prf: SHA_256 }],
    ['the length of the key', { cipher: AES_256, prf: SHA_256, hasKeyLength: true }],
    ['the length of the key and no named HMAC', { cipher: AES_256, hasKeyLength: true }],
    ['encrypted content in pieces', { cipher: AES_256, prf: SHA_256, isSplit: true }],
  ])('psd2 opens a PKCS#12 file with %s', (_, how) => {
    const bytes = pkcs12Of(pbes2Part(certificates, { ...how, passphrase: PASSPHRASE }), key);
    expect(namesIn(bytes)).toEqual(['CN=tpp.example', 'CN=Test CA']);
    const { key: found } = readPkcs12(bytes, PASSPHRASE, file);
    expect(new X509Certificate(small.pair.cert).checkPrivateKey(createPrivateKey(found ?? ''))).toBe(true);
  });

  it("the key's own certificate comes first, wherever the file has it", () => {
    const chainFirst = plainPart(...certificates.toReversed());
    expect(namesIn(pkcs12Of(chainFirst, key))).toEqual(['CN=tpp.example', 'CN=Test CA']);
    expect(namesIn(pkcs12Of(chainFirst))).toEqual(['CN=Test CA', 'CN=tpp.example']);
  });

  const shrouded = (pem: string) => shroudedKeyBag(pem, PASSPHRASE);
  it.each<[string, (pem: string) => AsnType, (pem: string) => AsnType]>([
    ['that are not encrypted', keyBag, keyBag],
    ['that are encrypted', shrouded, shrouded],
    ['of which the first is encrypted', shrouded, keyBag],
    ['of which the second is encrypted', keyBag, shrouded],
  ])('psd2 takes the first of several keys %s', (_, first, second) => {
    for (const [own, other] of [
      [small.authority, small.pair],
      [small.pair, small.authority],
    ] as const) {
      const [one, two] = [first(own.key), second(other.key)];
      for (const keys of [[plainPart(one, two)], [plainPart(one), plainPart(two)]]) {
        const read = readPkcs12(pkcs12Of(plainPart(...certificates), ...keys), PASSPHRASE, file);
        expect(read.certificates.map(der)).toEqual([der(own.cert), der(other.cert)]);
        expect(new X509Certificate(own.cert).checkPrivateKey(createPrivateKey(read.key ?? ''))).toBe(true);
      }
    }
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
    const how = { passphrase: PASSPHRASE, cipher: AES_256, prf: SHA_256, ...other };
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
    return expect(() => readPkcs12(bytes, PASSPHRASE, { name: 'tpp.p12', path }));
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
