// The minimum of what psd2 sync does for many customers: it signs each call, sends it over undici, parses the JSON, and
// writes rows to the same files, flushed once a customer. It has no checks, retries, log, claims or row ids.
import { createPrivateKey, randomUUID, sign, X509Certificate } from 'node:crypto';
import { closeSync, fdatasync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import Client from 'undici/lib/dispatcher/client.js';

const { BASE_URL, CERTIFICATES, CA, OUT, CUSTOMERS } = process.env;
const AT_ONCE = 16;
const FIRST_CUSTOMER = 5_000_001;
const file = (name) => readFileSync(`${CERTIFICATES}/${name}`);
const key = createPrivateKey(file('qseal-key.pem'));
const certificate = new X509Certificate(file('qseal.pem')).raw.toString('base64');
const flush = promisify(fdatasync);
// For the reason, see src/bank/transport/answer-parser.ts.
setFlagsFromString('--wasm-tiering-budget=1000000000');

let calls = 0;
let next = 0;

function call(client, path) {
  calls += 1;
  const [id, date] = [randomUUID(), new Date().toUTCString()];
  const signed = `(request-target): get ${path}\ntpp-request-id: ${id}\ndate: ${date}`;
  const signature = sign('sha256', Buffer.from(signed), key).toString('base64');
  const headers = {
    accept: 'application/json',
    authorization: 'Bearer canned',
    date,
    'tpp-transaction-id': id,
    'tpp-request-id': id,
    'tpp-certificate': certificate,
    signature: `keyId="canned",algorithm="rsa-sha256",headers="(request-target) tpp-request-id date",signature="${signature}"`,
  };
  return new Promise((resolve, reject) => {
    const chunks = [];
    client.dispatch(
      { method: 'GET', path, headers },
      {
        onRequestStart() {},
        onResponseStart() {},
        onResponseData: (_, chunk) => chunks.push(chunk),
        onResponseEnd: () => resolve(JSON.parse(Buffer.concat(chunks).toString()).data),
        onResponseError: (_, error) => reject(error),
      },
    );
  });
}

async function syncCustomer(client, customer) {
  const folder = `${OUT}/${customer}`;
  mkdirSync(`${folder}/transactions`, { recursive: true });
  const path = `/private/customers/${customer}`;
  const { accounts } = await call(client, `${path}/accounts`);
  const current = [...accounts];
  const files = [];
  for (const { accountId } of accounts) {
    const product = `${path}/products/${accountId}`;
    current.push(await call(client, `${product}/balance/retrieve`));
    const answer = await call(client, `${product}/transactions/retrieve`);
    current.push(...answer.transactionsNotAccounting);
    const rows = openSync(`${folder}/transactions/${accountId}.ndjson`, 'a');
    writeFileSync(rows, lines(answer.transactionsAccounting));
    files.push(rows);
  }
  await Promise.all(files.map((rows) => flush(rows)));
  files.forEach(closeSync);
  writeFileSync(`${folder}/current.ndjson`, lines(current));
  writeFileSync(`${folder}/sync-1.ndjson`, lines([{ customer }]));
}

function lines(rows) {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}

async function work() {
  const client = new Client(BASE_URL, {
    connect: { ca: readFileSync(CA), cert: file('qwac.pem'), key: file('qwac-key.pem') },
  });
  while (next < Number(CUSTOMERS)) {
    const customer = FIRST_CUSTOMER + next;
    next += 1;
    await syncCustomer(client, customer);
  }
  await client.destroy();
}

await Promise.all(Array.from({ length: AT_ONCE }, work));
process.stdout.write(`${JSON.stringify({ totals: { calls } })}\n`);
