import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readCertificateFile } from '../../src/certificates/certificate-file.ts';
import { WrongPassphrase } from '../../src/certificates/key-pair.ts';
import { EC, withOpenssl } from './openssl.ts';
import { partEncryptedWith, pkcs12Of } from './pkcs12-file.ts';

const PASSPHRASE = 'hush hush';

const made = withOpenssl((openssl) => {
  const authority = openssl.authority('Test CA');
  const pair = openssl.issued(authority, 'tpp.example', EC);
  const key = ['-in', openssl.write('pair.key', pair.key)];
  const pass = ['-passout', `pass:${PASSPHRASE}`];
  const pack = (...how: string[]) => {
    const input = ['-in', openssl.write('pair.pem', pair.cert), '-inkey', 'pair.key', '-out', 'new.p12'];
    openssl.run('pkcs12', '-export', ...input, ...pass, ...how);
    return readFileSync(join(openssl.folder, 'new.p12'));
  };
  return {
    authority,
    pair,
    keys: {
      'PKCS#8': pair.key,
      EC: openssl.run('ec', ...key),
      'encrypted PKCS#8': openssl.run('pkcs8', '-topk8', ...key, ...pass),
      'encrypted EC': openssl.run('ec', ...key, '-aes256', ...pass),
    },
    pkcs12: pack(),
    pkcs12WithoutCertificate: pack('-nocerts'),
  };
});

const { cert } = made.pair;
const chain = cert + made.authority.cert;
const der = (pem: string) => new X509Certificate(pem).raw;

const read = (content: string | Uint8Array, passphrase?: string) =>
  readCertificateFile(Buffer.from(content), passphrase, 'tpp.pem');

async function namesIn(content: string | Uint8Array, passphrase?: string): Promise<string[]> {
  return (await read(content, passphrase)).certificates.map(({ subject }) => subject);
}

describe('a certificate file', () => {
  it.each([
    ['a PEM certificate', cert, ['CN=tpp.example']],
    ['a PEM certificate with its chain', chain, ['CN=tpp.example', 'CN=Test CA']],
    ['a chain from the root', made.authority.cert + cert, ['CN=Test CA', 'CN=tpp.example']],
    ['a PEM certificate with text around it', `Caffè\n${cert}end`, ['CN=tpp.example']],
    ['a PEM certificate after its key', made.pair.key + cert, ['CN=tpp.example']],
    ['a DER certificate', der(cert), ['CN=tpp.example']],
  ])('psd2 reads %s', async (_, content, names) => {
    expect(await namesIn(content)).toEqual(names);
  });

  it.each(Object.entries(made.keys))('psd2 finds a key in the form %s in a PEM file', async (_, key) => {
    for (const content of [cert + key, `${key}\n${chain}`, `${cert}${key}${made.authority.cert}`]) {
      const { key: found } = await read(content);
      expect(found).toBe(key.trim());
      expect(
        new X509Certificate(cert).checkPrivateKey(
          createPrivateKey({ key: found ?? '', passphrase: PASSPHRASE }),
        ),
      ).toBe(true);
    }
  });

  it('a file with certificates alone has no key', async () => {
    for (const content of [chain, der(cert)]) expect((await read(content)).key).toBeUndefined();
  });

  it('psd2 takes the first of several keys', async () => {
    expect((await read(cert + made.pair.key + made.authority.key)).key).toBe(made.pair.key.trim());
  });

  it('psd2 reads certificate and key from a PKCS#12 file with its passphrase', async () => {
    expect(await namesIn(made.pkcs12, PASSPHRASE)).toEqual(['CN=tpp.example']);
    const { key } = await read(made.pkcs12, PASSPHRASE);
    expect(new X509Certificate(cert).checkPrivateKey(createPrivateKey(key ?? ''))).toBe(true);
  });

  it('the error for a wrong passphrase of a PKCS#12 file names the file', async () => {
    const opened = read(made.pkcs12, 'another');
    await expect(opened).rejects.toBeInstanceOf(WrongPassphrase);
    await expect(opened).rejects.toThrow('The passphrase does not open the PKCS#12 file tpp.pem');
  });

  it('the command that converts an old PKCS#12 file names the file', async () => {
    const old = pkcs12Of(partEncryptedWith('1.2.840.113549.1.12.1.3'));
    await expect(readCertificateFile(old, PASSPHRASE, '/keys of mine/tpp.p12')).rejects.toMatchObject({
      message: 'The PKCS#12 file /keys of mine/tpp.p12 is encrypted with triple DES, which is no longer safe',
      hint: expect.stringContaining("-in '/keys of mine/tpp.p12' -out '/keys of mine/tpp.pem'"),
    });
  });

  it.each([
    ['an empty file', ''],
    ['text', 'hello'],
    ['a key alone', made.pair.key],
    ['a damaged certificate', cert.replace('MII', '???')],
    ['a damaged certificate after a good one', cert + made.authority.cert.replace('MII', '???')],
    ['half a DER certificate', der(cert).subarray(0, 100)],
    ['a PKCS#12 file with a key alone', made.pkcs12WithoutCertificate],
  ])('psd2 says that %s has no readable certificate', async (_, content) => {
    await expect(read(content, PASSPHRASE)).rejects.toMatchObject({
      code: 'certificate',
      message: 'tpp.pem has no readable certificate',
      hint: 'Use a PEM (-----BEGIN CERTIFICATE-----), DER or PKCS#12 file.',
    });
  });

  it.each(['CERTIFICATE REQUEST', 'NEW CERTIFICATE REQUEST'])(
    'psd2 says that a file with a %s is one, and what to give',
    async (what) => {
      const request = `-----BEGIN ${what}-----\nMIIB\n-----END ${what}-----\n`;
      for (const content of [request, made.pair.key + request])
        await expect(read(content)).rejects.toMatchObject({
          code: 'certificate',
          message: 'tpp.pem is a certificate request, not a certificate',
          hint: 'Give the certificate that the authority has issued for it.',
        });
    },
  );
});
