// How long whole commands take, as ratios to `node -e 0` measured in the same run: npm run bench
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROUNDS = 20;
const program = fileURLToPath(new URL('../bin/psd2.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'psd2-bench-'));
const env = {
  ...process.env,
  PSD2_CONFIG_DIR: folder,
  PSD2_PROFILE: 'sandbox',
  PSD2_REDIRECT_URI: 'http://127.0.0.1:18910/callback',
  PSD2_BROWSER: `"${process.execPath}" "${program}" sandbox customer`,
};
const psd2 = (...words) =>
  execFileSync(process.execPath, [program, ...words], { env, stdio: ['ignore', 'pipe', 'ignore'] });

/** Name, arguments of node, the most it may take as a multiple of `node -e 0`. */
const cases = [
  ['node -e 0', ['-e', '0'], 1],
  ['psd2 --version', [program, '--version'], 1.3],
  ['psd2 --help', [program, '--help'], 1.5],
  ['psd2 accounts list', [program, 'accounts', 'list'], 3],
];

try {
  psd2('sandbox', 'start', '--detach', '--port', '0');
  psd2('auth', 'login');
  const times = cases.map(() => []);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, [name, words]] of cases.entries()) {
      const begun = performance.now();
      const { status, stderr } = spawnSync(process.execPath, words, { env });
      times[index].push(performance.now() - begun);
      if (status !== 0) throw new Error(`${name} ended with exit code ${status}: ${stderr}`);
    }
  }
  const medians = times.map((each) => each.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)]);
  process.stdout.write(`Node ${process.versions.node}, medians of ${ROUNDS}\n`);
  for (const [index, [name, , limit]] of cases.entries()) {
    const ratio = medians[index] / medians[0];
    const verdict = ratio <= limit ? 'reached' : 'MISSED';
    process.stdout.write(
      `${name.padEnd(20)} ${medians[index].toFixed(1).padStart(7)} ms ${ratio.toFixed(2).padStart(6)} ×   limit ${limit} ×  ${verdict}\n`,
    );
    if (ratio > limit) process.exitCode = 1;
  }
} finally {
  psd2('sandbox', 'stop');
  rmSync(folder, { recursive: true, force: true });
}
