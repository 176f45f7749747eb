// Reads a customer's accounts as accounts.js does, but with undici instead of node:https. bench/one-call.js bundles it.
import { createSign, randomUUID, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import Client from 'undici/lib/dispatcher/client.js';

const { BASE_URL, CERTIFICATES, APP_NAME, CUSTOMER_ID, TOKEN_FILE } = process.env;
const file = (name) => readFileSync(`${CERTIFICATES}/${name}`);
const target = `/private/customers/${CUSTOMER_ID}/accounts`;
const id = randomUUID();
const date = new Date().toUTCString();
const signature = createSign('sha256')
  .update(`(request-target): get ${target}\ntpp-request-id: ${id}\ndate: ${date}`)
  .sign(file('qseal-key.pem'), 'base64');
// For the reason, see src/bank/transport/answer-parser.ts.
setFlagsFromString('--wasm-tiering-budget=1000000000');

const client = new Client(BASE_URL, {
  connect: { ca: file('ca.pem'), cert: file('qwac.pem'), key: file('qwac-key.pem') },
});
const request = {
  method: 'GET',
  path: target,
  headers: {
    accept: 'application/json',
    authorization: `Bearer ${readFileSync(TOKEN_FILE, 'utf8').trim()}`,
    date,
    'tpp-transaction-id': randomUUID(),
    'tpp-request-id': id,
    'tpp-certificate': new X509Certificate(file('qseal.pem')).raw.toString('base64'),
    signature: `keyId="${APP_NAME}",algorithm="rsa-sha256",headers="(request-target) tpp-request-id date",signature="${signature}"`,
  },
};
client.dispatch(request, {
  onRequestStart() {},
  onResponseStart() {},
  onResponseData: (_, chunk) => process.stdout.write(chunk),
  onResponseEnd: () => client.destroy(),
  onResponseError: (_, error) => {
    throw error;
  },
});
