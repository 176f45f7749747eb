// psd2 at a small NextGenPSD2 bank of the benches: a program that takes a folder with its certificate, and prints its port.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runRecorded } from './measure.js';
import { PROGRAM } from './operator.js';

/**
 * @param program path of the bank, and what it takes after the folder
 * @param use gets `run(...words)`, which runs psd2, and `at(name)`, a path in the folder
 * @param file what the bank file says
 */
export async function atOwnBank(node, [program, ...given], use, file = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'psd2-own-bank-'));
  const at = (name) => join(folder, name);
  mkdirSync(at('home'));
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2'];
  const pair = ['-newkey', 'rsa:2048', '-nodes', '-keyout', at('bank-key.pem'), '-out', at('bank.pem')];
  execFileSync('openssl', ['req', '-x509', ...pair, ...subject], { stdio: 'ignore' });
  const bank = spawn(node, [program, folder, ...given], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [port] = await once(bank.stdout.setEncoding('utf8'), 'data');
    const env = {
      ...process.env,
      HOME: at('home'),
      PSD2_CONFIG_DIR: at('config'),
      PSD2_BASE_URL: `https://127.0.0.1:${port.trim()}`,
      PSD2_CA: at('bank.pem'),
      PSD2_BANK: at('bank.json'),
      PSD2_QWAC_CERT: at('tpp/qwac.pem'),
      PSD2_QWAC_KEY: at('tpp/qwac-key.pem'),
    };
    writeFileSync(at('bank.json'), JSON.stringify({ interface: 'nextgenpsd2', ...file }), { mode: 0o600 });
    const run = (...words) => runRecorded([node, PROGRAM, ...words, '--yes', '--json'], { env });
    run('cert', 'generate', '--out', at('tpp'));
    return await use(run, at);
  } finally {
    bank.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}
