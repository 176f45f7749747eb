import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { withOpenssl } from '../../../certificates/openssl.ts';
import { scriptedCalls } from './scripted.ts';

/** A certificate of an organisation. */
export const certificateOf = (subject: string) =>
  withOpenssl((openssl) => {
    const key = openssl.write('given.key', readFileSync('test/vectors/cavage-test-key.pem', 'utf8'));
    openssl.run('req', '-x509', '-utf8', '-key', key, '-subj', subject, '-out', 'q.pem');
    return new X509Certificate(readFileSync(`${openssl.folder}/q.pem`));
  });
/** A certificate with a serial number, of an issuer. */
export const issuedCertificate = (issuer: string, subject: string, serial: string) =>
  withOpenssl((openssl) => {
    const file = openssl.write('given.key', readFileSync('test/vectors/cavage-test-key.pem', 'utf8'));
    const made = ['req', '-x509', '-utf8', '-days', '2', '-key', file, '-subj'];
    openssl.run(...made, issuer, '-out', 'ca.pem');
    const signed = ['-CA', 'ca.pem', '-CAkey', file, '-set_serial', serial, '-out', 'new.pem'];
    openssl.run(...made, subject, ...signed);
    return new X509Certificate(readFileSync(`${openssl.folder}/new.pem`));
  });
const qwacCertificate = certificateOf('/C=IT/O=  Caffè & Söhne (Torino)  /CN=x');

/** {@link scriptedCalls} of an organisation, which a pain.001 names. */
export function identifiedCalls(
  answers: Parameters<typeof scriptedCalls>[0],
  file: Parameters<typeof scriptedCalls>[1],
  qwac = qwacCertificate,
) {
  const script = scriptedCalls(answers, file);
  const { settings } = script.calls;
  const identity = {
    ...{ applicationName: '', signer: settings.identity.signer, tppCertificate: 'none' as const },
    ...{ signingCertificate: qwac, qwacCertificate: qwac },
  };
  return { ...script, calls: { ...script.calls, settings: { ...settings, identity } } };
}
