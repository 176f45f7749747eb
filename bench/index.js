// What docs/performance.md rests on: npm run bench [-- section...]
// Every figure is a ratio against a baseline that was measured in the same run. Other runtimes than the one that
// runs this are named by PSD2_BENCH_NODES, paths separated by colons.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { bigAnswers } from './big-answers.js';
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
  waiting,
  sandbox,
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
    `There is no section ${unknown.join(', ')}; there are ${Object.keys(SECTIONS).join(', ')}\n`,
  );
  process.exit(2);
}
const file = (name) => fileURLToPath(new URL(name, import.meta.url));
const RESULTS = file('results.json');
const PAGE = file('../docs/performance.md');
const BEGIN = '<!-- figures -->\n';
const END = '<!-- end of figures -->';
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
  const page = readFileSync(PAGE, 'utf8');
  const head = page.slice(0, page.indexOf(BEGIN) + BEGIN.length);
  writeFileSync(PAGE, `${head}\n${tablesOf(all)}\n${page.slice(page.indexOf(END))}`);
}
process.stdout.write(`\n${tablesOf(results)}\nWritten to bench/results.json and docs/performance.md\n`);
if (results.some(({ reached }) => reached === false)) process.exitCode = 1;

/** Sections that were not run keep what they had. */
function withOthers() {
  const before = existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, 'utf8')).results : [];
  const ran = new Set(results.map(({ section }) => section));
  const order = Object.keys(SECTIONS);
  return [...before.filter(({ section }) => !ran.has(section)), ...results].sort(
    (a, b) => order.indexOf(a.section) - order.indexOf(b.section),
  );
}

/** In Markdown, a table for each section. */
function tablesOf(some) {
  return Object.keys(SECTIONS)
    .filter((section) => some.some((each) => each.section === section))
    .map((section) => `### ${section}\n\n${tableOf(some.filter((each) => each.section === section))}`)
    .join('\n');
}

function tableOf(some) {
  const rows = some.map(({ what, ratio, against, limit, least, reached, detail }) => [
    what,
    `${ratio.toFixed(2)} × ${against}`,
    limit !== undefined ? `at most ${limit}` : least !== undefined ? `at least ${least}` : '',
    reached === null ? '' : reached ? 'reached' : '**missed**',
    detail,
  ]);
  const lines = [['', 'Figure', 'Limit', '', 'Measured'], Array(5).fill('---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}
