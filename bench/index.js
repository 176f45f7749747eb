// What docs/performance.md rests on: npm run bench [-- section...]
// Every figure is a ratio against a baseline that was measured in the same run. Other runtimes than the one that
// runs this are named by PSD2_BENCH_NODES, paths separated by colons.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { bigAnswers } from './big-answers.js';
import { manyCalls } from './many-calls.js';
import { oneCall } from './one-call.js';
import { start } from './start.js';
import { waiting } from './waiting.js';

const SECTIONS = {
  start,
  'one-call': oneCall,
  'many-calls': manyCalls,
  'big-answers': bigAnswers,
  waiting,
};

const runtimes = [process.execPath, ...(process.env.PSD2_BENCH_NODES ?? '').split(':').filter(Boolean)].map(
  (node) => ({
    node,
    version: execFileSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim(),
  }),
);
const asked = process.argv.slice(2);
const results = [];
for (const [section, run] of Object.entries(SECTIONS)) {
  if (asked.length > 0 && !asked.includes(section)) continue;
  process.stdout.write(`\n${section}\n`);
  for (const { node, version } of runtimes) {
    for (const each of await run(node, version)) {
      results.push({ section, ...each });
      const { what, ratio, against, limit, least, reached, detail } = each;
      const bound =
        limit !== undefined ? `, at most ${limit}` : least !== undefined ? `, at least ${least}` : '';
      const verdict = reached === null ? '' : reached ? ' reached' : ' MISSED';
      process.stdout.write(
        `  ${ratio.toFixed(2).padStart(6)} × ${against}${bound}${verdict}\n           ${what}: ${detail}\n`,
      );
    }
  }
}
const file = fileURLToPath(new URL('results.json', import.meta.url));
const machine = { cpu: cpus()[0]?.model, cores: cpus().length };
writeFileSync(file, `${JSON.stringify({ date: new Date().toISOString(), machine, results }, null, 2)}\n`);
process.stdout.write(`\nWritten to bench/results.json\n`);
if (results.some(({ reached }) => reached === false)) process.exitCode = 1;
