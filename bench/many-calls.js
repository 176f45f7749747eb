// Compares psd2 sync of many customers with the signatures that this machine can make. Also with 3 000 customers, and on two
// cores, with a bank that needs almost no CPU.
import { cpus } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openCannedBank, whyNoCannedBank } from './canned-bank.js';
import { figure, median, processorSeconds, roundsWithin, runRecorded, signaturesASecond } from './measure.js';
import { openOperator, PROGRAM } from './operator.js';

const SCRIPT = fileURLToPath(new URL('sync-undici.js', import.meta.url));
const CUSTOMERS = 300;
const MANY_CUSTOMERS = 3_000;
const MAX_ROUNDS = 10;
/** Client and bank have a core each. */
const CLIENT_CORE = '1';
const BANK_CORE = '0';
const sharesCores = cpus().length < 3;
/** If psd2 uses two cores, the bank gets a third one if the machine has one. */
const CLIENT_CORES = sharesCores ? '0,1' : '1,2';

/** @param seconds what it may take */
export async function manyCalls(node, version, seconds) {
  return [
    ...(await fewCustomers(node, version, seconds * 0.1)),
    ...(await manyCustomers(node, version, seconds * 0.85)),
  ];
}

/** With 3 000 customers: what a call costs in the long run, and how much a second core helps. */
async function manyCustomers(node, version, seconds) {
  const missing = whyNoCannedBank();
  if (missing !== undefined) {
    process.stdout.write(`${missing}\n`);
    return [];
  }
  const bank = await openCannedBank({ customers: MANY_CUSTOMERS, core: BANK_CORE });
  try {
    const rounds = [];
    for (const round of roundsWithin(seconds, { atMost: MAX_ROUNDS })) {
      const signatures = signaturesASecond(CLIENT_CORE);
      const first = timeCanned(node, bank, `one-${round}`, 1);
      const again = timeCanned(node, bank, `one-${round}`, 1);
      const two = timeCanned(node, bank, `two-${round}`, 2);
      rounds.push({ signatures, first, again, two, script: timeScript(node, bank, `script-${round}`) });
    }
    const of = (value) => median(rounds.map(value));
    const against = 'RSA 2048 signatures a second of one core (openssl speed)';
    const own = (which) => `each call took ${of((round) => round[which].own * 1000).toFixed(2)} ms of a core`;
    return [
      figure({
        what: `psd2 sync of ${MANY_CUSTOMERS} customers, calls a second of a core, Node ${version}`,
        ratio: of(({ first, signatures }) => 1 / first.own / signatures),
        against,
        detail: own('first'),
      }),
      figure({
        what: `CPU time of a call of psd2 sync of ${MANY_CUSTOMERS} customers, Node ${version}`,
        ratio: of(({ first, script }) => first.own / script.own),
        against: 'a minimal script with undici that makes the same calls and files (bench/sync-undici.js)',
        limit: 1.85,
        detail: `${own('first')}, ${own('script')} by the script; ${rounds.length} rounds`,
      }),
      figure({
        what: `a minimal script with undici that makes the same calls and files, Node ${version}`,
        ratio: of(({ script, signatures }) => 1 / script.own / signatures),
        against,
        detail: `${own('script')}; no check, no retry, no log, no ids of rows (bench/sync-undici.js)`,
      }),
      figure({
        what: `the same again with nothing new, Node ${version}`,
        ratio: of(({ again, signatures }) => 1 / again.own / signatures),
        against,
        detail: own('again'),
      }),
      figure({
        what: `calls a second with --cores 2, Node ${version}`,
        ratio: of(({ first, two }) => two.rate / first.rate),
        against: 'with --cores 1',
        least: 1.7,
        detail: [
          `${of(({ two }) => two.rate).toFixed(0)} calls/s against ${of(({ first }) => first.rate).toFixed(0)}`,
          sharesCores
            ? `the bank runs on the same two cores: its ${of(({ two }) => two.banks * 1000).toFixed(2)} ms for a call leave ${of(mostOfTwo).toFixed(2)} at most`
            : 'the bank runs on another core',
        ].join('; '),
      }),
      figure({
        what: `time of both cores that work, with --cores 2, Node ${version}`,
        ratio: of(({ two }) => (two.own + (sharesCores ? two.banks : 0)) * two.rate * 0.5),
        against: 'all of it',
        detail: 'what is missing waits for the disk, or is the start and the end, where there is one thread',
      }),
      figure({
        what: `time of all cores for a call with --cores 2, Node ${version}`,
        ratio: of(({ first, two }) => two.own / first.own),
        against: 'with --cores 1',
        limit: 1.15,
        detail: own('two'),
      }),
    ];
  } finally {
    await bank.close();
  }
}

