// npm run mutation                      every room
// npm run mutation -- money journal     some rooms, or some sources (src/store/disk/lock.ts)
// npm run mutation -- --changed main    what was changed since a commit
//
// Stryker changes one place of the sources at a time, and warm-worker.js runs the tests that reach it. This script prints
// the mutants that no test notices. The results go into test/mutation/results.json, and `npm run figures` writes the table
// of docs/reliability.md from them.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { ROOMS, roomOf, testsOf } from './rooms.js';
import { judge, scoreOf } from './score.js';

const RESULTS = new URL('./results.json', import.meta.url);
const EQUIVALENT = JSON.parse(readFileSync(new URL('./equivalent.json', import.meta.url), 'utf8'));

/** The result of a source that has only types. */
const NO_MUTANTS = { mutants: 0, noticed: 0, equivalent: 0, survivors: [] };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { changed: { type: 'string' }, concurrency: { type: 'string', default: '1' } },
});
const rooms = new Map();
for (const file of chosenSources()) {
  const room = roomOf(file);
  if (room !== undefined) rooms.set(room, [...(rooms.get(room) ?? []), file]);
}

let missed = 0;
for (const [name, sources] of rooms) {
  const began = Date.now();
  const commit = String(execFileSync('git', ['rev-parse', '--short', 'HEAD'])).trim();
  const found = judge(await mutants(sources, testsOf(name, filesIn('test'))), EQUIVALENT);
  const results = { ...Object.fromEntries(sources.map((source) => [source, NO_MUTANTS])), ...found };
  const score = scoreOf(Object.values(results));
  const { least } = ROOMS[name];
  const seconds = Math.round((Date.now() - began) / 1000);
  say(`${name}: ${score.toFixed(1)} % of the mutants noticed, ${least} % required (${seconds} s)`);
  for (const [file, { mutants, noticed, survivors }] of Object.entries(results)) {
    say(`  ${file}: ${noticed} of ${mutants}`);
    for (const survivor of survivors) say(`    not noticed: ${survivor}`);
  }
  remember(results, commit);
  if (score < least) missed += 1;
}
process.exitCode = missed === 0 ? 0 : 1;

function chosenSources() {
  const all = filesIn('src');
  if (values.changed !== undefined) {
    const names = execFileSync('git', [
      'diff',
      '--name-only',
      '--diff-filter=d',
      values.changed,
      '--',
      'src',
    ]);
    return String(names).split('\n').filter(Boolean);
  }
  for (const name of positionals) {
    if (!Object.hasOwn(ROOMS, name) && !all.includes(name)) {
      say(`There is no room ${JSON.stringify(name)}. The rooms are ${Object.keys(ROOMS).join(', ')}.`);
      process.exit(2);
    }
  }
  return all.filter((file) => {
    return positionals.length === 0 || positionals.includes(file) || positionals.includes(roomOf(file));
  });
}

/** Every file in a folder and its subfolders. */
function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

/** @returns Stryker's result for each mutant, by file */
async function mutants(sources, tests) {
  const folder = mkdtempSync(join(tmpdir(), 'psd2-mutation-'));
  const fileName = join(folder, 'report.json');
  process.env.MUTATION_TESTS = tests.join(',');
  process.env.MUTATION_MEASURED = join(folder, 'measured.json');
  try {
    await new Stryker({
      mutate: sources,
      testRunner: 'warm',
      plugins: [fileURLToPath(new URL('./warm-runner.js', import.meta.url))],
      coverageAnalysis: 'perTest',
      concurrency: Number(values.concurrency),
      // warm-worker.js sets a limit for each test. This limit stops an endless loop.
      timeoutMS: 20_000,
      dryRunTimeoutMinutes: 30,
      tempDirName: join(folder, 'copy'),
      ignorePatterns: ['dist', 'bench', 'man', 'docs'],
      // TypeScript 7 has no programming interface, which Stryker would need to rewrite the file.
      tsconfigFile: 'none.json',
      reporters: ['json', process.stdout.isTTY ? 'progress' : 'progress-append-only'],
      jsonReporter: { fileName },
      logLevel: 'error',
    }).runMutationTest();
    return JSON.parse(readFileSync(fileName, 'utf8')).files;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function say(line) {
  process.stdout.write(`${line}\n`);
}

function remember(results, commit) {
  const all = JSON.parse(readFileSync(RESULTS, 'utf8'));
  for (const [file, result] of Object.entries(results)) all[file] = { commit, ...result };
  const sorted = Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(RESULTS, `${JSON.stringify(sorted, null, 2)}\n`);
}
