// npm run mutation                      every room, which takes hours
// npm run mutation -- money journal     some rooms
// npm run mutation -- --changed main    what was changed since a commit, room by room
//
// Stryker changes one place of the sources after the other and runs the tests that reach it. What no test notices is printed.
// Figures go into test/mutation/results.json; `npm run figures` makes the table of docs/reliability.md of them.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, matchesGlob } from 'node:path';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { ROOMS } from './rooms.js';
import { judge } from './score.js';

const RESULTS = new URL('./results.json', import.meta.url);
const EQUIVALENT = JSON.parse(readFileSync(new URL('./equivalent.json', import.meta.url), 'utf8'));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { changed: { type: 'string' }, concurrency: { type: 'string' } },
});
const names = positionals.length > 0 ? positionals : Object.keys(ROOMS);
for (const name of names) {
  if (!Object.hasOwn(ROOMS, name)) {
    say(`There is no room ${JSON.stringify(name)}. The rooms are ${Object.keys(ROOMS).join(', ')}.`);
    process.exit(2);
  }
}

const changed =
  values.changed === undefined
    ? undefined
    : execFileSync('git', ['diff', '--name-only', '--diff-filter=d', values.changed, '--', 'src'], {
        encoding: 'utf8',
      }).split('\n');

let missed = 0;
for (const name of names) {
  const { least, mutate, tests } = ROOMS[name];
  const sources =
    changed?.filter((file) => mutate.some((glob) => matchesGlob(file, glob))) ??
    mutate.map((glob) => (glob.endsWith('**') ? `${glob}/*.ts` : glob));
  if (sources.length === 0) continue;
  const result = judge(await mutants(sources, tests), EQUIVALENT);
  say(`${name}: ${result.score.toFixed(1)} % of ${result.mutants} mutants noticed, ${least} % are wanted`);
  for (const survivor of result.survivors) say(`  not noticed: ${describe(survivor)}`);
  if (changed === undefined) remember(name, { ...result, least, survivors: result.survivors.map(describe) });
  if (result.score < least) missed += 1;
}
process.exitCode = missed === 0 ? 0 : 1;

/** @returns what Stryker says of each mutant, by file */
async function mutants(sources, tests) {
  const folder = mkdtempSync(join(tmpdir(), 'psd2-mutation-'));
  const fileName = join(folder, 'report.json');
  process.env.MUTATION_TESTS = tests
    .map((path) => (path.endsWith('.ts') ? path : `${path}/**/*.test.ts`))
    .join(',');
  try {
    await new Stryker({
      mutate: [...sources, '!src/**/*.d.ts'],
      testRunner: 'vitest',
      plugins: ['@stryker-mutator/vitest-runner'],
      vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
      coverageAnalysis: 'perTest',
      concurrency: Number(values.concurrency ?? availableParallelism()),
      timeoutMS: 30_000,
      tempDirName: join(folder, 'copy'),
      ignorePatterns: ['dist', 'bench', 'man'],
      // TypeScript 7 has no interface for programs, by which Stryker would rewrite the file.
      tsconfigFile: 'none.json',
      reporters: ['json'],
      jsonReporter: { fileName },
      logLevel: 'error',
    }).runMutationTest();
    return JSON.parse(readFileSync(fileName, 'utf8')).files;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function describe({ file, line, before, after }) {
  return `${file}:${line} ${oneLine(before)} -> ${oneLine(after)}`;
}

function oneLine(text) {
  const line = text.replace(/\s+/g, ' ');
  return line.length > 100 ? `${line.slice(0, 99)}…` : line;
}

function say(line) {
  process.stdout.write(`${line}\n`);
}

function remember(name, result) {
  const all = JSON.parse(readFileSync(RESULTS, 'utf8'));
  all[name] = { ...result, date: new Date().toISOString().slice(0, 10) };
  writeFileSync(RESULTS, `${JSON.stringify(all, null, 2)}\n`);
}
