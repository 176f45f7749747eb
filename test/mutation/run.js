// npm run mutation                      every room
// npm run mutation -- money journal     some rooms, or some sources (src/store/disk/lock.ts)
// npm run mutation -- --changed         the sources that changed since they were measured
// npm run mutation -- --minutes 10      ends after that time: a source that is not done by then is not measured
// npm run mutation -- --part 1/4        a quarter of the sources, for four machines, or four nights
// npm run mutation -- --merge <file>    adds the results.json of another machine, and measures nothing
// npm run mutation -- --sample 8        tries 8 mutants of each source that is not known, first of those never measured; --seed 2: others
// npm run mutation -- --stale           measures nothing, and names what has changed or was never measured
//
// A source that is named is measured again, also with --sample: its tests may be new.
// With --changed, what has changed since it was measured comes before what never was. A room of which some sources were never
// measured has no score yet, so it cannot miss it.
// Stryker changes one place of the sources at a time, and warm-worker.js runs the tests that reach it. This script prints
// the mutants that no test notices. Their numbers go into test/mutation/results.json, and `npm run figures` writes the table
// of test/mutation/README.md from them.
import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { placeOfRun } from '../support/place-of-run.js';
import { contentOf } from './measured.js';
import { inOrder, merged, mustHaveScore, partOf, standingOf } from './plan.js';
import { ROOMS, roomOf, testsOf } from './rooms.js';
import { estimateOf, SAMPLE } from './sample.js';
import { judge } from './score.js';

const RESULTS = new URL('./results.json', import.meta.url);
const EQUIVALENT = JSON.parse(readFileSync(new URL('./equivalent.json', import.meta.url), 'utf8'));

/** How many sources a sample measures together at most: each start costs the time of the room's tests once. */
const TOGETHER = 150;

/** The result of a source that has only types. */
const NO_MUTANTS = { mutants: 0, noticed: 0, equivalent: 0, survivors: [] };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    changed: { type: 'boolean', default: false },
    minutes: { type: 'string', default: 'Infinity' },
    concurrency: { type: 'string', default: '1' },
    part: { type: 'string' },
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    merge: { type: 'string' },
    stale: { type: 'boolean', default: false },
  },
});
const minutes = Number(values.minutes);
if (!(minutes > 0)) {
  say(`--minutes needs a number of minutes, not ${JSON.stringify(values.minutes)}.`);
  process.exit(2);
}
if (values.sample !== undefined && !/^[1-9]\d*$/.test(values.sample)) {
  say(`--sample needs how many mutants of each source, not ${JSON.stringify(values.sample)}.`);
  process.exit(2);
}
const sample = values.sample === undefined ? undefined : { most: Number(values.sample), seed: values.seed };
if (sample !== undefined) process.env[SAMPLE] = JSON.stringify(sample);
const until = Date.now() + 60_000 * minutes;
const sources = filesIn('src').filter((file) => roomOf(file) !== undefined);
if (values.merge !== undefined) {
  write(merged(readResults(), JSON.parse(readFileSync(values.merge, 'utf8')), contentIfThere));
  sayStanding(false);
  process.exit();
}
if (values.stale) {
  sayStanding(true);
  process.exit();
}
const groups = groupsOf(chosenSources());
/** The copies of the sources that Stryker changes, and all other files of this run. */
const copies = mkdtempSync(join(placeOfRun(), 'psd2-mutation-'));
// Under root, the server of the tests runs as another user, and its folder is below this one.
chmodSync(copies, 0o711);
endWithThis(copies);
const measured = new Set();
for (const [room, files] of groups) {
  const began = Date.now();
  const results = began < until ? await unlessLate(measure(room, files)) : 'late';
  if (typeof results === 'string') {
    const why = results === 'late' ? 'the time is up' : `its tests fail without a mutant (${results})`;
    say(`Not measured, ${why}: ${files.join(' ')}`);
    continue;
  }
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
  const { least, reached = least } = ROOMS[room];
  const { score, within } = estimateOfRoom(room);
  const text = `${room}: ${score.toFixed(1)} %${within === 0 ? '' : ` (± ${within.toFixed(1)})`} of the mutants noticed`;
  if (!mustHaveScore(standingsIn(room)))
    say(`${text} so far. Some sources were never measured, so nothing is required yet`);
  else {
    say(`${text}, ${least} % required${reached < least ? `, ${reached} % reached before` : ''}`);
    if (score + within < reached) process.exitCode = 1;
  }
}
sayStanding(false);
process.exit();

/** However this run ends: its processes end, also those of a source that was given up, and the folder is removed. */
function endWithThis(folder) {
  const watcher = fileURLToPath(new URL('../support/left-behind.js', import.meta.url));
  const stdio = ['pipe', 'ignore', 'inherit'];
  spawn(process.execPath, [watcher, folder], { detached: true, stdio, env: {} }).unref();
  process.env.TMPDIR = folder;
}

/**
 * @returns what the work gives; `late` if the time of the run is up before; the message of a failure. Tests that fail without
 *   a mutant fail in `npm test` too, or the machine is too busy to measure
 */
async function unlessLate(work) {
  const failed = work.catch((error) => error.message);
  if (minutes === Infinity) return failed;
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(() => resolve('late'), until - Date.now());
  });
  try {
    return await Promise.race([failed, late]);
  } finally {
    clearTimeout(timer);
  }
}

function standingsIn(room) {
  const known = readResults();
  return sources.filter((file) => roomOf(file) === room).map((file) => standingOf(file, known, contentOf));
}

