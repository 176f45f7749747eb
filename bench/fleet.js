// Several workers on one PostgreSQL: how throughput grows with workers, what a call costs, and how fast psd2 hands out
// customers to workers.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { openCannedBank, whyNoCannedBank } from './canned-bank.js';
import { figure, median, processorSeconds, roundsWithin, runRecorded } from './measure.js';
import { PROGRAM } from './operator.js';
import { importTypeScript, PLAIN, startPostgres } from './postgres.js';

/** Customers of the runs whose bank delays its answers. */
const CUSTOMERS = 240;
/** Customers of the runs that measure what a call costs. */
const MANY_CUSTOMERS = 1_500;
const DEALT = 1_000_000;
/** The first part and the last part are compared. */
const PART = DEALT / 10;
const HAND = 100;
const ANSWER_MS = 100;
const MAX_ROUNDS = 3;
/** What no command offers: handing out customers without syncing them. */
const SOURCES = `
export { parseAddress } from './src/store/postgres/address.ts';
export { Database } from './src/store/postgres/database.ts';
export { PostgresRounds } from './src/store/postgres/sync/rounds.ts';
`;
const CLIENT_CORE = '1';
const BANK_CORE = '0';

export async function fleet(node, version, seconds) {
  const missing = whyNoCannedBank();
  if (missing !== undefined) {
    process.stdout.write(`${missing}\n`);
    return [];
  }
  const store = await importTypeScript(SOURCES);
  const server = await startPostgres();
  try {
    return [
      ...(await workersFigures(node, version, server, seconds / 3)),
      ...(await callFigures(node, version, server, seconds / 3)),
      ...(await dealFigures(version, server, store)),
    ];
  } finally {
    server.stop();
  }
}

/** Calls a second with 1, 2 and 4 workers, if the bank takes 100 ms for an answer. */
async function workersFigures(node, version, server, seconds) {
  const bank = await openCannedBank({ customers: CUSTOMERS, answerMs: ANSWER_MS });
  try {
    const open = await openDatabases(bank, server);
    const rounds = [];
    for (const _ of roundsWithin(seconds, { atLeast: 1, atMost: MAX_ROUNDS })) {
      const rates = {};
      for (const workers of [1, 2, 4]) rates[workers] = await rateOf(node, workers, bank, open());
      rounds.push(rates);
    }
    const of = (value) => median(rounds.map(value));
    return [2, 4].map((workers) =>
      figure({
        what: `calls a second of ${workers} workers that share a PostgreSQL, Node ${version}`,
        ratio: of((rates) => rates[workers] / rates[1]),
        against: 'one worker',
        ...(workers === 2 && { least: 1.7 }),
        detail: `${of((rates) => rates[workers]).toFixed(0)} calls/s against ${of((rates) => rates[1]).toFixed(0)}, the bank takes ${ANSWER_MS} ms for an answer; ${cpus().length} cores for all of it`,
      }),
    );
  } finally {
    await bank.close();
  }
}

