// Compares this build with that of another commit: npm run bench -- --against <commit>
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openHomes } from './homes.js';
import { BANK_CORE, RULES, timeSync } from './interfaces.js';
import { intervalOf, MIN_PAIRS, median, roundsWithin, timeProcesses } from './measure.js';
import { openOperator, PROGRAM } from './operator.js';
import { startPostgres } from './postgres.js';

const SHORT = {
  '--version': ['--version'],
  '--help': ['--help'],
  '__complete (the Tab key)': ['__complete', 'words', 'accounts', 'balance', ''],
  'profile list': ['profile', 'list'],
};
const MAX_ROUNDS = 60;

/**
 * Runs both builds in turns.
 *
 * @param commit anything that names a commit for git
 * @param seconds what the measurements may take
 * @param env the environment in which npm finds its registry
 * @returns a table that says of each command whether the builds differ
 */
export async function compareWith(commit, { node, seconds, env }) {
  const other = buildOf(commit, env);
  const operator = openOperator(RULES, BANK_CORE);
  const server = await startPostgres();
  try {
    // An earlier psd2 knows one bank alone.
    const { status } = spawnSync(node, [other.program, 'bank', '--help'], { stdio: 'ignore' });
    const interfaces = status === 0 ? ['cb', 'nextgenpsd2'] : ['cb'];
    // Each build has stores of its own, because they may differ too.
    const builds = Object.entries({ this: PROGRAM, other: other.program }).map(([build, program]) => ({
      build,
      program,
      homes: openHomes(operator, server, { node, program, name: build, interfaces }),
    }));
    const rows = [
      ...compareTimes(builds, node, operator, seconds * 0.5),
      ...compareSync(builds, node, operator, seconds * 0.45),
    ];
    return tableOf(rows, commit);
  } finally {
    server.stop();
    operator.close();
    other.close();
  }
}

/** Wall-clock time of whole processes. */
function compareTimes(builds, node, operator, seconds) {
  const names = [];
  const commands = {};
  for (const { build, program, homes } of builds) {
    const add = (name, words, env) => {
      if (!names.includes(name)) names.push(name);
      commands[`${name} ${build}`] = { command: [node, program, ...words], env };
    };
    for (const [name, words] of Object.entries(SHORT)) add(`time of ${name}`, words, operator.env);
    for (const { what, env } of homes)
      add(`time of accounts list, ${what}`, ['accounts', 'list', '--psu-ip', '203.0.113.7'], env);
  }
  const times = timeProcesses(commands, { rounds: MAX_ROUNDS, atLeast: MIN_PAIRS, seconds });
  return names.map((name) => ({
    name,
    unit: 'ms',
    ...intervalOf(times.ratios(`${name} this`, `${name} other`)),
    own: times.median(`${name} this`),
    others: times.median(`${name} other`),
  }));
}

/** CPU time of a synced call. */
function compareSync(builds, node, operator, seconds) {
  const [own, others] = builds;
  const rows = own.homes.map(({ what }) => ({
    name: `CPU time of a synced call, ${what}`,
    times: { this: [], other: [] },
  }));
  for (const round of roundsWithin(seconds, { atLeast: MIN_PAIRS, atMost: MAX_ROUNDS })) {
    for (const [at, { times }] of rows.entries()) {
      for (const { build, program, homes } of round % 2 === 0 ? [own, others] : [others, own]) {
        const name = `${build}-${at}-${round}`;
        times[build].push(timeSync([node, program], operator, name, homes[at].env).own * 1000);
      }
    }
  }
  return rows.map(({ name, times }) => ({
    name,
    unit: 'ms',
    ...intervalOf(times.this.map((time, round) => time / times.other[round])),
    own: median(times.this),
    others: median(times.other),
  }));
}

function tableOf(rows, commit) {
  const lines = rows.map(({ name, median: ratio, low, high, differs, own, others, unit }) => {
    const verdict = differs ? (ratio < 1 ? 'faster' : 'slower') : 'no difference seen';
    return `| ${name} | ${ratio.toFixed(3)} | ${low.toFixed(3)} to ${high.toFixed(3)} | ${verdict} | ${own.toFixed(2)} ${unit} against ${others.toFixed(2)} ${unit} |`;
  });
  return [
    `This build against ${commit}. The median of the paired ratios lies in the interval with a probability of 99 %.`,
    '',
    '| | ratio | interval | this build is | medians |',
    '| --- | --- | --- | --- | --- |',
    ...lines,
  ].join('\n');
}

/** Builds a commit in a temporary worktree, with the packages of its own package-lock.json. */
function buildOf(commit, env) {
  const folder = mkdtempSync(join(tmpdir(), 'psd2-against-'));
  const git = (...words) =>
    execFileSync('git', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  const remove = () => {
    git('worktree', 'remove', '--force', folder);
    rmSync(folder, { recursive: true, force: true });
  };
  const hash = git('rev-parse', '--verify', `${commit}^{commit}`).trim();
  git('worktree', 'add', '--detach', folder, hash);
  try {
    // The script "prepare" builds psd2.
    execFileSync('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund'], {
      cwd: folder,
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    return { program: join(folder, 'bin', 'psd2.js'), close: remove };
  } catch (error) {
    remove();
    throw error;
  }
}
