import { createPrivateKey, X509Certificate } from 'node:crypto';
import 'reflect-metadata';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  KeyUsageFlags,
  KeyUsagesExtension,
  X509Certificate as PeculiarCertificate,
} from '@peculiar/x509';
import { expect, it } from 'vitest';
import { makeLoopbackCertificate } from '../../src/certificates/loopback.ts';

it('psd2 makes a server certificate for names and addresses of this computer, valid for a day', async () => {
  const { cert, key } = await makeLoopbackCertificate(['localhost', '127.0.0.1', '[::1]']);
  const certificate = new X509Certificate(cert);
  const privateKey = createPrivateKey(key);
  expect(certificate.checkPrivateKey(privateKey)).toBe(true);
  expect(certificate.verify(certificate.publicKey)).toBe(true);
  expect(privateKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
  expect(certificate.checkHost('localhost')).toBe('localhost');
  expect(certificate.checkIP('127.0.0.1')).toBe('127.0.0.1');
  expect(certificate.checkIP('::1')).toBe('::1');
  expect(certificate.checkHost('bank.example')).toBeUndefined();
  expect(certificate.ca).toBe(false);
  expect(certificate.subject).toBe('CN=psd2 on this computer');
  expect(certificate.keyUsage).toEqual([ExtendedKeyUsage.serverAuth]);
  const parsed = new PeculiarCertificate(cert);
  expect(parsed.getExtension(BasicConstraintsExtension)).toMatchObject({ ca: false, critical: true });
  expect(parsed.getExtension(KeyUsagesExtension)).toMatchObject({
    usages: KeyUsageFlags.digitalSignature,
    critical: true,
  });
  const validity = Date.parse(certificate.validTo) - Date.now();
  expect(validity).toBeGreaterThan(23 * 3_600_000);
  expect(validity).toBeLessThanOrEqual(24 * 3_600_000);
  // A browser's clock may be behind.
  expect(Date.parse(certificate.validFrom)).toBeLessThanOrEqual(Date.now() - 3_600_000);
});

it('psd2 makes a new key each time', async () => {
  const [first, second] = await Promise.all([
    makeLoopbackCertificate(['localhost']),
    makeLoopbackCertificate(['localhost']),
  ]);
  expect(first.key).not.toBe(second.key);
});
