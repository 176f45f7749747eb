// How fast the sandbox starts, as a ratio to `node -e 0`, and how many signed calls it answers: node bench/sandbox.js
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomUUID, sign, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROUNDS = 20;
const START_LIMIT = 3;
const CALLS = 2000;
const CONNECTIONS = 8;
const MILLION = 1_000_000;
const PAGE = 1000;

const program = fileURLToPath(new URL('../bin/psd2.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'psd2-bench-'));
const env = { ...process.env, PSD2_CONFIG_DIR: folder, PSD2_PROFILE: 'sandbox' };
const many = ['--customers', '10000', '--transactions', String(MILLION), '--page-size', String(PAGE)];

/** Starts the sandbox in the foreground. @returns the process, and how long it took until it was ready */
async function start() {
  const begun = performance.now();
  const words = ['sandbox', 'start', '--port', '0', '--no-enforce-consents', ...many];
  const child = spawn(process.execPath, [program, ...words], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  for await (const text of child.stderr.setEncoding('utf8')) {
    if (text.includes('ready')) return { child, took: performance.now() - begun };
  }
  throw new Error('The sandbox did not start');
}

async function stop(child) {
  child.kill('SIGTERM');
  await once(child, 'exit');
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

function say(name, value, unit, verdict = '') {
  process.stdout.write(`${name.padEnd(44)} ${value.padStart(9)} ${unit.padEnd(14)} ${verdict}\n`);
}

async function benchStart() {
  await stop((await start()).child); // makes the certificates
  const [node, sandbox] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    const begun = performance.now();
    spawnSync(process.execPath, ['-e', '0']);
    node.push(performance.now() - begun);
    const { child, took } = await start();
    sandbox.push(took);
    await stop(child);
  }
  const ratio = median(sandbox) / median(node);
  say('node -e 0', median(node).toFixed(1), 'ms');
  say('psd2 sandbox start, until it is ready', median(sandbox).toFixed(1), 'ms');
  const reached = ratio <= START_LIMIT;
  say('', ratio.toFixed(2), '× node -e 0', `limit ${START_LIMIT} ×  ${reached ? 'reached' : 'MISSED'}`);
  if (!reached) process.exitCode = 1;
}

/** A client that has signed all of its requests before the clock starts. */
async function openClient() {
  const variables = JSON.parse(
    execFileSync(process.execPath, [program, 'sandbox', 'env', '--json'], { env }),
  );
  const running = JSON.parse(readFileSync(join(folder, 'sandbox', 'running.json'), 'utf8'));
  const given = await fetch(`${running.customerSiteUrl}/control/tokens`, {
    method: 'POST',
    headers: { authorization: `Bearer ${running.controlToken}` },
    body: JSON.stringify({ customerId: '5000001' }),
  });
  const { accessToken } = await given.json();
  const read = (name) => readFileSync(variables[name]);
  const agent = new Agent({
    ca: read('PSD2_CA'),
    cert: read('PSD2_QWAC_CERT'),
    key: read('PSD2_QWAC_KEY'),
    keepAlive: true,
    maxSockets: CONNECTIONS,
  });
  const certificate = new X509Certificate(read('PSD2_QSEAL_CERT')).raw.toString('base64');
  const key = read('PSD2_QSEAL_KEY');
  const prepare = (path) => {
    const [id, date] = [randomUUID(), new Date().toUTCString()];
    const signed = `(request-target): get ${path}\ntpp-request-id: ${id}\ndate: ${date}`;
    const signature = sign('RSA-SHA256', Buffer.from(signed), key).toString('base64');
    return {
      path,
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${accessToken}`,
        'tpp-transaction-id': randomUUID(),
        'tpp-request-id': id,
        date,
        'tpp-certificate': certificate,
        signature: `keyId="${variables.PSD2_APP_NAME}",algorithm="rsa-sha256",headers="(request-target) tpp-request-id date",signature="${signature}"`,
      },
    };
  };
  const send = async (options) => {
    const call = httpsRequest(variables.PSD2_BASE_URL, { ...options, agent }).end();
    const [answer] = await once(call, 'response');
    let size = 0;
    for await (const chunk of answer) size += chunk.length;
    if (answer.statusCode !== 200) throw new Error(`${options.path} answered ${answer.statusCode}`);
    return size;
  };
  /** @returns calls a second */
  const rate = async (paths) => {
    const prepared = paths.map(prepare);
    const begun = performance.now();
    const worker = async () => {
      for (let next = prepared.pop(); next; next = prepared.pop()) await send(next);
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, worker));
    return (1000 * paths.length) / (performance.now() - begun);
  };
  return { rate, close: () => agent.destroy() };
}

function residentMegabytes(pid) {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}

async function benchCalls() {
  const { child } = await start();
  const client = await openClient();
  try {
    const account = '/private/customers/5000001/products/0050000010';
    const times = (count, path) => Array.from({ length: count }, () => path);
    await client.rate(times(200, '/private/customers/customerid-info'));
    for (const [name, path] of [
      ['customerid-info', '/private/customers/customerid-info'],
      ['balance of an account with 1000000 entries', `${account}/balance/retrieve`],
    ]) {
      say(name, (await client.rate(times(CALLS, path))).toFixed(0), 'calls/s');
    }
    const before = residentMegabytes(child.pid);
    const pages = Array.from(
      { length: MILLION / PAGE },
      (_, page) => `${account}/transactions/retrieve?nextAccounting=${page * PAGE + 1}&nextNotAccounting=99`,
    );
    const rate = await client.rate(pages);
    say('all of 1000000 entries, 1000 a page', (rate * PAGE).toFixed(0), 'rows/s');
    say('memory of the sandbox before them', before.toFixed(0), 'MB');
    say('and after them', residentMegabytes(child.pid).toFixed(0), 'MB');
  } finally {
    client.close();
    await stop(child);
  }
}

try {
  process.stdout.write(`Node ${process.versions.node}\n`);
  await benchStart();
  await benchCalls();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