/** Says how much of each room was measured. @param isWhole also names the sources that are to be measured */
function sayStanding(isWhole) {
  const known = readResults();
  for (const room of Object.keys(ROOMS)) {
    const mine = sources.filter((file) => roomOf(file) === room);
    const of = (standing) => mine.filter((file) => standingOf(file, known, contentOf) === standing);
    const [asItIs, stale, never] = ['as it is', 'stale', 'never'].map(of);
    if (asItIs.length === mine.length) continue;
    say(
      `${room}: ${asItIs.length} of ${mine.length} sources are as they were measured, ${stale.length} have changed, ${never.length} were never measured`,
    );
    if (!isWhole) continue;
    for (const file of stale) say(`  changed: ${file}`);
    for (const file of never) say(`  never measured: ${file}`);
  }
}

function chosenSources() {
  for (const name of positionals) {
    if (!Object.hasOwn(ROOMS, name) && !sources.includes(name)) {
      say(`There is no room ${JSON.stringify(name)}. The rooms are ${Object.keys(ROOMS).join(', ')}.`);
      process.exit(2);
    }
  }
  const known = readResults();
  const chosen = sources
    .map((file) => ({ file, size: statSync(file).size, standing: standingOf(file, known, contentOf) }))
    .filter(({ file, standing }) => {
      // Who names a source has new tests of it.
      if (positionals.includes(file)) return true;
      if ((values.changed || sample !== undefined) && standing === 'as it is') return false;
      return positionals.length === 0 || positionals.includes(roomOf(file));
    });
  const mine = values.part === undefined ? chosen : partOf(chosen, values.part);
  if (mine === undefined) {
    say(`--part needs a part of how many, for example 1/4, not ${JSON.stringify(values.part)}.`);
    process.exit(2);
  }
  return inOrder(mine, sample !== undefined).map(({ file }) => file);
}

/**
 * What is measured together, since each start costs the time of the tests once. With a time limit each source is on its
 * own, so that what was measured by then counts.
 *
 * @returns {[string, string[]][]} rooms with sources
 */
function groupsOf(files) {
  if (sample !== undefined) return groupsOfSample(files);
  if (minutes !== Infinity) return files.map((file) => [roomOf(file), [file]]);
  return Object.keys(ROOMS)
    .map((room) => [room, files.filter((file) => roomOf(file) === room)])
    .filter(([, mine]) => mine.length > 0);
}

/** In the order of the sources, so that those come first that say most. */
function groupsOfSample(files) {
  const groups = [];
  const left = [...files];
  for (let [first] = left; first !== undefined; [first] = left) {
    const room = roomOf(first);
    const mine = left.filter((file) => roomOf(file) === room).slice(0, TOGETHER);
    groups.push([room, mine]);
    for (const file of mine) left.splice(left.indexOf(file), 1);
  }
  return groups;
}

async function measure(room, files) {
  process.env.MUTATION_ROOM = room;
  const found = judge(await mutants(files, testsOf(room, filesIn('test'))), EQUIVALENT, sample);
  return { ...Object.fromEntries(files.map((file) => [file, NO_MUTANTS])), ...found };
}

/** The score over every source of the room that was measured, also earlier. */
function estimateOfRoom(room) {
  const known = readResults();
  return estimateOf(
    sources.filter((file) => roomOf(file) === room && known[file]).map((file) => known[file]),
  );
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
  const folder = mkdtempSync(join(copies, 'room-'));
  const fileName = join(folder, 'report.json');
  process.env.MUTATION_TESTS = tests.join(',');
  process.env.MUTATION_MEASURED = join(folder, 'measured.json');
  process.env.MUTATION_DEPENDENT = join(folder, 'dependent.json');
  try {
    await new Stryker({
      mutate: sources,
      testRunner: 'warm',
      plugins: [fileURLToPath(new URL('./warm-runner.js', import.meta.url))],
      coverageAnalysis: 'perTest',
      concurrency: Number(values.concurrency),
      // warm-worker.js sets a limit for each test. This limit stops an endless loop, and must not stop tests on a busy machine.
      timeoutMS: 120_000,
      dryRunTimeoutMinutes: 30,
      tempDirName: join(folder, 'copy'),
      ignorePatterns: ['/dist', '/bench', '/man'],
      // TypeScript 7 has no programming interface, which Stryker would need to rewrite the file.
      tsconfigFile: 'none.json',
      reporters: ['json', process.stdout.isTTY ? 'progress' : 'progress-append-only'],
      jsonReporter: { fileName },
      logLevel: 'error',
    }).runMutationTest();
    if (existsSync(process.env.MUTATION_DEPENDENT))
      for (const { path, name } of JSON.parse(readFileSync(process.env.MUTATION_DEPENDENT, 'utf8')))
        say(`Left out, since it fails alone: ${path}: ${name}`);
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

function contentIfThere(file) {
  return sources.includes(file) ? contentOf(file) : undefined;
}

/** Adds results, and drops those of sources that no longer exist. What was not noticed is printed, not kept. */
function remember(results) {
  const commit = String(execFileSync('git', ['rev-parse', '--short', 'HEAD'])).trim();
  const all = readResults();
  for (const [file, { mutants, noticed, equivalent, of }] of Object.entries(results)) {
    all[file] = { commit, content: contentOf(file), mutants, noticed, equivalent, of };
  }
  write(all);
}

function write(all) {
  const kept = Object.entries(all).filter(([file]) => sources.includes(file));
  const rows = kept
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, result]) => `  ${JSON.stringify(file)}: ${JSON.stringify(result)}`);
  writeFileSync(RESULTS, `{\n${rows.join(',\n')}\n}\n`);
}
