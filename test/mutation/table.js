import { ROOMS, roomOf } from './rooms.js';
import { estimateOf } from './sample.js';

/**
 * The results of the mutants in Markdown: a table by room, and why a room misses what it misses.
 *
 * @param {Record<string, { commit: string, mutants: number, noticed: number, equivalent: number, of?: number }>} results test/mutation/results.json, by source
 * @param {string[]} sources all sources
 */
export function mutantsPage(results, sources) {
  const rows = Object.keys(ROOMS).map((name) => {
    const mine = sources.filter((file) => roomOf(file) === name);
    return row(name, ROOMS[name].least, mine, results);
  });
  const all = row(
    '**all**',
    90,
    sources.filter((file) => roomOf(file) !== undefined),
    results,
  ).with(-1, '');
  const head = [
    'Room',
    'Sources',
    'Mutants',
    'Noticed',
    'Score',
    'Required',
    'Change nothing',
    'Measured at',
  ];
  const table = [head, Array(head.length).fill('---'), ...rows, all].map(
    (cells) => `| ${cells.join(' | ')} |\n`,
  );
  return `${table.join('')}\n${proof()}\n${unnoticed()}`;
}

/** Which tests prove a room. */
function proof() {
  const rows = Object.entries(ROOMS).map(([name, { tests }]) => {
    const paths = [...new Set(tests)].map((path) => `\`${path.replace(/^test\//, '')}\``);
    return `| ${name} | ${paths.join(', ')} |\n`;
  });
  return `The tests of each room, below \`test/\`:\n\n| Room | Tests |\n| --- | --- |\n${rows.join('')}`;
}

/** Why the tests of the rooms do not notice what they do not notice. */
function unnoticed() {
  const rooms = Object.entries(ROOMS).filter(([, { left }]) => left !== undefined);
  return `Not noticed, by room:\n\n${rooms.map(([name, { left }]) => `- ${name}: ${left}\n`).join('')}`;
}

function row(name, least, sources, results) {
  const measured = sources.filter((file) => results[file] !== undefined).map((file) => results[file]);
  const sampled = measured.filter(({ of }) => of !== undefined).length;
  const seen = `${measured.length} of ${sources.length}${sampled === 0 ? '' : `, ${sampled} by a sample`}`;
  if (measured.length === 0) return [name, seen, '', '', 'not run', `${least} %`, '', ''];
  const sum = (key) => measured.reduce((total, result) => total + result[key], 0);
  const { score, within } = estimateOf(measured);
  return [
    name,
    seen,
    sum('mutants'),
    sum('noticed'),
    `${score.toFixed(1)} %${within === 0 ? '' : ` ± ${within.toFixed(1)}`}${writeVerdict(measured.length < sources.length, score < least)}`,
    `${least} %`,
    sum('equivalent'),
    [...new Set(measured.map(({ commit }) => commit))].join(', '),
  ];
}

/** A room has a score only when all of its sources were measured. */
function writeVerdict(isPart, isBelow) {
  if (isPart) return ' so far';
  return isBelow ? ' (**missed**)' : '';
}
