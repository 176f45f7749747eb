import { createHash, randomUUID, sign } from 'node:crypto';
import { Agent } from 'node:https';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import axios, { AxiosHeaders, type InternalAxiosRequestConfig } from 'axios';
import { OpenAPIClientAxios } from 'openapi-client-axios';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { playCustomer } from '../../../../src/sandbox/player/play-customer.ts';
import { CURRENT, consentBody, type TestDoor, useDoor } from '../door-client.ts';
import { paymentBody } from '../payment-client.ts';
import { CALLS, descriptionAt, REFUSAL } from './description.ts';

const door = await useDoor({}, [], { strict: false });

/**
 * Signs what axios is about to send, as a program without psd2's habits may do it: more headers, in its own order, with blanks
 * between the parts. All other headers are those of axios.
 */
function signed(config: InternalAxiosRequestConfig, { client }: TestDoor): InternalAxiosRequestConfig {
  const { method = 'get', data = '', baseURL = '' } = config;
  const headers = AxiosHeaders.from(config.headers);
  const url = new URL(axios.getUri(config), baseURL);
  headers.set('Digest', `SHA-256=${createHash('sha256').update(String(data)).digest('base64')}`);
  headers.set('TPP-Signature-Certificate', client.seal.raw.toString('base64'));
  headers.set('Date', new Date().toUTCString());
  const sent = ['PSU-ID', 'TPP-Redirect-URI'].filter((name) => headers.has(name));
  const names = ['(request-target)', 'Date', 'X-Request-ID', ...sent, 'Accept', 'Digest'];
  const textOf = (name: string) =>
    name === '(request-target)' ? `${method} ${url.pathname}${url.search}` : String(headers.get(name));
  const lines = names.map((name) => `${name.toLowerCase()}: ${textOf(name)}`);
  const signature = sign('RSA-SHA256', Buffer.from(lines.join('\n')), client.read('qsealKeyFile'));
  const issuer = client.seal.issuer.split('\n').reverse().join(', ');
  const keyId = `SN=${client.seal.serialNumber}, CA=${issuer}`;
  headers.set(
    'Signature',
    `algorithm="rsa-sha256", keyId="${keyId}", signature="${signature.toString('base64')}", headers="${names.join(' ')}"`,
  );
  return { ...config, headers };
}

/** An answer of the sandbox, as a client of another hand got it. */
interface Answer {
  status: number;
  body: unknown;
}

/**
 * Makes a call of the description.
 *
 * @param values of the parameters, wherever they belong
 */
type Call = (operationId: string, values: Record<string, string>, body?: object) => Promise<Answer>;

const ajv = new Ajv({ strict: false, allErrors: true });
addFormats.default(ajv);

/** Makes a call, and holds the answer against the standard. */
function checked(call: Call): Call {
  return async (operationId, values, body) => {
    const answer = await call(operationId, { 'X-Request-ID': randomUUID(), ...values }, body);
    const [status, schema] = CALLS[operationId]?.answers ?? [];
    const validate = ajv.compile(String(answer.status) === status ? (schema ?? false) : REFUSAL);
    expect([validate(answer.body), validate.errors], `${operationId} ${JSON.stringify(answer)}`).toEqual([
      true,
      null,
    ]);
    return answer;
  };
}

const started = z.looseObject({
  consentId: z.optional(z.string()),
  paymentId: z.optional(z.string()),
  _links: z.looseObject({
    scaRedirect: z.object({ href: z.string() }),
    scaStatus: z.object({ href: z.string() }),
  }),
});

/** Has the customer authorise what an answer asks for. Nobody listens where the browser would go. */
async function authorise({ body }: Answer) {
  const answer = started.parse(body);
  const { finalUrl } = await playCustomer(answer._links.scaRedirect.href, { user: 'anna' });
  expect(finalUrl).toBe(RETURN['TPP-Redirect-URI']);
  return answer;
}

const RETURN = { 'PSU-IP-Address': '192.0.2.10', 'TPP-Redirect-URI': 'https://tpp.example/back' };

/** Reads accounts and pays, with the defaults of the client's library. */
async function readAndPay(client: Call): Promise<void> {
  const call = checked(client);
  const consent = await authorise(await call('createConsent', RETURN, consentBody()));
  const consentId = consent.consentId ?? '';
  expect((await call('getConsentStatus', { consentId })).body).toEqual({ consentStatus: 'valid' });

  const reading = { 'Consent-ID': consentId };
  // This call does not use PSU-ID.
  const list = await call('getAccountList', { ...reading, 'PSU-ID': 'anna', withBalance: 'true' });
  expect(list.body).toMatchObject({ accounts: [{ resourceId: CURRENT }, {}] });
  const account = { ...reading, 'account-id': CURRENT };
  expect((await call('getBalances', account)).status).toBe(200);
  const rows = await call('getTransactionList', {
    ...account,
    bookingStatus: 'both',
    dateFrom: '2026-10-01',
  });
  expect(rows.status).toBe(200);
  expect((await call('getBalances', { ...account, 'Consent-ID': 'unknown' })).status).toBe(400);

  const product = { 'payment-product': 'sepa-credit-transfers' };
  const begun = await authorise(await call('initiatePayment', { ...RETURN, ...product }, paymentBody()));
  const payment = { ...product, paymentId: begun.paymentId ?? '' };
  const authorisationId = begun._links.scaStatus.href.split('/').at(-1) ?? '';
  const sca = await call('getPaymentInitiationScaStatus', { ...payment, authorisationId });
  expect(sca.body).toEqual({ scaStatus: 'finalised' });
  expect((await call('getPaymentInitiationStatus', payment)).body).toEqual({ transactionStatus: 'ACSP' });
}

const operations = z.record(
  z.string(),
  z.custom<(...call: unknown[]) => Promise<unknown>>((one) => typeof one === 'function'),
);

test('a client that a generator makes of an OpenAPI description reads accounts and pays', async () => {
  const { client, sandbox } = door;
  const httpsAgent = new Agent(client.tls);
  const http = axios.getAdapter('http');
  const api = new OpenAPIClientAxios({
    definition: descriptionAt(`${sandbox.baseUrl}/nextgenpsd2`),
    axiosConfigDefaults: {
      httpsAgent,
      validateStatus: () => true,
      adapter: (config) => http(signed(config, door)),
    },
  });
  const generated = await api.init();
  const answers = z.object({ status: z.number(), data: z.unknown() });
  const call: Call = async (operationId, values, body) => {
    const make = operations.parse({ [operationId]: Reflect.get(generated, operationId) })[operationId];
    const { status, data } = answers.parse(await make?.(values, body));
    return { status, body: data };
  };
  await readAndPay(call);
  httpsAgent.destroy();
  expect(sandbox.access.open()).toEqual([]);
});
