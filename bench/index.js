// Measures the figures of docs/performance.md: npm run bench [-- section...] [--minutes <most>]
// Every figure is a ratio to a baseline that was measured in the same run. PSD2_BENCH_NODES names further Node.js programs
// to measure: paths, separated by colons. `--against <commit>` compares this build with another one, and writes no figures.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { compareWith } from './against.js';
import { batches } from './batches.js';
import { bigAnswers } from './big-answers.js';
import { keepAllowed } from './environment.js';
import { tablesOf, writeFigures } from './figures.js';
import { fleet } from './fleet.js';
import { interfaces } from './interfaces.js';
import { lists } from './lists.js';
import { manyCalls } from './many-calls.js';
import { oneCall } from './one-call.js';
import { reports } from './reports.js';
import { sandbox } from './sandbox.js';
import { start } from './start.js';
import { waiting } from './waiting.js';

/**
 * What a section may take, in minutes. Those whose work does not depend on the time take about that long on two cores. All of it
 * takes half an hour with three runtimes: only the first two sections run with each.
 */
const SECTIONS = {
  start: { run: start, minutes: 0.5, withEach: true },
  'one-call': { run: oneCall, minutes: 1.2, withEach: true },
  'many-calls': { run: manyCalls, minutes: 8 },
  'big-answers': { run: bigAnswers, minutes: 4 },
  reports: { run: reports, minutes: 1 },
  lists: { run: lists, minutes: 6 },
  batches: { run: batches, minutes: 2 },
  waiting: { run: waiting, minutes: 0.5 },
  sandbox: { run: sandbox, minutes: 2 },
  fleet: { run: fleet, minutes: 4.5 },
  interfaces: { run: interfaces, minutes: 2 },
};
const MAX_MINUTES = 30;

const nodes = [process.execPath, ...(process.env.PSD2_BENCH_NODES ?? '').split(':').filter(Boolean)];
const callersEnvironment = { ...process.env };
const removed = keepAllowed(process.env).filter((name) => /^(NODE|PSD2)_/.test(name));
if (removed.length > 0) process.stdout.write(`Measured without ${removed.join(', ')}\n`);
const runtimes = nodes.map((node) => ({
  node,
  version: execFileSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim(),
}));
const { values, positionals: asked } = parseArgs({
  allowPositionals: true,
  options: { against: { type: 'string' }, minutes: { type: 'string', default: String(MAX_MINUTES) } },
});
const minutes = Number(values.minutes);
if (!(minutes > 0)) fail(`--minutes is a number of minutes, not ${values.minutes}`);
if (values.against !== undefined) {
  const seconds = (minutes / runtimes.length) * 60;
  for (const { node, version } of runtimes) {
    const table = await compareWith(values.against, { node, seconds, env: callersEnvironment });
    process.stdout.write(`\nNode ${version}\n\n${table}\n`);
  }
  process.exit();
}
const unknown = asked.filter((section) => !Object.hasOwn(SECTIONS, section));
if (unknown.length > 0)
  fail(`Unknown section: ${unknown.join(', ')}. The sections are ${Object.keys(SECTIONS).join(', ')}`);
const plan = Object.entries(SECTIONS)
  .filter(([section]) => asked.length === 0 || asked.includes(section))
  .map(([section, each]) => ({
    section,
    ...each,
    runtimes: each.withEach ? runtimes : runtimes.slice(0, 1),
  }));
const together = plan.reduce((sum, each) => sum + each.minutes * each.runtimes.length, 0);
/** More rounds if there is time for them. */
const share = minutes / together;
for (const each of plan)
  process.stdout.write(
    `${each.section}: at most ${(each.minutes * share * each.runtimes.length).toFixed(1)} minutes, Node ${each.runtimes.map(({ version }) => version).join(', ')}\n`,
  );
const file = (name) => fileURLToPath(new URL(name, import.meta.url));
const RESULTS = file('results.json');
const machine = `${cpus()[0]?.model}, ${cpus().length} cores`;
const results = [];
for (const { section, run, ...planned } of plan) {
  for (const { node, version } of planned.runtimes) {
    const begun = performance.now();
    for (const each of await run(node, version, planned.minutes * share * 60))
      results.push({ section, date: new Date().toISOString(), machine, ...each });
    const took = (performance.now() - begun) / 60_000;
    process.stdout.write(`${section}, Node ${version}: ${took.toFixed(1)} minutes\n`);
  }
  const all = withOthers();
  writeFileSync(RESULTS, `${JSON.stringify({ results: all }, null, 2)}\n`);
  writeFigures(all);
}
process.stdout.write(
  `\n${tablesOf(results)}\nWritten to bench/results.json, docs/performance.md and docs/performance.svg\n`,
);
if (results.some(({ reached }) => reached === false)) process.exitCode = 1;

/** Sections that were not run keep their results. */
function withOthers() {
  const before = existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, 'utf8')).results : [];
  const ran = new Set(results.map(({ section }) => section));
  const order = Object.keys(SECTIONS);
  return [...before.filter(({ section }) => !ran.has(section)), ...results].sort(
    (a, b) => order.indexOf(a.section) - order.indexOf(b.section),
  );
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}