/** @returns calls a second, from the start of the workers to the end of the last one */
async function rateOf(node, workers, bank, database) {
  const words = syncWords(8);
  const env = { ...bank.env, ...withDatabase(bank, database) };
  const begun = performance.now();
  const calls = await Promise.all(
    Array.from({ length: workers }, async () => {
      const child = spawn(node, [PROGRAM, ...words], {
        env,
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      let printed = '';
      child.stdout.setEncoding('utf8').on('data', (text) => {
        printed += text;
      });
      const [code] = await once(child, 'close');
      if (code !== 0) throw new Error(`A worker ended with exit code ${code}`);
      return JSON.parse(printed).totals.calls;
    }),
  );
  return calls.reduce((a, b) => a + b, 0) / ((performance.now() - begun) / 1000);
}

/** What a call costs psd2 and the database, compared with the store in files. */
async function callFigures(node, version, server, seconds) {
  const bank = await openCannedBank({ customers: MANY_CUSTOMERS, core: BANK_CORE });
  try {
    const open = await openDatabases(bank, server);
    const rounds = [];
    for (const round of roundsWithin(seconds, { atLeast: 1, atMost: MAX_ROUNDS })) {
      const files = timeSync(node, bank, ['--out', join(bank.folder, `files-${round}`)], {});
      const database = open();
      const before = costOf(server);
      const shared = timeSync(node, bank, [], withDatabase(bank, database));
      const after = costOf(server);
      const each = (name) => (after[name] - before[name]) / shared.calls;
      rounds.push({
        ...{ files: files.own, shared: shared.own },
        ...{ commits: each('commits'), bytes: each('walBytes'), server: each('processorSeconds') },
      });
    }
    const of = (value) => median(rounds.map(value));
    const ms = (name) => (of((round) => round[name]) * 1000).toFixed(2);
    return [
      figure({
        what: `time of psd2's core for a call with PostgreSQL, ${MANY_CUSTOMERS} customers, Node ${version}`,
        ratio: of(({ files, shared }) => shared / files),
        against: 'with files',
        limit: 1.3,
        detail: `${ms('shared')} ms against ${ms('files')} ms`,
      }),
      figure({
        what: `time of PostgreSQL's processor for a call, Node ${version}`,
        ratio: of(({ server: own, shared }) => own / shared),
        against: "the time of psd2's core",
        detail: `${ms('server')} ms; ${of(({ commits }) => commits).toFixed(2)} transactions and ${of(({ bytes }) => bytes).toFixed(0)} bytes of WAL a call`,
      }),
    ];
  } finally {
    await bank.close();
  }
}

function timeSync(node, bank, more, env) {
  const { stdout, cpuSeconds } = runRecorded([node, PROGRAM, ...syncWords(16), ...more], {
    env: { ...bank.env, ...env },
    prefix: ['taskset', '-c', CLIENT_CORE],
  });
  const { calls } = JSON.parse(stdout).totals;
  return { calls, own: cpuSeconds / calls };
}

function syncWords(concurrency) {
  const words = ['sync', '--all-customers', '--json', '--cores', '1', '--unattended-reads', '9999'];
  return [...words, '--concurrency', String(concurrency)];
}

/** The environment of a machine that has never used another store than this database: psd2 would refuse a second one. */
function withDatabase(bank, database) {
  const config = join(bank.folder, 'machine');
  rmSync(config, { recursive: true, force: true });
  mkdirSync(config, { mode: 0o700 });
  cpSync(join(bank.env.PSD2_CONFIG_DIR, 'profiles'), join(config, 'profiles'), { recursive: true });
  return { PSD2_CONFIG_DIR: config, PSD2_STORE: database, ...PLAIN };
}

/** @returns a function that makes a database in which all customers are logged in and none was synced; returns its URL */
async function openDatabases(bank, server) {
  const name = `canned_${bank.folder.slice(-6).toLowerCase()}`;
  server.create(name);
  const env = { ...bank.env, PSD2_STORE: server.url(name), ...PLAIN };
  const run = (...words) => execFileSync(process.execPath, [PROGRAM, ...words], { env, stdio: 'ignore' });
  run('store', 'init', '--plain-tokens');
  // After a copy, psd2 refuses to use the source. The comparison needs the files, so this copies a duplicate of them.
  const copied = join(bank.folder, 'copied');
  cpSync(bank.env.PSD2_CONFIG_DIR, copied, { recursive: true });
  run('store', 'copy', '--from', copied, '--to', server.url(name));
  let copies = 0;
  return () => {
    copies += 1;
    server.sql('postgres', `create database ${name}_${copies} template ${name}`);
    return server.url(`${name}_${copies}`);
  };
}

/** What a server has used until now: commits, bytes of WAL and CPU seconds. */
function costOf(server) {
  const [commits, walBytes, checkpointer] = server
    .sql(
      'postgres',
      `select sum(xact_commit), pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0'),
         (select pid from pg_stat_activity where backend_type = 'checkpointer') from pg_stat_database`,
    )
    .split('|')
    .map(Number);
  const main = Number(statOf(checkpointer)[1]);
  const children = readFileSync(`/proc/${main}/task/${main}/children`, 'utf8').trim().split(' ').map(Number);
  const own = [main, ...children].reduce((sum, pid) => sum + processorSeconds(pid), 0);
  const ofEnded = statOf(main).slice(13, 15).map(Number);
  return { commits, walBytes, processorSeconds: own + (ofEnded[0] + ofEnded[1]) / 100 };
}

/** The fields after the name in /proc/<pid>/stat (proc(5)). */
function statOf(pid) {
  const [, fields] = /\) (.*)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
  return (fields ?? '').split(' ');
}

/** How fast one worker gets all customers of a profile, and whether the last ones take as long as the first. */
async function dealFigures(version, server, { Database, parseAddress, PostgresRounds }) {
  const profile = 'canned';
  server.create('dealing');
  const env = { ...process.env, PSD2_STORE: server.url('dealing') };
  execFileSync(process.execPath, [PROGRAM, 'store', 'init', '--plain-tokens'], { env, stdio: 'ignore' });
  server.sql(
    'dealing',
    `insert into psd2.tokens (profile, holder, generation, origin, base_url, secrets)
     select '${profile}', (5000000 + n)::text, 1, 1, 'https://bank.example/', '{}' from generate_series(1, ${DEALT}) n`,
  );
  const database = new Database(parseAddress(server.url('dealing'), {}), undefined);
  try {
    const begun = performance.now();
    const round = await new PostgresRounds(database, profile).join();
    const beginning = (performance.now() - begun) / 1000;
    const parts = [];
    const dealt = new Set();
    for (let from = performance.now(); dealt.size < DEALT; ) {
      const next = await round.next(HAND);
      if (typeof next === 'string') throw new Error(`${next} after ${dealt.size} customers`);
      dealt.add(next.customerId);
      if (dealt.size % PART > 0) continue;
      parts.push(PART / ((performance.now() - from) / 1000));
      from = performance.now();
    }
    const whole = parts.length / parts.reduce((sum, rate) => sum + 1 / rate, 0);
    return [
      figure({
        what: `customers a second that are dealt to one worker, ${DEALT} of them, Node ${version}`,
        ratio: whole / 10_000,
        against: '10 000 a second',
        least: 1,
        detail: `${whole.toFixed(0)} a second, ${HAND} at a time, each once; beginning the round took ${beginning.toFixed(1)} s`,
      }),
      figure({
        what: `time for each of the last ${PART}, Node ${version}`,
        ratio: parts[0] / parts.at(-1),
        against: `each of the first ${PART}`,
        limit: 1.3,
        detail: `${parts.at(-1).toFixed(0)} a second against ${parts[0].toFixed(0)}`,
      }),
    ];
  } finally {
    await database.close();
  }
}
