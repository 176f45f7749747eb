// Measures the figures of docs/performance.md: npm run bench [-- section...]
// Every figure is a ratio to a baseline that was measured in the same run. PSD2_BENCH_NODES names further Node.js programs
// to measure: paths, separated by colons.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { batches } from './batches.js';
import { bigAnswers } from './big-answers.js';
import { tablesOf, writeFigures } from './figures.js';
import { fleet } from './fleet.js';
import { interfaces } from './interfaces.js';
import { lists } from './lists.js';
import { manyCalls } from './many-calls.js';
import { oneCall } from './one-call.js';
import { sandbox } from './sandbox.js';
import { start } from './start.js';
import { waiting } from './waiting.js';

const SECTIONS = {
  start,
  'one-call': oneCall,
  'many-calls': manyCalls,
  'big-answers': bigAnswers,
  lists,
  batches,
  waiting,
  sandbox,
  fleet,
  interfaces,
};

const runtimes = [process.execPath, ...(process.env.PSD2_BENCH_NODES ?? '').split(':').filter(Boolean)].map(
  (node) => ({
    node,
    version: execFileSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim(),
  }),
);
const asked = process.argv.slice(2);
const unknown = asked.filter((section) => !Object.hasOwn(SECTIONS, section));
if (unknown.length > 0) {
  process.stderr.write(
    `Unknown section: ${unknown.join(', ')}. The sections are ${Object.keys(SECTIONS).join(', ')}\n`,
  );
  process.exit(2);
}
const file = (name) => fileURLToPath(new URL(name, import.meta.url));
const RESULTS = file('results.json');
const machine = `${cpus()[0]?.model}, ${cpus().length} cores`;
const results = [];
for (const [section, run] of Object.entries(SECTIONS)) {
  if (asked.length > 0 && !asked.includes(section)) continue;
  for (const { node, version } of runtimes) {
    process.stdout.write(`${section}, Node ${version} ...\n`);
    for (const each of await run(node, version))
      results.push({ section, date: new Date().toISOString(), machine, ...each });
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
