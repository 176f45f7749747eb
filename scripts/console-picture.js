// Draws the picture of the sandbox's console from a run of today's psd2: npm run picture [-- <folder>]
import { execFileSync } from 'node:child_process';
import { sign } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const folder = process.argv[2] ?? `${ROOT}docs`;
const home = mkdtempSync(join(tmpdir(), 'psd2-console-'));
/** Anna, who logs in if nobody says who. */
const CUSTOMER = '1048262';
const program = join(ROOT, 'bin/psd2.js');
const env = {
  ...process.env,
  PSD2_CONFIG_DIR: join(home, 'config'),
  PSD2_BROWSER: `"${process.execPath}" "${program}" sandbox customer`,
};

/** Runs psd2. Returns what it prints. */
const psd2 = (words, more = {}) =>
  execFileSync(process.execPath, [program, ...words], {
    env: { ...env, ...more },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });

/** Sends a call as a client does that decodes the request target before it signs. */
function sendMistaken(account) {
  const day = new Date(Date.now() - 20 * 86_400_000).toISOString().slice(0, 10).split('-').reverse();
  const target = `/private/customers/${CUSTOMER}/products/${account}/transactions/retrieve?dateFrom=${day.join('%2F')}`;
  const command = psd2(['api', 'GET', target, '--curl']);
  const headerOf = (name) => new RegExp(`--header '${name}: ([^']+)'`).exec(command)?.[1];
  const [, key] = /--key (\S+)/.exec(command) ?? [];
  const signed = [
    `(request-target): get ${decodeURIComponent(target)}`,
    ...['tpp-request-id', 'date'].map((name) => `${name}: ${headerOf(name)}`),
  ].join('\n');
  const qsealKey = readFileSync(key.replace('qwac-key', 'qseal-key'));
  const signature = sign('sha256', Buffer.from(signed), qsealKey).toString('base64');
  execFileSync('sh', ['-c', command.replace(/(,signature=")[^"]+/, `$1${signature}`)], {
    env: { ...env, PATH: `${home}:${env.PATH}` },
    stdio: 'ignore',
  });
}

/** Fills the list of calls: a payment, and a call with a wrong signature. Returns the address of the console. */
function makeCalls() {
  writeFileSync(join(home, 'psd2'), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`, {
    mode: 0o755,
  });
  const { consoleUrl } = JSON.parse(psd2(['sandbox', 'start', '--detach', '--port', '0', '--json']));
  psd2(['auth', 'login']);
  const categories = ['--category', 'ACCOUNT_INFO', '--category', 'PAYMENTS'];
  psd2(['consent', 'request', ...categories, '--all-accounts']);
  const [{ productId: account }] = JSON.parse(psd2(['accounts', 'list', '--json']));
  psd2([
    ...['transfer', '--instant', '--payee-verified', '--yes', '--from', account],
    ...['--to', 'DE89370400440532013000', '--name', 'Ada Lovelace', '--amount', '12.50'],
  ]);
  sendMistaken(account);
  return consoleUrl;
}

try {
  const consoleUrl = makeCalls();
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });
  const page = await browser.newPage({ viewport: { width: 1100, height: 620 }, colorScheme: 'light' });
  await page.goto(consoleUrl);
  await page.getByRole('option').first().click();
  await page.getByText('percent-decoded').waitFor();
  await page.screenshot({ path: join(folder, 'sandbox-console.png') });
  await browser.close();
} finally {
  psd2(['sandbox', 'stop']);
  rmSync(home, { recursive: true });
}
