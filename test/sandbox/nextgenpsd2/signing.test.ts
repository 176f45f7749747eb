import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  type Bank,
  type DoorClient,
  type DoorRequest,
  newDoor,
  refusalOf,
  textOf,
  useDoor,
} from './door-client.ts';

/** A reading of an unknown consent: if the error is about the consent, everything before it was right. */
const PATH = '/v1/consents/unknown/status';
const RIGHT = '403 CONSENT_UNKNOWN';
const CERTIFICATE = 'tpp-signature-certificate';
const WRONG = '401 SIGNATURE_INVALID Signature';

const door = await useDoor();

async function ask(client: DoorClient, call: Omit<DoorRequest, 'path'> = {}): Promise<string> {
  return refusalOf(await client.send({ path: PATH, ...call }));
}

test('a request signed as the standard says is right', async () => {
  expect(await ask(door.client)).toBe(RIGHT);
});

test('every answer repeats X-Request-ID, a refusal too', async () => {
  const id = randomUUID();
  const { headers } = await door.client.get(PATH, undefined, { 'x-request-id': id });
  expect(headers['x-request-id']).toBe(id);
});

test.each(['not-a-uuid', '019a9c2e-7d1a-7c1e-8b1a-0123456789ab', null])(
  'X-Request-ID %s is refused',
  async (id) => {
    const reply = await door.client.send({ path: PATH, spoiled: { 'x-request-id': id } });
    expect(refusalOf(reply)).toBe('400 FORMAT_ERROR X-Request-ID');
  },
);

test('a wrong signature gets the signing string that the bank expected', async () => {
  const id = randomUUID();
  const headers = { 'x-request-id': id };
  const reply = await door.client.send({ path: PATH, headers, key: door.client.tls.key });
  expect(refusalOf(reply)).toBe(WRONG);
  const digest = 'SHA-256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=';
  expect(textOf(reply)).toMatch(
    new RegExp(`Signing string:\ndigest: ${digest.replace(/[+/]/g, '\\$&')}\nx-request-id: ${id}$`),
  );
  expect(textOf(reply)).toContain("a signature with the QWAC's key");
});

const certificateIs = (value: string | null) => ({ spoiled: { [CERTIFICATE]: value } });
test.each<[string, Omit<DoorRequest, 'path'>, string]>([
  ['no Signature', { spoiled: { signature: null } }, '401 SIGNATURE_MISSING Signature'],
  ['no certificate', certificateIs(null), '401 CERTIFICATE_MISSING TPP-Signature-Certificate'],
  ['another one', certificateIs('AAAA'), '401 CERTIFICATE_INVALID TPP-Signature-Certificate'],
  ['no Digest', { spoiled: { digest: null } }, '400 FORMAT_ERROR Digest'],
  ['another Digest', { spoiled: { digest: 'SHA-256=AAAA' } }, '400 FORMAT_ERROR Digest'],
  ['headers in another order', { signed: ['x-request-id', 'digest'] }, WRONG],
  ['more signed headers', { signed: ['digest', 'x-request-id', 'accept'] }, WRONG],
  ['another keyId', { keyId: 'SN=1,CA=CN=nobody' }, WRONG],
  ['another algorithm', { algorithm: 'rsa-sha512' }, WRONG],
  ['blanks in the header', { spoiled: { signature: 'keyId="x", algorithm="rsa-sha256"' } }, WRONG],
])('%s is refused', async (_, call, refusal) => {
  expect(await ask(door.client, call)).toBe(refusal);
});

describe('signing.keyId', () => {
  const issuer = 'CN=psd2 sandbox CA - not for production,C=IT';
  type KeyId = NonNullable<NonNullable<Bank['signing']>['keyId']>;
  const forms: [KeyId, (serial: string) => string][] = [
    [{ form: 'sn' }, (serial) => `SN=${serial}`],
    [{ case: 'upper' }, (serial) => `SN=${serial.toUpperCase()},CA=${issuer}`],
    [{ serial: 'decimal' }, (serial) => `SN=${BigInt(`0x${serial}`)},CA=${issuer}`],
    [{ separator: ', ' }, (serial) => `SN=${serial}, CA=${issuer}`],
    [{ spaces: 'percent' }, (serial) => `SN=${serial},CA=${issuer.replaceAll(' ', '%20')}`],
    [{ spaces: 'strip' }, (serial) => `SN=${serial},CA=${issuer.replaceAll(' ', '')}`],
    [{ format: 'rfc1779' }, (serial) => `SN=${serial},CA=${issuer.replace(',', ', ')}`],
    [{ form: 'organization-id' }, () => 'PSDIT-BI-12345'],
    [{ form: 'our-client' }, () => 'our-client'],
  ];
  test.each(forms)('%j: that form is right, and every other one is refused', async (keyId, write) => {
    const { client } = await newDoor({ signing: { keyId } });
    const right = write(client.serial);
    expect(await ask(client, { keyId: right })).toBe(RIGHT);
    expect(await ask(client)).toBe(WRONG);
    for (const other of forms.map(([, each]) => each(client.serial)))
      if (other !== right) expect(await ask(client, { keyId: other })).toBe(WRONG);
  });

  const DER = `0c0e${Buffer.from('PSDIT-BI-12345').toString('hex')}`;
  test.each([
    ['rfc2253', `2.5.4.97=#${DER.toUpperCase()}`, ','],
    ['rfc2253-oid', `2.5.4.97=#${DER}`, ','],
    ['openssl', 'organizationIdentifier=PSDIT-BI-12345', ','],
    ['java', 'OID.2.5.4.97=PSDIT-BI-12345', ', '],
    ['one-line', 'organizationIdentifier=PSDIT-BI-12345', '/'],
  ] as const)('the subject in place of the issuer, in the format %s', async (format, spelling, separator) => {
    const { client } = await newDoor({ signing: { keyId: { dn: 'subject', format } } });
    const names = client.seal.subject.replace(/^organizationIdentifier=.*$/m, spelling).split('\n');
    const name = separator === '/' ? `/${names.join('/')}` : names.reverse().join(separator);
    expect(await ask(client, { keyId: `SN=${client.serial},CA=${name}` })).toBe(RIGHT);
    const other = name.replace(spelling, '2.5.4.97=PSDIT-BI-12345');
    expect(await ask(client, { keyId: `SN=${client.serial},CA=${other}` })).toBe(WRONG);
  });

  test('a fixed text with parts of the certificate, and the zeros of its serial number', async () => {
    const keyId = { form: '{serial}/{organizationId}', serial: 'hex-even' } as const;
    const { client } = await newDoor({ signing: { keyId } });
    const serial = client.seal.serialNumber.toLowerCase();
    expect(await ask(client, { keyId: `${serial}/PSDIT-BI-12345` })).toBe(RIGHT);
    expect(await ask(client, { keyId: `00${serial}/PSDIT-BI-12345` })).toBe(WRONG);
  });
});

