// Measures the figures of test/crash/README.md: npm run reliability [-- cb|nextgenpsd2|proof|embedded] [-- --anew], and
// npm run reliability -- fleet (reliability-fleet.js).
// Stops psd2 at every point between two of its steps, in every way, and records the outcomes under node_modules/.cache. If
// neither the program nor the tests changed, a second run continues from there. --anew starts from the beginning.
// --points tries at most so many points of each case in each way, spread over it. TEST_SEED changes nothing.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  createWriteStream,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

if (process.argv.includes('fleet')) {
  await import('./reliability-fleet.js');
  process.exit();
}

const root = fileURLToPath(new URL('..', import.meta.url));
const page = join(root, 'test', 'crash', 'README.md');
const processors = availableParallelism();
/**
 * The parts of the matrix: the tests, and the kinds of test/crash/tried.ts in the order of the page. Of tests that measure how
 * long a signal takes, at most one a processor runs at a time.
 */
const PARTS = {
  cb: {
    runs: [
      {
        tests: ['stalled', 'restored-journal', 'missing-file', 'kill', 'durable'],
        sideBySide: 2 * processors,
      },
      { tests: ['stop', 'stops'], sideBySide: processors },
    ],
    kinds: ['stopped', 'stalled', 'told to stop', 'restored journal', 'missing file'],
    table: (all) => `${tableOf(PARTS.cb.kinds, all)}${toldToStop(all)}\n`,
  },
  nextgenpsd2: {
    runs: [{ tests: ['nextgenpsd2', 'nextgenpsd2-payments', 'batch'], sideBySide: 2 * processors }],
    kinds: ['NextGenPSD2', 'NextGenPSD2 payment', 'batch of five'],
    table: (all) => `${tableOf(PARTS.nextgenpsd2.kinds, all)}\n`,
  },
  proof: {
    runs: [{ tests: ['proof'], sideBySide: 2 * processors }],
    kinds: ['what an answer proves'],
    table: (all) => `${tableOf(PARTS.proof.kinds, all)}\n`,
  },
  embedded: {
    runs: [{ tests: ['embedded', 'embedded-secrets'], sideBySide: 2 * processors }],
    kinds: ['embedded SCA'],
    table: (all) => `${tableOf(PARTS.embedded.kinds, all)}\n`,
  },
};
const HEAD = `| Kind | How | Cases | Points | As promised | Paid or executed twice | Logins lost | Rows twice or missing | Ends unknown | Not as promised |
|---|---|---|---|---|---|---|---|---|---|
`;
const SHOWN_EVERY_MS = process.stderr.isTTY ? 1_000 : 30_000;

const {
  positionals: words,
  values: { anew, points },
} = parseArgs({
  allowPositionals: true,
  options: { anew: { type: 'boolean' }, points: { type: 'string' } },
});
if (points !== undefined && !/^[1-9]\d*$/.test(points)) {
  tell(`--points ${points} is not a number of points.\n`);
  process.exit(2);
}
const unknown = words.find((word) => !Object.hasOwn(PARTS, word));
if (unknown !== undefined) {
  tell(`There is no part ${unknown}. There are ${Object.keys(PARTS).join(', ')} and fleet.\n`);
  process.exit(2);
}
const chosen = words.length > 0 ? words : Object.keys(PARTS);

execFileSync(process.execPath, ['scripts/build.js'], { cwd: root, stdio: 'inherit' });
const cache = join(root, 'node_modules', '.cache', 'psd2-reliability');
const figures = join(
  cache,
  digestOf([
    ...['dist', 'test/crash', 'test/e2e/support/psd2.ts', 'test/hostile/resident-psd2.js'],
    'test/store/postgres/server.ts',
  ]) + (points === undefined ? '' : `-${points}`),
);
if (anew) rmSync(figures, { recursive: true, force: true });
mkdirSync(figures, { recursive: true });
rmSync(join(figures, 'stop'), { force: true });
const begun = Date.now();
const before = readOutcomes().length;
if (before > 0) tell(`${before} points are known from an earlier run.\n`);

let stopped = false;
for (const name of chosen) await measure(name, PARTS[name]);

/** Runs a part of the matrix, prints its table, and writes it into the page if all is as promised. */
async function measure(name, { runs, kinds, table }) {
  let failed = false;
  for (const run of runs) failed = stopped || !(await passes(run)) || failed;
  if (stopped) {
    tell('Stopped. The same command continues from here.\n');
    process.exit(130);
  }
  const all = readOutcomes().filter(({ kind }) => kinds.includes(kind));
  const share =
    points === undefined
      ? ''
      : `At most ${points} points of each case in each way were tried, spread over it.\n\n`;
  const text = `${table(all)}${share}Node.js ${process.versions.node}, ${new Date().toISOString().slice(0, 10)}, commit ${commit()}.\n`;
  process.stdout.write(`${text}\n`);
  for (const { scenario, how, point, problems } of all.filter((each) => each.problems.length > 0)) {
    process.stdout.write(`${scenario}, ${how}, ${point}: ${problems.join('; ')}\n`);
  }
  if (failed || all.some(({ twice }) => twice)) {
    process.stdout.write(
      `Something was not as promised. ${figures} has the output of the tests. The page was not changed.\n`,
    );
    process.exitCode = 1;
    return;
  }
  const before = readFileSync(page, 'utf8');
  const begin = `<!-- figures of ${name} -->\n`;
  const head = before.slice(0, before.indexOf(begin) + begin.length);
  const rest = before.slice(before.indexOf(`<!-- end of figures of ${name} -->`));
  writeFileSync(page, `${head}\n${text}\n${rest}`);
  process.stdout.write('Written to test/crash/README.md\n');
}

