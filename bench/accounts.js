// Reads a customer's accounts with Node's own modules only: no checks, no retries, no tables. A baseline of "one call" in
// docs/performance.md. It reads the same environment variables as accounts.sh.
import { createSign, randomUUID, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';

const { BASE_URL, CERTIFICATES, APP_NAME, CUSTOMER_ID, TOKEN_FILE } = process.env;
const file = (name) => readFileSync(`${CERTIFICATES}/${name}`);
const target = `/private/customers/${CUSTOMER_ID}/accounts`;
const id = randomUUID();
const date = new Date().toUTCString();
const signature = createSign('sha256')
  .update(`(request-target): get ${target}\ntpp-request-id: ${id}\ndate: ${date}`)
  .sign(file('qseal-key.pem'), 'base64');

request(
  new URL(target, BASE_URL),
  {
    ca: file('ca.pem'),
    cert: file('qwac.pem'),
    key: file('qwac-key.pem'),
    headers: {
      accept: 'application/json',
      authorization: `Bearer ${readFileSync(TOKEN_FILE, 'utf8').trim()}`,
      date,
      'tpp-transaction-id': randomUUID(),
      'tpp-request-id': id,
      'tpp-certificate': new X509Certificate(file('qseal.pem')).raw.toString('base64'),
      signature: `keyId="${APP_NAME}",algorithm="rsa-sha256",headers="(request-target) tpp-request-id date",signature="${signature}"`,
    },
  },
  (answer) => answer.pipe(process.stdout),
).end();