describe('the other fields of signing', () => {
  test('when never: nothing of a signature may come', async () => {
    const { client } = await newDoor({ signing: { when: 'never' } });
    expect(await ask(client, { unsigned: true })).toBe(RIGHT);
    expect(await ask(client)).toBe('400 FORMAT_ERROR Digest');
  });

  test('when with-body: a request without a body must not be signed, one with a body must', async () => {
    const { client } = await newDoor({ signing: { when: 'with-body' } });
    expect(await ask(client, { unsigned: true })).toBe(RIGHT);
    expect(await ask(client)).toBe('400 FORMAT_ERROR Digest');
    const present = { headers: { 'psu-ip-address': '192.0.2.1' } };
    const post = { method: 'POST', path: '/v1/consents', body: {}, ...present } as const;
    expect(refusalOf(await client.send({ ...post, unsigned: true }))).toBe('401 SIGNATURE_MISSING Signature');
    expect((await client.send(post)).status).toBe(400);
  });

  test('headers and ifSent say what is signed, in their order', async () => {
    const signing = {
      headers: ['(request-target)', 'x-request-id', 'digest'],
      ifSent: ['date', 'psu-ip-address'],
    };
    const { client } = await newDoor({ signing });
    expect(await ask(client, { signed: signing.headers })).toBe(RIGHT);
    expect(await ask(client)).toBe(WRONG);
    const present = { headers: { 'psu-ip-address': '192.0.2.1' } };
    expect(await ask(client, { ...present, signed: [...signing.headers, 'psu-ip-address'] })).toBe(RIGHT);
    expect(await ask(client, { ...present, signed: signing.headers })).toBe(WRONG);
  });

  test('emptyBodyDigest false: a request without a body has no Digest', async () => {
    const { client } = await newDoor({ signing: { emptyBodyDigest: false } });
    expect(await ask(client, { headers: { digest: null }, signed: ['x-request-id'] })).toBe(RIGHT);
    expect(await ask(client)).toBe('400 FORMAT_ERROR Digest');
  });

  test('algorithm and digest: the words of the bank, and the hash that they mean', async () => {
    const { client } = await newDoor({ signing: { algorithm: 'SHA-512', digest: 'SHA-512' } });
    const digest =
      'SHA-512=z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==';
    const right = { headers: { digest }, algorithm: 'SHA-512', hash: 'RSA-SHA512' } as const;
    expect(await ask(client, right)).toBe(RIGHT);
    expect(await ask(client, { ...right, hash: 'RSA-SHA256' })).toBe(WRONG);
    expect(await ask(client, { ...right, algorithm: 'rsa-sha512' })).toBe(WRONG);
    expect(await ask(client, { algorithm: 'SHA-512', hash: 'RSA-SHA512' })).toBe('400 FORMAT_ERROR Digest');
  });

  test.each(['der', 'pem', 'pem-line'] as const)(
    'certificate %s: that form is right, and the others are refused',
    async (certificate) => {
      const { client } = await newDoor({ signing: { certificate } });
      const pem = client.read('qsealCertFile');
      const forms = {
        der: client.seal.raw.toString('base64'),
        pem: Buffer.from(pem).toString('base64'),
        'pem-line': pem.replaceAll('\n', ''),
      };
      for (const [form, value] of Object.entries(forms)) {
        const answer = await ask(client, { spoiled: { [CERTIFICATE]: value } });
        expect(answer).toBe(
          form === certificate ? RIGHT : '401 CERTIFICATE_INVALID TPP-Signature-Certificate',
        );
      }
    },
  );
});
