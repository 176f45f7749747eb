import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { certificateHeader } from '../../../../src/bank/interfaces/nextgenpsd2/compose.ts';
import { keyIdOf } from '../../../../src/bank/interfaces/nextgenpsd2/key-id.ts';
import { bankFile } from '../../../../src/bank-file/schema.ts';
import { withOpenssl } from '../../../certificates/openssl.ts';

// Each form of keyId against a fixed text, for certificates that openssl makes with these names and serial numbers.

function certificate(issuer: string, subject: string, serial: string): X509Certificate {
  return withOpenssl((openssl) => {
    const key = readFileSync('test/vectors/cavage-test-key.pem', 'utf8');
    const file = openssl.write('given.key', key);
    const made = ['req', '-x509', '-utf8', '-days', '2', '-key', file];
    openssl.run(...made, '-subj', issuer, '-out', 'ca.pem');
    openssl.run(
      ...made,
      '-subj',
      subject,
      '-CA',
      'ca.pem',
      '-CAkey',
      file,
      '-set_serial',
      serial,
      '-out',
      'new.pem',
    );
    return new X509Certificate(readFileSync(`${openssl.folder}/new.pem`, 'utf8'));
  });
}

const PLAIN = certificate(
  '/C=DE/O=Trust Services/CN=Seal CA 1',
  '/C=IT/O=The App/organizationIdentifier=PSDIT-BI-12345/CN=app.example',
  '0x0A1B2C3D',
);
const ODD = certificate('/C=DE/O=Bänk, Söhne/CN=A "B" CA', '/CN=x', '0x80');

function keyId(form: object, of = PLAIN): string {
  return keyIdOf(of, bankFile.parse({ interface: 'nextgenpsd2', signing: { keyId: form } }).signing.keyId);
}

describe('the keyId of a signature', () => {
  it.each([
    ['the standard’s', {}, 'SN=a1b2c3d,CA=CN=Seal CA 1,O=Trust Services,C=DE'],
    ['upper case', { case: 'upper' }, 'SN=A1B2C3D,CA=CN=Seal CA 1,O=Trust Services,C=DE'],
    ['decimal', { serial: 'decimal' }, 'SN=169552957,CA=CN=Seal CA 1,O=Trust Services,C=DE'],
    [
      'decimal has no case',
      { serial: 'decimal', case: 'upper' },
      'SN=169552957,CA=CN=Seal CA 1,O=Trust Services,C=DE',
    ],
    [
      'the subject',
      { dn: 'subject' },
      'SN=a1b2c3d,CA=CN=app.example,organizationIdentifier=PSDIT-BI-12345,O=The App,C=IT',
    ],
    ['RFC 1779', { format: 'rfc1779' }, 'SN=a1b2c3d,CA=CN=Seal CA 1, O=Trust Services, C=DE'],
    ['%20', { spaces: 'percent' }, 'SN=a1b2c3d,CA=CN=Seal%20CA%201,O=Trust%20Services,C=DE'],
    ['no blanks', { spaces: 'strip', format: 'rfc1779' }, 'SN=a1b2c3d,CA=CN=SealCA1,O=TrustServices,C=DE'],
    ['a separator', { separator: ', ' }, 'SN=a1b2c3d, CA=CN=Seal CA 1,O=Trust Services,C=DE'],
    [
      'a separator keeps its blank',
      { separator: ', ', spaces: 'strip' },
      'SN=a1b2c3d, CA=CN=SealCA1,O=TrustServices,C=DE',
    ],
    ['the number alone', { form: 'sn', case: 'upper' }, 'SN=A1B2C3D'],
    ['the organization', { form: 'organization-id' }, 'PSDIT-BI-12345'],
    ['a fixed text', { form: 'my-client-id' }, 'my-client-id'],
  ])('%s', (_name, form, expected) => {
    expect(keyId(form)).toBe(expected);
  });

  it('special characters are escaped so that a header can carry them', () => {
    expect(keyId({}, ODD)).toBe(String.raw`SN=80,CA=CN=A \"B\" CA,O=B\C3\A4nk\, S\C3\B6hne,C=DE`);
    expect(keyId({ format: 'rfc1779' }, ODD)).toBe(
      String.raw`SN=80,CA=CN=\"A B CA\", O=\"B\C3\A4nk, S\C3\B6hne\", C=DE`,
    );
  });

  it('a certificate without an organization identifier cannot name the application by it', () => {
    expect(() => keyId({ form: 'organization-id' }, ODD)).toThrow(
      expect.objectContaining({
        code: 'certificate',
        message: expect.stringContaining('organization identifier'),
      }),
    );
  });
});

describe('TPP-Signature-Certificate', () => {
  const pem = PLAIN.toString();
  it('is the DER in base64', () => {
    expect(new X509Certificate(Buffer.from(certificateHeader(PLAIN, 'der'), 'base64')).serialNumber).toBe(
      '0A1B2C3D',
    );
  });

  it('is the PEM in base64', () => {
    expect(Buffer.from(certificateHeader(PLAIN, 'pem'), 'base64').toString()).toBe(pem);
  });

  it('is the PEM on one line', () => {
    expect(certificateHeader(PLAIN, 'pem-line')).toBe(pem.split('\n').join(''));
    expect(certificateHeader(PLAIN, 'pem-line')).toMatch(
      /^-----BEGIN CERTIFICATE-----[\w+/=]+-----END CERTIFICATE-----$/,
    );
  });
});
