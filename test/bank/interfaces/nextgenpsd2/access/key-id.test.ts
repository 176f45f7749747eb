import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { keyIdOf } from '../../../../../src/bank/interfaces/nextgenpsd2/access/key-id.ts';
import { bankFile } from '../../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { certificateHeader } from '../../../../../src/bank/interfaces/nextgenpsd2/wire/compose.ts';
import { thrownBy } from '../../../../support/thrown.ts';
import { issuedCertificate } from '../identified.ts';

// Each form of keyId against a fixed text, for certificates that openssl makes with these names and serial numbers.

const PLAIN = issuedCertificate(
  '/C=DE/O=Trust Services/CN=Seal CA 1',
  '/C=IT/O=The App/organizationIdentifier=PSDIT-BI-12345/CN=app.example',
  '0x0A1B2C3D',
);
const RARE = issuedCertificate('/CN=x', '/DC=it/ST=RM/serialNumber=42/emailAddress=a@bd', '0x01');
const ODD = issuedCertificate('/C=DE/O=Bänk, Söhne/CN=A "B" CA', '/CN=x', '0x80');

function keyId(form: object, of = PLAIN): string {
  return keyIdOf(of, bankFile.parse({ interface: 'nextgenpsd2', signing: { keyId: form } }).signing.keyId);
}

describe('the keyId of a signature', () => {
  const OF_APP = 'SN=a1b2c3d,CA=CN=app.example,2.5.4.97=#0C0E50534449542D42492D3132333435,O=The App,C=IT';
  const NO_BLANKS = 'SN=a1b2c3d, CA=CN=SealCA1,O=TrustServices,C=DE';
  const ISSUER = 'CN=Seal CA 1,O=Trust Services,C=DE';
  it.each([
    ['the standard’s', {}, `SN=a1b2c3d,CA=${ISSUER}`],
    ['upper case', { case: 'upper' }, `SN=A1B2C3D,CA=${ISSUER}`],
    ['decimal', { serial: 'decimal' }, `SN=169552957,CA=${ISSUER}`],
    ['decimal has no case', { serial: 'decimal', case: 'upper' }, `SN=169552957,CA=${ISSUER}`],
    ['the subject', { dn: 'subject' }, OF_APP],
    ['RFC 1779', { format: 'rfc1779' }, 'SN=a1b2c3d,CA=CN=Seal CA 1, O=Trust Services, C=DE'],
    ['%20', { spaces: 'percent' }, 'SN=a1b2c3d,CA=CN=Seal%20CA%201,O=Trust%20Services,C=DE'],
    ['no blanks', { spaces: 'strip', format: 'rfc1779' }, 'SN=a1b2c3d,CA=CN=SealCA1,O=TrustServices,C=DE'],
    ['a separator', { separator: ', ' }, `SN=a1b2c3d, CA=${ISSUER}`],
    ['a separator keeps its blank', { separator: ', ', spaces: 'strip' }, NO_BLANKS],
    ['the number alone', { form: 'sn', case: 'upper' }, 'SN=A1B2C3D'],
    ['the organization', { form: 'organization-id' }, 'PSDIT-BI-12345'],
    ['a fixed text', { form: 'my-client-id' }, 'my-client-id'],
  ])('%s', (_name, form, expected) => {
    expect(keyId(form)).toBe(expected);
  });

  const OF_SUBJECT = { form: '{dn}', dn: 'subject' };
  it.each([
    ['rfc2253-oid', 'CN=app.example,2.5.4.97=#0c0e50534449542d42492d3132333435,O=The App,C=IT'],
    ['openssl', 'CN=app.example,organizationIdentifier=PSDIT-BI-12345,O=The App,C=IT'],
    ['rfc1779', 'CN=app.example, OID.2.5.4.97=PSDIT-BI-12345, O=The App, C=IT'],
    ['java', 'CN=app.example, OID.2.5.4.97=PSDIT-BI-12345, O=The App, C=IT'],
    ['dotnet', 'CN=app.example, OID.2.5.4.97=PSDIT-BI-12345, O=The App, C=IT'],
    ['one-line', '/C=IT/O=The App/organizationIdentifier=PSDIT-BI-12345/CN=app.example'],
  ])('names all types of attributes in the form %s', (format, expected) => {
    expect(keyId({ ...OF_SUBJECT, format })).toBe(expected);
  });

  it.each([
    ['rfc2253', '1.2.840.113549.1.9.1=#160461406264,2.5.4.5=#13023432,ST=RM,DC=it'],
    ['openssl', 'emailAddress=a@bd,serialNumber=42,ST=RM,DC=it'],
    ['rfc1779', 'OID.1.2.840.113549.1.9.1=a@bd, OID.2.5.4.5=42, ST=RM, OID.0.9.2342.19200300.100.1.25=it'],
    ['java', 'EMAILADDRESS=a@bd, SERIALNUMBER=42, ST=RM, DC=it'],
    ['dotnet', 'E=a@bd, SERIALNUMBER=42, S=RM, DC=it'],
    ['one-line', '/DC=it/ST=RM/serialNumber=42/emailAddress=a@bd'],
  ])('has the short names of the form %s', (format, expected) => {
    expect(keyId({ ...OF_SUBJECT, format }, RARE)).toBe(expected);
  });

  it.each([
    ['hex', '80', 'a1b2c3d'],
    ['hex-even', '80', '0a1b2c3d'],
    ['hex-der', '0080', '0a1b2c3d'],
    ['decimal', '128', '169552957'],
  ])('writes the zeros of a serial number as %s says', (serial, high, odd) => {
    expect(keyId({ form: 'serial', serial }, ODD)).toBe(high);
    expect(keyId({ form: 'SN={serial},DN=x', serial })).toBe(`SN=${odd},DN=x`);
  });

  it('special characters are escaped so that a header can carry them', () => {
    expect(keyId({}, ODD)).toBe(String.raw`SN=80,CA=CN=A \"B\" CA,O=B\C3\A4nk\, S\C3\B6hne,C=DE`);
    expect(keyId({ format: 'rfc1779' }, ODD)).toBe(
      String.raw`SN=80,CA=CN=\"A B CA\", O=\"B\C3\A4nk, S\C3\B6hne\", C=DE`,
    );
  });

  it('a certificate without an organization identifier cannot name the application by it', () => {
    expect(thrownBy(() => keyId({ form: 'organization-id' }, ODD))).toMatchObject({
      code: 'certificate',
      message: expect.stringContaining('organization identifier'),
    });
  });
});

describe('TPP-Signature-Certificate', () => {
  const pem = PLAIN.toString();
  it('is the DER or the PEM in base64', () => {
    const der = Buffer.from(certificateHeader(PLAIN, 'der'), 'base64');
    expect(new X509Certificate(der).serialNumber).toBe('0A1B2C3D');
    expect(Buffer.from(certificateHeader(PLAIN, 'pem'), 'base64').toString()).toBe(pem);
  });

  it('is the PEM on one line', () => {
    expect(certificateHeader(PLAIN, 'pem-line')).toBe(pem.split('\n').join(''));
    expect(certificateHeader(PLAIN, 'pem-line')).toMatch(
      /^-----BEGIN CERTIFICATE-----[\w+/=]+-----END CERTIFICATE-----$/,
    );
  });
});
