import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { success } from '../../answers.ts';
import { PLAIN_FACTS, TOKEN, useClients } from '../../client.ts';
import { APPLICATION_NAME, useRecordedBank } from '../../recorded-bank.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);

const transactionId = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const CUSTOMER_ID = '/private/customers/customerid-info';
const GET_X = { method: 'GET', path: '/x', facts: PLAIN_FACTS, transactionId } as const;
const customer = success('{"customerid":"1234567"}');

it('a GET has these headers and no others', async () => {
  recorded.expect('GET', CUSTOMER_ID, customer);
  await openClient().bank.login.whose(transactionId);
  expect(recorded.last.headers).toEqual({
    host: new URL(recorded.baseUrl).host,
    connection: 'keep-alive',
    accept: 'application/json',
    date: expect.stringMatching(
      /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
    ),
    authorization: `Bearer ${TOKEN}`,
    'tpp-transaction-id': transactionId,
    'tpp-request-id': expect.stringMatching(UUID),
    'tpp-certificate': new X509Certificate(recorded.certificates.qseal.cert).raw.toString('base64'),
    signature: expect.stringMatching(
      new RegExp(
        `^keyId="${APPLICATION_NAME}",algorithm="rsa-sha256",` +
          'headers="\\(request-target\\) tpp-request-id date",signature="[A-Za-z0-9+/]{171}="$',
      ),
    ),
  });
  const names = recorded.last.rawHeaders.filter((_, index) => index % 2 === 0);
  expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length);
});

it('psd2 sends the headers that the operator configured', async () => {
  recorded.expect('GET', CUSTOMER_ID, customer);
  await openClient({ psuIpAddress: '192.0.2.7', language: 'it-IT', traceComponent: 'test' }).bank.login.whose(
    transactionId,
  );
  expect(recorded.last.headers).toMatchObject({
    'psu-ip-address': '192.0.2.7',
    'accept-language': 'it-IT',
    'cb-trace-id': 'viewId=test',
  });
});

describe('the base URL', () => {
  it('the prefix of the base URL comes before every path, sent and signed', async () => {
    recorded.expect('GET', `/psd2/v1${CUSTOMER_ID}`, customer);
    await openClient({ pathPrefix: '/psd2/v1' }).bank.login.whose(transactionId);
    expect(recorded.last.requestLine).toBe(`GET /psd2/v1${CUSTOMER_ID} HTTP/1.1`);
  });
});

describe('the ids of a call', () => {
  it('psd2 announces the ids of each attempt before it leaves', async () => {
    recorded.expect('GET', '/x', { status: 500 });
    recorded.expect('GET', '/x', success());
    const announced: string[] = [];
    await openClient().exchange({
      ...GET_X,
      beforeSend: async ({ requestId, digest }) => {
        expect(recorded.received).toHaveLength(announced.length);
        expect(digest).toBeNull();
        announced.push(requestId);
        return undefined;
      },
    });
    expect(announced).toEqual(recorded.received.map(({ headers }) => headers['tpp-request-id']));
  });

  it('psd2 does not send a call that it cannot announce', async () => {
    const full = new RangeError('The disk is full');
    const beforeSend = () => {
      throw full;
    };
    const call = openClient().exchange({ ...GET_X, method: 'PUT', body: {}, beforeSend });
    await expect(call).rejects.toBe(full);
    expect(recorded.received).toEqual([]);
  });
});

describe('cb-apitrack-id', () => {
  it('psd2 takes cb-apitrack-id from the first answer and sends it with all later calls', async () => {
    recorded.expect('GET', CUSTOMER_ID, { ...customer, headers: { 'cb-apitrack-id': '0123456789' } });
    recorded.expect('GET', CUSTOMER_ID, { ...customer, headers: { 'CB-ApiTrack-Id': '9999999999' } });
    recorded.expect('GET', CUSTOMER_ID, customer);
    const { bank } = openClient();
    for (let call = 0; call < 3; call += 1) await bank.login.whose(transactionId);
    expect(recorded.received.map(({ headers }) => headers['cb-apitrack-id'])).toEqual([
      undefined,
      '0123456789',
      '0123456789',
    ]);
  });

  it('psd2 sends the cb-apitrack-id of an earlier session from the first call', async () => {
    recorded.expect('GET', CUSTOMER_ID, customer);
    await openClient({ session: { apiTrackId: '0123456789' } }).bank.login.whose(transactionId);
    expect(recorded.last.headers['cb-apitrack-id']).toBe('0123456789');
  });
});

it('the observation of a call contains neither its query nor a secret', async () => {
  recorded.expect('GET', '/p/x?code=hush', { status: 400 });
  const { exchange, observations } = openClient({ pathPrefix: '/p' });
  await exchange({ method: 'GET', path: '/x?code=hush', facts: PLAIN_FACTS, transactionId, bearer: TOKEN });
  expect(observations).toEqual([
    {
      method: 'GET',
      path: '/p/x',
      outcome: 400,
      at: expect.any(Date),
      milliseconds: expect.any(Number),
      connectMs: expect.any(Number),
      firstByteMs: expect.any(Number),
      route: { path: '{other}', kind: 'other' },
      tls: { protocol: 'TLSv1.3', certificateEnds: expect.any(Date) },
      tppRequestId: recorded.last.headers['tpp-request-id'],
      transactionId,
      requestId: null,
      apiTrackId: undefined,
      isPrivate: true,
      mayHaveLeft: true,
      irrevocable: false,
    },
  ]);
  expect(JSON.stringify(observations)).not.toMatch(new RegExp(`hush|${TOKEN}`));
});
