import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { keyIdOf } from '../../../../../src/bank/interfaces/nextgenpsd2/access/key-id.ts';
import { bankFile } from '../../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { certificateHeader } from '../../../../../src/bank/interfaces/nextgenpsd2/wire/compose.ts';
import { GIVEN_KEY, withOpenssl } from '../../../../certificates/openssl.ts';
import { thrownBy } from '../../../../support/thrown.ts';
import { issuedCertificate } from '../identified.ts';

// Each form of keyId against a fixed text, for certificates that openssl makes with these names and serial numbers.

const PLAIN = issuedCertificate(
  '/C=DE/O=Trust Services/CN=Seal CA 1',
  '/C=IT/O=The App/organizationIdentifier=PSDIT-BI-12345/CN=app.example',
  '0x0A1B2C3D',
);
const ODD = issuedCertificate('/C=DE/O=Bänk, Söhne/CN=A "B" CA', '/CN=x', '0x80');

function keyId(form: object, of = PLAIN): string {
  return keyIdOf(of, bankFile.parse({ interface: 'nextgenpsd2', signing: { keyId: form } }).signing.keyId);
}

const shortName = (type: string) => (type.includes('.') ? `t${type.replaceAll('.', '-')}` : type);

/** A certificate of this subject. @param oids types of its own @param mask which codings OpenSSL may take */
function certificateWith(subject: string, oids: readonly string[] = [], mask = 'utf8only'): X509Certificate {
  const types = oids.map((oid) => `${shortName(oid)} = ${oid}`);
  const config = ['oid_section = types', '[types]', ...types, '[req]', `string_mask = ${mask}`];
  return withOpenssl((openssl) => {
    const files = [
      '-config',
      openssl.write('req.cnf', [...config, 'distinguished_name = dn', '[dn]'].join('\n')),
    ];
    const key = ['-key', openssl.write('given.key', GIVEN_KEY)];
    openssl.run('req', '-x509', '-utf8', ...files, ...key, '-subj', subject, '-out', 'new.pem');
    return new X509Certificate(readFileSync(`${openssl.folder}/new.pem`));
  });
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
  const DC = '0.9.2342.19200300.100.1.25';
  const UID = '0.9.2342.19200300.100.1.1';
  const EMAIL = '1.2.840.113549.1.9.1';
  /** Each type as OpenSSL names it, and as RFC 2253, RFC 1779, Java and .NET do. With dots: the form has no name for it. */
  const TYPES = [
    ['CN', 'CN', 'CN', 'CN', 'CN'],
    ['C', 'C', 'C', 'C', 'C'],
    ['L', 'L', 'L', 'L', 'L'],
    ['ST', 'ST', 'ST', 'ST', 'S'],
    ['street', 'STREET', 'STREET', 'STREET', 'STREET'],
    ['O', 'O', 'O', 'O', 'O'],
    ['OU', 'OU', 'OU', 'OU', 'OU'],
    ['DC', 'DC', DC, 'DC', 'DC'],
    ['UID', 'UID', UID, 'UID', UID],
    ['SN', '2.5.4.4', '2.5.4.4', 'SURNAME', 'SN'],
    ['serialNumber', '2.5.4.5', '2.5.4.5', 'SERIALNUMBER', 'SERIALNUMBER'],
    ['title', '2.5.4.12', '2.5.4.12', 'T', 'T'],
    ['description', '2.5.4.13', '2.5.4.13', '2.5.4.13', '2.5.4.13'],
    ['businessCategory', '2.5.4.15', '2.5.4.15', '2.5.4.15', '2.5.4.15'],
    ['postalCode', '2.5.4.17', '2.5.4.17', '2.5.4.17', '2.5.4.17'],
    ['GN', '2.5.4.42', '2.5.4.42', 'GIVENNAME', 'G'],
    ['initials', '2.5.4.43', '2.5.4.43', 'INITIALS', 'I'],
    ['generationQualifier', '2.5.4.44', '2.5.4.44', 'GENERATION', '2.5.4.44'],
    ['dnQualifier', '2.5.4.46', '2.5.4.46', 'DNQ', '2.5.4.46'],
    ['pseudonym', '2.5.4.65', '2.5.4.65', '2.5.4.65', '2.5.4.65'],
    ['organizationIdentifier', '2.5.4.97', '2.5.4.97', '2.5.4.97', '2.5.4.97'],
    ['emailAddress', EMAIL, EMAIL, 'EMAILADDRESS', 'E'],
    // Types without any name: of each root, with the last number that one byte has and the first that it has not.
    ...['1.3.127', '2.39.128', '2.999.16383', '0.39.16384'].map((oid) => [oid, oid, oid, oid, oid]),
  ];
  const NAMED = certificateWith(
    TYPES.map(([type = '']) => `/${shortName(type)}=XX`).join(''),
    TYPES.flatMap(([type = '']) => (type.includes('.') ? [type] : [])),
  );

  const XX = /^XX$/;
  it.each([
    ['openssl', 0, ',', '', XX],
    ['rfc2253', 1, ',', '', /^#(?:0C|13|16)025858$/],
    ['rfc2253-oid', 1, ',', '', /^#(?:0c|13|16)025858$/],
    ['rfc1779', 2, ', ', 'OID.', XX],
    ['java', 3, ', ', 'OID.', XX],
    ['dotnet', 4, ', ', 'OID.', XX],
  ] as const)(
    'has the short names of the form %s, and dots for the other types',
    (format, column, separator, prefix, valueOfOther) => {
      const isOther = (type: string) => type.includes('.');
      const types = TYPES.map((row) => row[column] ?? '').reverse();
      const name = keyId({ ...OF_SUBJECT, format }, NAMED).split(separator);
      const parts = name.map((each) => each.split('='));
      expect(parts.map(([type]) => type)).toEqual(
        types.map((type) => (isOther(type) ? `${prefix}${type}` : type)),
      );
      for (const [at, [, value]] of parts.entries())
        expect(value).toMatch(isOther(types[at] ?? '') ? valueOfOther : XX);
    },
  );

  it('has the names of OpenSSL in one line, in the order of the certificate', () => {
    expect(keyId({ ...OF_SUBJECT, format: 'one-line' }, NAMED)).toBe(
      TYPES.map(([type]) => `/${type}=XX`).join(''),
    );
  });

  const long = 'x'.repeat(300);
  // How a value is escaped, and how it is in quotes.
  it.each([
    ['plain', 'a b-c.d/e', 'a b-c.d/e', 'a b-c.d/e'],
    ['a comma', 'a,b', String.raw`a\,b`, String.raw`\"a,b\"`],
    ['a plus', 'a+b', String.raw`a\+b`, String.raw`\"a+b\"`],
    ['a quotation mark', 'a"b', String.raw`a\"b`, String.raw`\"ab\"`],
    ['a backslash', String.raw`a\b`, String.raw`a\\b`, String.raw`\"a\b\"`],
    ['less', 'a<b', String.raw`a\<b`, String.raw`\"a<b\"`],
    ['greater', 'a>b', String.raw`a\>b`, String.raw`\"a>b\"`],
    ['a semicolon', 'a;b', String.raw`a\;b`, String.raw`\"a;b\"`],
    ['an equals sign', 'a=b', 'a=b', String.raw`\"a=b\"`],
    ['a number sign first', '#a', String.raw`\#a`, String.raw`\"#a\"`],
    ['a number sign in it', 'a#', 'a#', String.raw`\"a#\"`],
    ['a blank first', ' a', String.raw`\ a`, String.raw`\" a\"`],
    ['a blank last', 'a ', String.raw`a\ `, String.raw`\"a \"`],
    ['a line break', 'a\nb', String.raw`a\0Ab`, String.raw`\"a\0Ab\"`],
    ['letters of other alphabets', 'ßЖ', String.raw`\C3\9F\D0\96`, String.raw`\C3\9F\D0\96`],
    ['more than a short length', long.slice(0, 200), long.slice(0, 200), long.slice(0, 200)],
    ['more than a length of one byte', long, long, long],
  ])('writes a value with %s', (_, value, escaped, quoted) => {
    const certificate = certificateWith(`/O=A/description=${value.replace(/[/\\+]/g, '\\$&')}`);
    const written = (format: string) => keyId({ ...OF_SUBJECT, format }, certificate);
    expect(written('openssl')).toBe(`description=${escaped},O=A`);
    expect(written('java')).toBe(`OID.2.5.4.13=${quoted}, O=A`);
  });

  it.each([
    // Latin-1, and two bytes a character, as old authorities wrote them.
    ['Bänk', '/O=B\\xC3\\xA4nk'],
    ['Жaß', '/O=\\xD0\\x96a\\xC3\\x9F'],
  ])('reads %s in an old coding', (value, written) => {
    expect(keyId({ ...OF_SUBJECT, format: 'one-line' }, certificateWith(`/O=${value}`, [], 'default'))).toBe(
      written,
    );
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

  it.each(['PSDDE-BAFIN-12+34', 'PSDPL-PFSA-a,b', 'PSDIT-BI-"x"', 'PSDIT-BI-a;b', '#1'])(
    'the organization identifier %s is written as the certificate has it',
    (id) => {
      const certificate = certificateWith(`/organizationIdentifier=${id.replace(/[+,;"]/g, '\\$&')}/CN=x`);
      expect(keyId({ form: 'organization-id' }, certificate)).toBe(id);
      expect(keyId({ form: 'id-{organizationId}' }, certificate)).toBe(`id-${id}`);
    },
  );

  it('a certificate without an organization identifier cannot name the application by it', () => {
    expect(thrownBy(() => keyId({ form: 'organization-id' }, ODD))).toMatchObject({
      code: 'certificate',
      message: expect.stringMatching(
        /^The .+ has no organization identifier, which names the application here$/,
      ),
      hint: 'Use an eIDAS certificate, or a bank file with another signing.keyId or oauth.clientId.',
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
