// Reads the transactions of one account as NDJSON and by psd2 sync. Compares time and memory from ten thousand transactions
// to a million.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { figure, runRecorded } from './measure.js';
import { openOperator, PROGRAM } from './operator.js';

const CUSTOMER = '1048262';
const ACCOUNT = '0010482620';
const SIZES = [10_000, 100_000, 1_000_000];
const PAGE = 1000;

export function bigAnswers(node, version) {
  const runs = SIZES.map((rows) => measure(node, rows));
  return [
    ...figuresOf(
      'transactions as NDJSON',
      runs.map(({ listed }) => listed),
      version,
    ),
    ...figuresOf(
      'transactions by psd2 sync',
      runs.map(({ synced }) => synced),
      version,
    ),
  ];
}

function figuresOf(what, [small, middle, large], version) {
  return [
    figure({
      what: `peak memory with 1 000 000 ${what}, Node ${version}`,
      ratio: large.megabytes / small.megabytes,
      against: 'peak memory with 10 000',
      limit: 1.3,
      detail: `${large.megabytes.toFixed(0)} MB against ${small.megabytes.toFixed(0)} MB`,
    }),
    figure({
      what: `time for 1 000 000 ${what}, Node ${version}`,
      ratio: large.seconds / middle.seconds,
      against: 'time for 100 000',
      limit: 12,
      detail: `${large.seconds.toFixed(1)} s against ${middle.seconds.toFixed(1)} s, in pages of ${PAGE}`,
    }),
  ];
}

function measure(node, rows) {
  const operator = openOperator([
    ...['--no-enforce-consents', '--transactions', String(rows)],
    ...['--page-size', String(PAGE), '--token-ttl', '86400'],
  ]);
  const run = (words, options) => runRecorded([node, PROGRAM, ...words], { env: operator.env, ...options });
  try {
    operator.logIn();
    // Transactions older than 90 days need SCA, which the bank then remembers for the token. The later sync needs none.
    const list = ['accounts', 'transactions', ACCOUNT, '--booked', '-o', 'ndjson', '--yes'];
    const days = ['--from', monthsAgo(14)];
    run([...list, ...days, '--limit', '1']);
    const listed = run([...list, ...days], { countLines: true });
    if (Number(listed.stdout) !== rows)
      throw new Error(`psd2 printed ${listed.stdout.trim()} rows instead of ${rows}`);
    const out = join(operator.folder, 'synced');
    const synced = run([
      'sync',
      '--unattended-reads',
      '9999',
      '--out',
      out,
      '--since',
      monthsAgo(14),
      '--json',
    ]);
    const file = join(out, CUSTOMER, 'transactions', `${ACCOUNT}.ndjson`);
    const kept = Number.parseInt(execFileSync('wc', ['-l', file], { encoding: 'utf8' }), 10);
    if (kept !== rows) throw new Error(`psd2 sync has ${kept} rows instead of ${rows}`);
    return { listed, synced };
  } finally {
    operator.close();
  }
}

function monthsAgo(count) {
  const day = new Date();
  day.setUTCMonth(day.getUTCMonth() - count, 1);
  return day.toISOString().slice(0, 10);
}
