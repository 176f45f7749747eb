// The transactions of one account as NDJSON: time and memory as they grow from ten thousand to a million.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { figure } from './measure.js';
import { openOperator, PROGRAM } from './operator.js';

const ACCOUNT = '0010482620';
const SIZES = [10_000, 100_000, 1_000_000];

export function bigAnswers(node, version) {
  const runs = SIZES.map((rows) => stream(node, rows));
  const [small, middle, large] = runs;
  return [
    figure({
      what: `peak memory with 1 000 000 transactions as NDJSON, Node ${version}`,
      ratio: large.megabytes / small.megabytes,
      against: 'peak memory with 10 000',
      limit: 1.3,
      detail: `${large.megabytes.toFixed(0)} MB against ${small.megabytes.toFixed(0)} MB`,
    }),
    figure({
      what: `time for 1 000 000 transactions as NDJSON, Node ${version}`,
      ratio: large.seconds / middle.seconds,
      against: 'time for 100 000',
      limit: 12,
      detail: `${large.seconds.toFixed(1)} s against ${middle.seconds.toFixed(1)} s, in pages of 1000`,
    }),
  ];
}

function stream(node, rows) {
  const operator = openOperator([
    ...['--no-enforce-consents', '--transactions', String(rows), '--page-size', '1000'],
    ...['--token-ttl', '86400'],
  ]);
  try {
    operator.logIn();
    const peak = join(operator.folder, 'peak');
    const recorder = join(operator.folder, 'recorder.mjs');
    writeFileSync(
      recorder,
      `import { writeFileSync } from 'node:fs';
       process.on('exit', () => writeFileSync(${JSON.stringify(peak)}, String(process.resourceUsage().maxRSS)));`,
    );
    const begun = performance.now();
    // Older than 90 days needs the customer's SCA, which the customer gives.
    const words = ['accounts', 'transactions', ACCOUNT, '--booked', '-o', 'ndjson', '--yes'];
    const command = [node, '--import', recorder, PROGRAM, ...words].map((word) => `'${word}'`).join(' ');
    const { status, stdout, stderr } = spawnSync('bash', ['-c', `set -o pipefail; ${command} | wc -l`], {
      env: operator.env,
      encoding: 'utf8',
    });
    const seconds = (performance.now() - begun) / 1000;
    if (status !== 0) throw new Error(`psd2 ended with exit code ${status}: ${stderr}`);
    if (Number(stdout) !== rows) throw new Error(`${stdout.trim()} rows came instead of ${rows}`);
    return { seconds, megabytes: Number(readFileSync(peak, 'utf8')) / 1024 };
  } finally {
    operator.close();
  }
}
