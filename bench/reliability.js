// What docs/reliability.md rests on: npm run reliability
// Stops psd2 at every point between two of its steps, in every way, and writes down what came of it. It takes some
// minutes of each processor. CRASH_SEED has no part in it: every point is taken.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const page = join(root, 'docs', 'reliability.md');
const figures = mkdtempSync(join(tmpdir(), 'psd2-reliability-'));
const WAYS = [
  ['SIGKILL', 'killed (`SIGKILL`)'],
  ['cut', 'connection cut'],
  ['SIGINT', 'Ctrl-C (`SIGINT`)'],
  ['SIGTERM', '`SIGTERM`'],
  ['twice', 'Ctrl-C twice'],
];

try {
  const { status } = spawnSync(
    process.execPath,
    [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', '--project', 'e2e', 'test/crash'],
    { cwd: root, stdio: 'inherit', env: { ...process.env, CRASH_MATRIX: 'all', CRASH_FIGURES: figures } },
  );
  const outcomes = readdirSync(figures).flatMap((file) =>
    JSON.parse(readFileSync(join(figures, file), 'utf8')),
  );
  const table = tableOf(outcomes);
  process.stdout.write(`${table}\n`);
  const text = readFileSync(page, 'utf8');
  const begin = '<!-- figures -->\n';
  const end = '<!-- end of figures -->';
  const head = text.slice(0, text.indexOf(begin) + begin.length);
  writeFileSync(page, `${head}\n${table}\n${text.slice(text.indexOf(end))}`);
  process.exitCode = status ?? 1;
} finally {
  rmSync(figures, { recursive: true, force: true });
}

function tableOf(outcomes) {
  const rows = WAYS.flatMap(([how, words]) => {
    const stopped = outcomes.filter((outcome) => outcome.how === how);
    const names = [...new Set(stopped.map(({ scenario }) => scenario))];
    return names.map((name) =>
      rowOf(
        name,
        words,
        stopped.filter(({ scenario }) => scenario === name),
      ),
    );
  });
  const all = rowOf('**all**', '', outcomes);
  const slowest = Math.max(
    ...outcomes.filter(({ how }) => how === 'SIGINT' || how === 'SIGTERM').map(({ tookToEnd }) => tookToEnd),
  );
  return `${HEAD}${[...rows, all].join('')}
The longest time from a signal to the end of the process was ${slowest} ms, with others working beside it.

Node.js ${process.versions.node}, ${new Date().toISOString().slice(0, 10)}.
`;
}

const HEAD = `| What | Stopped how | Points | Taken up | Begun anew | Paid or done, once | Twice | Unknown | Not as promised |
|---|---|---|---|---|---|---|---|---|
`;

function rowOf(name, how, outcomes) {
  const count = (test) => outcomes.filter(test).length;
  const cells = [
    name,
    how,
    count(({ reached }) => reached),
    count(({ found }) => found !== null),
    count(({ found, end }) => found === null && end !== 'logged in'),
    count(({ end }) => end !== 'unknown'),
    count(({ decisive, bookings }) => decisive > 1 || bookings > 1),
    count(({ end }) => end === 'unknown'),
    count(({ problems }) => problems.length > 0),
  ];
  return `| ${cells.join(' | ')} |\n`;
}
