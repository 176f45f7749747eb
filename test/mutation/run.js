// npm run mutation                      every room
// npm run mutation -- money journal     some rooms, or some sources (src/store/disk/lock.ts)
// npm run mutation -- --changed         the sources that changed since they were measured
// npm run mutation -- --minutes 10      begins no other source after that time
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
import { contentOf, isMeasured } from './measured.js';
import { ROOMS, roomOf, testsOf } from './rooms.js';
import { judge, scoreOf } from './score.js';

const RESULTS = new URL('./results.json', import.meta.url);
const EQUIVALENT = JSON.parse(readFileSync(new URL('./equivalent.json', import.meta.url), 'utf8'));

/** The result of a source that has only types. */
const NO_MUTANTS = { mutants: 0, noticed: 0, equivalent: 0, survivors: [] };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    changed: { type: 'boolean', default: false },
    minutes: { type: 'string', default: 'Infinity' },
    concurrency: { type: 'string', default: '1' },
  },
});
const minutes = Number(values.minutes);
if (!(minutes > 0)) {
  say(`--minutes needs a number of minutes, not ${JSON.stringify(values.minutes)}.`);
  process.exit(2);
}
const until = Date.now() + 60_000 * minutes;
const sources = filesIn('src').filter((file) => roomOf(file) !== undefined);
const groups = groupsOf(chosenSources());
const measured = new Set();
for (const [room, files] of groups) {
  if (Date.now() >= until) {
    say(`Not measured, the time is up: ${files.join(' ')}`);
    continue;
  }
  const began = Date.now();
  const results = await measure(room, files);
  measured.add(room);
  say(`${room}, ${files.length} sources (${Math.round((Date.now() - began) / 1000)} s)`);
  for (const [file, { mutants, noticed, survivors }] of Object.entries(results)) {
    say(`  ${file}: ${noticed} of ${mutants}`);
    for (const survivor of survivors) say(`    not noticed: ${survivor}`);
  }
  remember(results);
}
if (groups.length === 0) say('Every source is as it was measured.');
for (const room of measured) {
  const score = scoreOfRoom(room);
  const { least } = ROOMS[room];
  say(`${room}: ${score.toFixed(1)} % of the mutants noticed, ${least} % required`);
  if (score < least) process.exitCode = 1;
}

function chosenSources() {
  for (const name of positionals) {
    if (!Object.hasOwn(ROOMS, name) && !sources.includes(name)) {
      say(`There is no room ${JSON.stringify(name)}. The rooms are ${Object.keys(ROOMS).join(', ')}.`);
      process.exit(2);
    }
  }
  const known = readResults();
  return sources.filter((file) => {
    if (values.changed && isMeasured(file, known)) return false;
    return positionals.length === 0 || positionals.includes(file) || positionals.includes(roomOf(file));
  });
}

/**
 * What is measured together, since each start costs the time of the tests once. With a time limit each source is on its
 * own, so that what was measured by then counts.
 *
 * @returns {[string, string[]][]} rooms with sources
 */
function groupsOf(files) {
  if (minutes !== Infinity) return files.map((file) => [roomOf(file), [file]]);
  return Object.keys(ROOMS)
    .map((room) => [room, files.filter((file) => roomOf(file) === room)])
    .filter(([, mine]) => mine.length > 0);
}

async function measure(room, files) {
  process.env.MUTATION_ROOM = room;
  const found = judge(await mutants(files, testsOf(room, filesIn('test'))), EQUIVALENT);
  return { ...Object.fromEntries(files.map((file) => [file, NO_MUTANTS])), ...found };
}

/** The score over every source of the room that was measured, also earlier. */
function scoreOfRoom(room) {
  const known = readResults();
  return scoreOf(sources.filter((file) => roomOf(file) === room && known[file]).map((file) => known[file]));
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

function readResults() {
  return JSON.parse(readFileSync(RESULTS, 'utf8'));
}

/** Adds results, and drops those of sources that no longer exist. */
function remember(results) {
  const commit = String(execFileSync('git', ['rev-parse', '--short', 'HEAD'])).trim();
  const all = readResults();
  for (const [file, result] of Object.entries(results)) {
    all[file] = { commit, content: contentOf(file), ...result };
  }
  const kept = Object.entries(all).filter(([file]) => sources.includes(file));
  const sorted = Object.fromEntries(kept.sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(RESULTS, `${JSON.stringify(sorted, null, 2)}\n`);
}
