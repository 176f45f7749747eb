// psd2 sync of many customers, against what this machine can sign.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { figure, median, processorSeconds, runRecorded, signaturesASecond } from './measure.js';
import { openOperator, PROGRAM } from './operator.js';

const CUSTOMERS = 300;
const ROUNDS = 3;
/** Client and bank on a core each. */
const CLIENT_CORE = '1';
const BANK_CORE = '0';

export async function manyCalls(node, version) {
  const operator = openOperator(
    ['--no-enforce-consents', '--customers', String(CUSTOMERS), '--page-size', '100', '--token-ttl', '86400'],
    BANK_CORE,
  );
  try {
    await operator.logInMany(CUSTOMERS);
    const out = join(operator.folder, 'synced');
    const rounds = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      rmSync(out, { recursive: true, force: true });
      // In the same round, since what else the machine does changes.
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
        least: 0.7,
        detail: describe('first'),
      }),
      figure({
        what: `the same again with nothing new, Node ${version}`,
        ratio: of(({ again, signatures }) => again.rate / signatures),
        against,
        least: 0.7,
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
  const words = ['sync', '--out', out, '--all-customers', '--concurrency', '16', '--json'];
  const before = processorSeconds(pid);
  const { stdout, seconds, cpuSeconds } = runRecorded([node, PROGRAM, ...words], {
    env: operator.env,
    prefix: ['taskset', '-c', CLIENT_CORE],
  });
  const { calls } = JSON.parse(stdout).totals;
  return { rate: calls / seconds, own: cpuSeconds / calls, banks: (processorSeconds(pid) - before) / calls };
}
