import { KeyObject, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';

const HOUR = 3_600_000;

/**
 * Makes a self-signed server certificate for an `https:` address on this computer: EC P-256, valid for a day.
 * Browsers show a warning. Each use makes a new certificate, and its key is never stored.
 *
 * @param hostnames in the format of a URL: `localhost`, `127.0.0.1`, `[::1]`.
 * @returns certificate and key, both PEM.
 */
export async function makeLoopbackCertificate(hostnames: string[]): Promise<{ cert: string; key: string }> {
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const now = Date.now();
  const names = hostnames.map((hostname) => hostname.replace(/[[\]]/g, ''));
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    {
      name: 'CN=psd2 on this computer',
      // Slightly in the past, for a browser with another clock (a virtual machine's host).
      notBefore: new Date(now - HOUR),
      notAfter: new Date(now + 24 * HOUR),
      signingAlgorithm: algorithm,
      keys,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        new x509.SubjectAlternativeNameExtension(
          names.map((value) => ({ type: isIP(value) === 0 ? 'dns' : 'ip', value })),
        ),
      ],
    },
    webcrypto,
  );
  return {
    cert: certificate.toString('pem'),
    key: KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}
