import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import {
  askConsent,
  type Bank,
  type DoorReply,
  type DoorRequest,
  giveConsent,
  newDoor,
  refusalOf,
  type TestDoor,
  textOf,
  useDoor,
} from './door-client.ts';
import { ANNAS } from './payment-client.ts';

const PATH = '/v1/consents/unknown/status';
/** The error is about the consent, so everything before it was right. */
const RIGHT = '403 CONSENT_UNKNOWN';
const NOW = 'Fri, 20 Nov 2026 11:00:00 GMT';
const ISSUER = 'CN=psd2 sandbox CA - not for production,C=IT';

const door = await useDoor({}, [], { strict: false });

async function ask(call: Omit<DoorRequest, 'path'>, at: TestDoor = door): Promise<string> {
  return refusalOf(await at.client.send({ path: PATH, ...call }));
}

/** A door that is not strict and plays a bank, for the test that runs. */
const lenientDoor = (bank: Bank = {}) => newDoor(bank, [], { strict: false });

test.each<[string, Omit<DoorRequest, 'path'>]>([
  ['any Accept', { headers: { accept: '*/*' } }],
  ['no Accept', { headers: { accept: null } }],
  ['a list in Accept', { headers: { accept: 'application/json, text/plain, */*' } }],
  ['two Accept headers', { headers: { accept: ['text/html', 'Application/*;q=0.1'] } }],
  ['Content-Type without a body', { headers: { 'content-type': 'application/json' } }],
  ['headers that the call does not use', { headers: { 'psu-id': 'anna', date: 'today', 'consent-id': 'x' } }],
  ['a redirect, which belongs to other calls', { headers: { 'tpp-redirect-uri': 'https://tpp.example/' } }],
  ['a token where the bank has no OAuth', { headers: { authorization: 'Bearer x' } }],
  ['headers of another interface', { headers: { 'tpp-certificate': 'AAAA', 'cb-trace-id': 'x' } }],
  ['an empty header about the customer', { headers: { 'psu-corporate-id': '' } }],
  ['a header that the bank does not read, twice', { headers: { 'x-more': ['1', '2'] } }],
  ['signed headers in another order', { signed: ['x-request-id', 'digest'] }],
  ['more signed headers', { headers: { date: NOW }, signed: ['date', 'digest', 'x-request-id', 'accept'] }],
  ['(request-target)', { signed: ['(request-target)', 'digest', 'x-request-id'] }],
  ['a header that is signed although the call does not use it', { headers: { 'psu-id': 'anna' } }],
])('the door takes %s', async (_, call) => {
  expect(await ask(call)).toBe(RIGHT);
});

test.each([['text/html', 'application/json;q=0'], ['application/json;q=0, */*'], ['application/xml']])(
  'the door has no answer for Accept: %s',
  async (...accept) => {
    expect(await ask({ headers: { accept } })).toBe('406 REQUESTED_FORMATS_INVALID Accept');
  },
);

