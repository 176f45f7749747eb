// psd2 sync of many customers, against what this machine can sign.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { figure, median } from './measure.js';
import { openOperator, PROGRAM } from './operator.js';

const CUSTOMERS = 200;
const ROUNDS = 3;
/** Client and bank on a core each, as far as the machine has two. */
const CLIENT_CORE = '1';
const BANK_CORE = '0';

export async function manyCalls(node, version) {
  const operator = openOperator(
    ['--no-enforce-consents', '--customers', String(CUSTOMERS), '--page-size', '100'],
    BANK_CORE,
  );
  try {
    const customers = await logAllIn(operator);
    const out = join(operator.folder, 'synced');
    const rates = [];
    const again = [];
    let calls = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      rmSync(out, { recursive: true, force: true });
      const first = timeSync(node, operator, out);
      calls = first.calls;
      rates.push(first.calls / first.seconds);
      const second = timeSync(node, operator, out);
      again.push(second.seconds / first.seconds);
    }
    const signatures = signaturesASecond();
    const rate = median(rates);
    return [
      figure({
        what: `psd2 sync of ${customers} customers, Node ${version}`,
        ratio: rate / signatures,
        against: 'RSA 2048 signatures a second of one core (openssl speed)',
        least: 0.7,
        detail: `${rate.toFixed(0)} signed calls/s (${calls} calls, the whole process) against ${signatures.toFixed(0)} signatures/s`,
      }),
      figure({
        what: `the same again with nothing new, Node ${version}`,
        ratio: median(again),
        against: 'the first time',
        detail: `median of ${ROUNDS}`,
      }),
    ];
  } finally {
    operator.close();
  }
}

function timeSync(node, { env }, out) {
  const begun = performance.now();
  const words = ['sync', '--out', out, '--all-customers', '--concurrency', '16', '--json'];
  const { status, stdout, stderr } = spawnSync('taskset', ['-c', CLIENT_CORE, node, PROGRAM, ...words], {
    env,
    maxBuffer: 1e9,
    encoding: 'utf8',
  });
  const seconds = (performance.now() - begun) / 1000;
  if (status !== 0) throw new Error(`psd2 sync ended with exit code ${status}: ${stderr}`);
  return { seconds, calls: JSON.parse(stdout).totals.calls };
}

/** Puts tokens for all made up customers into the store, as a login of each would. @returns how many */
async function logAllIn({ folder, json }) {
  const { customerSiteUrl, controlToken } = JSON.parse(
    readFileSync(join(folder, 'sandbox', 'running.json'), 'utf8'),
  );
  const { baseUrl } = json('sandbox', 'status');
  const tokens = join(folder, 'tokens', 'sandbox');
  mkdirSync(tokens, { recursive: true, mode: 0o700 });
  const later = (seconds) => new Date(Date.now() + seconds * 1000).toISOString();
  for (let number = 1; number <= CUSTOMERS; number += 1) {
    const customerId = String(5_000_000 + number);
    const answer = await fetch(`${customerSiteUrl}/control/tokens`, {
      method: 'POST',
      headers: { authorization: `Bearer ${controlToken}` },
      body: JSON.stringify({ customerId }),
    });
    const granted = await answer.json();
    const stored = {
      accessToken: granted.accessToken,
      accessTokenExpiresAt: later(granted.accessTokenSeconds),
      refreshToken: granted.refreshToken,
      refreshTokenExpiresAt: later(granted.refreshTokenSeconds),
      scope: null,
      baseUrl: new URL(baseUrl).href,
    };
    writeFileSync(join(tokens, `customer-${customerId}.json`), JSON.stringify(stored), { mode: 0o600 });
  }
  return CUSTOMERS;
}

function signaturesASecond() {
  const said = execFileSync('taskset', ['-c', CLIENT_CORE, 'openssl', 'speed', '-seconds', '3', 'rsa2048'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [, rate] = /^rsa\s+2048 bits\s+\S+\s+\S+\s+([\d.]+)/m.exec(said) ?? [];
  if (!rate) throw new Error(`openssl speed said: ${said}`);
  return Number(rate);
}