/** How much faster two cores can be if they also do the bank's work. */
function mostOfTwo({ first, two }) {
  return (2 * first.own) / (two.own + two.banks);
}

function timeCanned(node, bank, name, cores) {
  const words = [
    'sync',
    '--unattended-reads',
    '9999',
    '--out',
    join(bank.folder, name),
    '--all-customers',
    '--concurrency',
    '16',
    '--json',
  ];
  const before = bank.processorSeconds();
  const { stdout, seconds, cpuSeconds } = runRecorded([node, PROGRAM, ...words, '--cores', String(cores)], {
    env: bank.env,
    // One core does the work, however many threads there are.
    prefix: ['taskset', '-c', cores === 1 ? CLIENT_CORE : CLIENT_CORES],
  });
  const { calls } = JSON.parse(stdout).totals;
  const banks = (bank.processorSeconds() - before) / calls;
  return { rate: calls / seconds, own: cpuSeconds / calls, banks };
}

/** The minimal Node.js program for the same customers. */
function timeScript(node, bank, name) {
  const { stdout, cpuSeconds } = runRecorded([node, SCRIPT], {
    env: { ...bank.env, ...bank.scriptEnv, OUT: join(bank.folder, name) },
    prefix: ['taskset', '-c', CLIENT_CORE],
  });
  return { own: cpuSeconds / JSON.parse(stdout).totals.calls };
}

async function fewCustomers(node, version, seconds) {
  const operator = openOperator(
    ['--no-enforce-consents', '--customers', String(CUSTOMERS), '--page-size', '100', '--token-ttl', '86400'],
    BANK_CORE,
  );
  try {
    await operator.logInMany(CUSTOMERS);
    const rounds = [];
    for (const round of roundsWithin(seconds, { atMost: MAX_ROUNDS })) {
      // A new folder each time: ext4 creates files slowly just after many were removed.
      const out = join(operator.folder, `synced-${round}`);
      // In the same round, since the load of the machine changes.
      const signatures = signaturesASecond(CLIENT_CORE);
      rounds.push({ signatures, first: timeSync(node, operator, out), again: timeSync(node, operator, out) });
    }
    const of = (value) => median(rounds.map(value));
    const describe = (which) =>
      [
        `${of((round) => round[which].rate).toFixed(0)} signed calls/s, the whole process`,
        `${of(({ signatures }) => signatures).toFixed(0)} signatures/s`,
        `each call took ${of((round) => round[which].own * 1000).toFixed(2)} ms of psd2's core`,
        `${of((round) => round[which].banks * 1000).toFixed(2)} ms of the sandbox's`,
        `and a signature is ${of(({ signatures }) => 1000 / signatures).toFixed(2)} ms`,
      ].join('; ');
    const against = 'RSA 2048 signatures a second of one core (openssl speed)';
    return [
      figure({
        what: `psd2 sync of ${CUSTOMERS} customers on one core, Node ${version}`,
        ratio: of(({ first, signatures }) => first.rate / signatures),
        against,
        detail: describe('first'),
      }),
      figure({
        what: `the same again with nothing new, Node ${version}`,
        ratio: of(({ again, signatures }) => again.rate / signatures),
        against,
        detail: describe('again'),
      }),
      figure({
        what: `the sandbox's core meanwhile, Node ${version}`,
        ratio: of(({ first }) => first.banks / first.own),
        against: "the time of psd2's core: what has less is not what these figures measure",
        limit: 0.7,
        detail: `${of(({ first }) => first.banks * 1000).toFixed(2)} ms for a call`,
      }),
    ];
  } finally {
    operator.close();
  }
}

function timeSync(node, operator, out) {
  const { pid } = operator.running();
  const words = [
    'sync',
    '--unattended-reads',
    '9999',
    '--out',
    out,
    '--all-customers',
    '--concurrency',
    '16',
    '--cores',
    '1',
    '--json',
  ];
  const before = processorSeconds(pid);
  const { stdout, seconds, cpuSeconds } = runRecorded([node, PROGRAM, ...words], {
    env: operator.env,
    prefix: ['taskset', '-c', CLIENT_CORE],
  });
  const { calls } = JSON.parse(stdout).totals;
  return { rate: calls / seconds, own: cpuSeconds / calls, banks: (processorSeconds(pid) - before) / calls };
}