describe('the header Signature', () => {
  const capitals = (text: string) => text.toUpperCase();
  const PART = /,(?=algorithm|headers|signature)/;
  const issuedBy = (issuer: string) => (value: string) => value.replace(ISSUER, issuer);

  /** A call whose header Signature is written in another way after signing. */
  async function rewritten(write: (value: string) => string): Promise<string> {
    const headers = door.client.headersOf({ path: PATH });
    const signature = write(String(headers.signature));
    return refusalOf(await door.client.exchange('GET', PATH, { ...headers, signature }, undefined));
  }

  test.each<[string, (value: string) => string]>([
    ['blanks between its parts', (value) => value.replaceAll('",', '" , ')],
    ['its parts in another order', (value) => value.split(PART).reverse().join(',')],
    ['names in capitals', (value) => value.replace('digest x-request-id', 'Digest X-Request-ID')],
    ['the names of its parts in capitals', (value) => value.replace(/keyId|headers/g, capitals)],
    ['the word of Java for the algorithm', (value) => value.replace('rsa-sha256', 'SHA256withRSA')],
    ['the word of .NET for the algorithm', (value) => value.replace('rsa-sha256', 'sha256RSA')],
    ['another spelling of the algorithm', (value) => value.replace('rsa-sha256', 'RSA-SHA256')],
    ['a part that the standard does not have', (value) => `${value},created=1`],
    [
      'the serial number in capitals, with zeros',
      (value) => value.replace(/(?<=SN=)\w+/, (sn) => `00${capitals(sn)}`),
    ],
    ['the issuer as RFC 1779', issuedBy('CN=\\"psd2 sandbox CA - not for production\\", C=IT')],
    ['the issuer in small letters', issuedBy(ISSUER.toLowerCase())],
    ['the issuer with %20', issuedBy(ISSUER.replaceAll(' ', '%20'))],
    ['the issuer in the order of the certificate', issuedBy('/C=IT/CN=psd2 sandbox CA - not for production')],
    ['a blank before CA', (value) => value.replace(',CA=', ', CA = ')],
  ])('may have %s', async (_, write) => {
    expect(await rewritten(write)).toBe(RIGHT);
  });

  test.each<[string, (value: string) => string]>([
    ['another serial number', (value) => value.replace(/SN=\w+/, 'SN=1')],
    ['another issuer', (value) => value.replace('C=IT', 'C=DE')],
    ['a part of the issuer', (value) => value.replace(',C=IT', '')],
    ['another signature', (value) => value.replace(/signature=".{4}/, 'signature="AAAA')],
    ['no digest', (value) => value.replace('digest x-request-id', 'x-request-id')],
    ['a header that did not come', (value) => value.replace(' x-request-id', ' x-request-id date')],
    ['no algorithm', (value) => value.replace('algorithm="rsa-sha256",', '')],
  ])('is refused with %s', async (_, write) => {
    expect(await rewritten(write)).toBe('401 SIGNATURE_INVALID Signature');
  });

  test('in the form that the bank file names is exact', async () => {
    const signing = { keyId: { case: 'upper' as const }, headers: ['digest', 'x-request-id'] };
    const at = await lenientDoor({ signing });
    const keyId = `SN=${at.client.serial.toUpperCase()},CA=${ISSUER}`;
    expect(await ask({ keyId }, at)).toBe(RIGHT);
    expect(await ask({}, at)).toBe('401 SIGNATURE_INVALID Signature');
    // In the order that it lists.
    expect(await ask({ keyId, signed: ['x-request-id', 'digest'] }, at)).toBe(RIGHT);
    const signed = ['digest', 'x-request-id', 'date'];
    expect(await ask({ keyId, signed, headers: { date: 'today' } }, at)).toBe(
      '401 SIGNATURE_INVALID Signature',
    );
  });
});

test('the word of Java is that of the standard, also where the bank file names it, but not the other way round', async () => {
  const written = async (algorithm: string, word: string) => {
    const { client } = await lenientDoor({ signing: { algorithm } });
    const headers = client.headersOf({ path: PATH });
    const signature = String(headers.signature).replace(/algorithm="[^"]*"/, `algorithm="${word}"`);
    return refusalOf(await client.exchange('GET', PATH, { ...headers, signature }, undefined));
  };
  expect(await written('rsa-sha256', 'SHA256withRSA')).toBe(RIGHT);
  expect(await written('SHA256withRSA', 'rsa-sha256')).toBe('401 SIGNATURE_INVALID Signature');
});

test('a digest may have the other hash, and is refused if it is wrong or missing', async () => {
  const digest = (hash: string) => `${hash}=${createHash('sha512').update('').digest('base64')}`;
  expect(await ask({ headers: { digest: digest('sha-512') } })).toBe(RIGHT);
  expect(await ask({ headers: { digest: digest('SHA-256') } })).toBe('400 FORMAT_ERROR Digest');
  expect(await ask({ spoiled: { digest: null } })).toBe('400 FORMAT_ERROR Digest');
});

test('the certificate may be PEM, if the bank file does not say DER', async () => {
  const pem = door.client.read('qsealCertFile').replaceAll('\n', '');
  const headers = { 'tpp-signature-certificate': pem };
  expect(await ask({ headers })).toBe(RIGHT);
  const at = await lenientDoor({ signing: { certificate: 'der' } });
  expect(await ask({ headers }, at)).toBe('401 CERTIFICATE_INVALID TPP-Signature-Certificate');
});

test('Content-Type is a media type, and exact if the bank file names it', async () => {
  const type = (value: string, at: TestDoor = door) => askConsent(at, {}, { 'content-type': value });
  expect((await type('application/JSON; charset=UTF-8')).status).toBe(201);
  expect(refusalOf(await type('application/x-www-form-urlencoded'))).toBe('415 FORMAT_ERROR Content-Type');
  const at = await lenientDoor({ headers: { accept: 'application/json', contentType: 'application/json' } });
  expect((await type('application/json', at)).status).toBe(201);
  expect(refusalOf(await type('application/json;charset=utf-8', at))).toBe('415 FORMAT_ERROR Content-Type');
  expect(await ask({ headers: { accept: '*/*' } }, at)).toBe('406 REQUESTED_FORMATS_INVALID Accept');
});

test('a signature where the bank wants none is ignored', async () => {
  const at = await lenientDoor({ signing: { when: 'never' } });
  expect(await ask({}, at)).toBe(RIGHT);
  expect(await ask({ unsigned: true, headers: { digest: 'SHA-256=AAAA' } }, at)).toBe(RIGHT);
});

describe('how the customer authorises', () => {
  const linksOf = (reply: DoorReply) => [reply.status, ...Object.keys(reply.json._links ?? {})];

  test('sca.start explicit without a preference: the TPP starts the authorisation', async () => {
    const at = await lenientDoor({ sca: { start: 'explicit' } });
    expect(linksOf(await askConsent(at))).toEqual([201, 'startAuthorisation', 'self', 'status']);
  });

  test('TPP-Redirect-Preferred false: decoupled, if the bank has it', async () => {
    const headers = { 'tpp-redirect-preferred': 'false', 'psu-id': 'anna' };
    const both = await lenientDoor({ sca: { approaches: ['redirect', 'decoupled'] } });
    expect((await askConsent(both, {}, headers)).headers['aspsp-sca-approach']).toBe('DECOUPLED');
    expect((await askConsent(door, {}, headers)).headers['aspsp-sca-approach']).toBe('REDIRECT');
  });
});

describe('what a consent may ask for', () => {
  const listed = z.object({
    accounts: z.array(z.object({ cashAccountType: z.string(), ownerName: z.optional(z.string()) })),
  });
  const accountsOf = async (id: string) => {
    const { json } = await door.client.get('/v1/accounts', id);
    return listed.parse(json).accounts.map(({ cashAccountType, ownerName }) => [cashAccountType, ownerName]);
  };

  test('additionalInformation shows who owns the accounts', async () => {
    const owned = { accounts: [], additionalInformation: { ownerName: [], trustedBeneficiaries: [] } };
    const id = await giveConsent(door, { access: owned });
    expect(await accountsOf(id)).toEqual(['CACC', 'SVGS'].map((type) => [type, 'Anna Esposito']));
    const { text } = await door.client.get(`/v1/consents/${id}`);
    expect(text).toContain('"additionalInformation":{"ownerName":[{"iban"');
    expect(text).not.toContain('trustedBeneficiaries');
  });

  test('restrictedTo shows accounts of these types alone', async () => {
    const id = await giveConsent(door, { access: { allPsd2: 'allAccounts', restrictedTo: ['SVGS'] } });
    expect(await accountsOf(id)).toEqual([['SVGS', undefined]]);
    const access = { accounts: [{ iban: ANNAS }], restrictedTo: ['SVGS'] };
    const dedicated = await askConsent(door, { access });
    expect(refusalOf(dedicated)).toBe('400 FORMAT_ERROR access.restrictedTo');
  });

  test('withBalance belongs to the transactions of a card, too', async () => {
    const id = await giveConsent(door);
    const list = 'transactions?bookingStatus=booked&dateFrom=2026-11-01&withBalance=true';
    const { text } = await door.client.get(`/v1/card-accounts/0000093017/${list}`, id);
    expect(text).toContain('"balances":[{"balanceType"');
  });
});

/** What the console shows of the first call of a bank. */
async function firstCall({ sandbox }: TestDoor): Promise<{ warnings: string[]; explanation: string }> {
  const answer = await fetch(`${sandbox.customerSiteUrl}/console/calls/1`);
  return z.object({ warnings: z.array(z.string()), explanation: z.string() }).parse(await answer.json());
}

test('the console says what the bank ignored', async () => {
  const at = await lenientDoor();
  await ask({ headers: { 'psu-id': 'anna' }, signed: ['digest', 'x-request-id'] }, at);
  expect(await firstCall(at)).toEqual({
    warnings: ['The bank ignores psu-id: the call does not use this header.'],
    explanation: 'The bank does not know this consent.',
  });
});

test('a refusal has at most 500 characters. The log and the console have all of them', async () => {
  const log: string[] = [];
  const at = await newDoor({}, [], { strict: false, log: (line) => log.push(line) });
  const spoiled = { signature: `keyId="${'x'.repeat(900)}"` };
  expect(textOf(await at.client.send({ path: PATH, spoiled }))).toHaveLength(500);
  const whole = /x{900}". Signing string:\ndigest: \S+\nx-request-id: \S+$/;
  expect(log).toEqual([
    expect.stringMatching(/^The bank refused GET \/nextgenpsd2\/v1\/consents\/unknown\/status: /),
  ]);
  for (const text of [log.join(), (await firstCall(at)).explanation]) expect(text).toMatch(whole);
});
