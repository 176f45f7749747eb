// Compares the second interface, NextGenPSD2, with the first one, at two sandboxes with the same account: a short command,
// and what a call of psd2 sync costs.
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { figure, median, runRecorded, timeProcesses } from './measure.js';
import { openOperator, PROGRAM } from './operator.js';

/** A page has few rows, so that calls cost more than rows. */
const RULES = ['--transactions', '6000', '--page-size', '5'];
const ROUNDS = 5;
const CLIENT_CORE = '1';
const BANK_CORE = '0';
const AGAINST = "the same at the first interface's door of the sandbox";

export function interfaces(node, version) {
  const operator = openOperator(RULES, BANK_CORE);
  try {
    operator.logIn();
    const first = operator.env;
    const second = { ...first, ...secondDoor(operator) };
    const run = (...words) =>
      execFileSync(node, [PROGRAM, ...words], { env: second, stdio: ['ignore', 'pipe', 'ignore'] });
    run('auth', 'login');
    run('consent', 'request');
    return [
      ...shortCommand(node, version, first, second),
      ...syncedCall(node, version, operator, first, second),
    ];
  } finally {
    operator.close();
  }
}

/** The environment of the second door's clients. */
function secondDoor(operator) {
  return { ...operator.json('sandbox', 'env', '--interface', 'nextgenpsd2'), PSD2_PROFILE: 'env' };
}

function shortCommand(node, version, first, second) {
  // `env` sets the variables of one of both: the times are of the same rounds.
  const withEnv = (env) => [
    'env',
    ...Object.entries(env).flatMap(([name, value]) =>
      name.startsWith('PSD2_') || name.startsWith('NODE_') ? [`${name}=${value}`] : [],
    ),
  ];
  const command = [node, PROGRAM, 'accounts', 'list', '--psu-ip', '203.0.113.7'];
  const times = timeProcesses(
    { first: [...withEnv(first), ...command], second: [...withEnv(second), ...command] },
    { rounds: 30, env: process.env },
  );
  return [
    figure({
      what: `psd2 accounts list at NextGenPSD2, Node ${version}`,
      ratio: times.ratio('second', 'first'),
      against: AGAINST,
      limit: 1.05,
      detail: `${times.median('second').toFixed(1)} ms against ${times.median('first').toFixed(1)} ms`,
    }),
  ];
}

function syncedCall(node, version, operator, first, second) {
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.push({
      first: timeSync(node, operator, `first-${round}`, first),
      second: timeSync(node, operator, `second-${round}`, second),
    });
  }
  const of = (value) => median(rounds.map(value));
  return [
    figure({
      what: `CPU time of a call of psd2 sync at NextGenPSD2, Node ${version}`,
      ratio: of((each) => each.second.own / each.first.own),
      against: AGAINST,
      limit: 1.1,
      detail: `${of((each) => each.second.own * 1000).toFixed(2)} ms against ${of((each) => each.first.own * 1000).toFixed(2)} ms; ${of((each) => each.second.calls)} calls against ${of((each) => each.first.calls)}`,
    }),
  ];
}

function timeSync(node, operator, name, env) {
  const out = join(operator.folder, name);
  const words = ['sync', '--unattended-reads', '9999', '--out', out, '--cores', '1', '--json'];
  const { stdout, cpuSeconds } = runRecorded([node, PROGRAM, ...words, '--psu-ip', '203.0.113.7'], {
    env,
    prefix: ['taskset', '-c', CLIENT_CORE],
  });
  rmSync(out, { recursive: true, force: true });
  const { calls } = JSON.parse(stdout).totals;
  return { own: cpuSeconds / calls, calls };
}