function commit() {
  return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
}

/** Runs some tests of the matrix and shows progress. @returns whether all of them passed */
async function passes({ tests, sideBySide }) {
  const args = [
    'run',
    '--project',
    'long',
    '--maxWorkers',
    '3',
    ...tests.map((test) => `test/crash/${test}.test.ts`),
  ];
  const child = spawn(process.execPath, [join(root, 'node_modules', 'vitest', 'vitest.mjs'), ...args], {
    cwd: root,
    // Ctrl-C is for this process. It lets the tests end their banks properly.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      CRASH_MATRIX: 'all',
      ...(points !== undefined && { CRASH_POINTS: points }),
      CRASH_FIGURES: figures,
      CRASH_SIDE_BY_SIDE: String(sideBySide),
    },
  });
  const said = createWriteStream(join(figures, `${tests[0]}.log`));
  child.stdout.pipe(said, { end: false });
  child.stderr.pipe(said, { end: false });
  const stop = () => {
    if (stopped) process.kill(-child.pid, 'SIGKILL');
    stopped = true;
    writeFileSync(join(figures, 'stop'), '');
    tell('\nWaiting for the running tests to end. Press Ctrl-C again to stop at once.\n');
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  const shown = setInterval(showProgress, SHOWN_EVERY_MS);
  const status = await new Promise((resolve) => child.once('close', resolve));
  clearInterval(shown);
  process.off('SIGINT', stop).off('SIGTERM', stop);
  said.end();
  showProgress();
  tell('\n');
  return status === 0;
}

function showProgress() {
  const files = readFiles();
  const done = files.flatMap(({ outcomes }) => outcomes);
  const now = files
    .filter(({ points, outcomes }) => outcomes.length < points)
    .map(({ scenario, how, points, outcomes }) => `${scenario} (${how}) ${outcomes.length} of ${points}`);
  const minutes = ((Date.now() - begun) / 60_000).toFixed(1);
  const bad = done.filter(({ problems }) => problems.length > 0).length;
  const line = `${minutes} min: ${done.length} points, ${bad} not as promised. ${now.join(', ')}`;
  tell(process.stderr.isTTY ? `\r\u001b[K${line.slice(0, (process.stderr.columns ?? 80) - 1)}` : `${line}\n`);
}

function tell(text) {
  process.stderr.write(text);
}

function readOutcomes() {
  return readFiles().flatMap(({ outcomes }) => outcomes);
}

/** The recorded outcomes of each scenario and way. See test/crash/kept-outcomes.ts. */
function readFiles() {
  return readdirSync(figures)
    .filter((file) => file.endsWith('.ndjson'))
    .map((file) => readFileSync(join(figures, file), 'utf8').split('\n').slice(0, -1))
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((line) => JSON.parse(line)))
    .map(([head, ...outcomes]) => ({ ...head, outcomes }));
}

/** A hash of the contents of files and folders, and of the Node.js that runs them. */
function digestOf(paths) {
  const hash = createHash('sha256').update(process.versions.node);
  const add = (path) => {
    hash.update(path);
    if (!statSync(join(root, path)).isDirectory()) hash.update(readFileSync(join(root, path)));
    else for (const name of readdirSync(join(root, path)).sort()) add(join(path, name));
  };
  paths.forEach(add);
  return hash.digest('hex').slice(0, 16);
}

function tableOf(kinds, all) {
  const groups = kinds.flatMap((kind) => {
    const tried = all.filter((outcome) => outcome.kind === kind);
    const ways = [...new Set(tried.map(({ how }) => how))];
    return ways.map((way) => tried.filter(({ how }) => how === way));
  });
  const rows = groups.map((tried) => rowOf(tried[0].kind, tried[0].how, tried));
  const missed = groups.flat().filter(({ reached }) => !reached).length;
  return `${HEAD}${[...rows, rowOf('**all**', '', groups.flat())].join('')}
${missed} points were not reached again.
`;
}

function toldToStop(all) {
  const longest = (isTwice) =>
    Math.max(
      ...all
        .filter(
          ({ how, reached }) =>
            reached && /SIGINT|SIGTERM|twice/.test(how) && how.includes('twice') === isTwice,
        )
        .map(({ tookToEnd }) => tookToEnd),
    );
  return `A process that was told to stop ended after ${longest(false)} ms at most, with what it had sent stored; when it was told twice,
after ${longest(true)} ms at most.
`;
}

function rowOf(kind, how, tried) {
  const reached = tried.filter((outcome) => outcome.reached);
  const count = (test) => reached.filter(test).length;
  const cells = [
    kind,
    how,
    new Set(tried.map((outcome) => `${outcome.kind} ${outcome.how} ${outcome.scenario}`)).size,
    reached.length,
    count(({ problems }) => problems.length === 0),
    count(({ twice }) => twice),
    count(({ lost }) => lost),
    count(({ rows }) => rows),
    count(({ ends }) => ends.includes('unknown')),
    count(({ problems }) => problems.length > 0),
  ];
  return `| ${cells.join(' | ')} |\n`;
}
