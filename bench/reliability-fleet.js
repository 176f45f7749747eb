// Measures what test/crash/README.md says about a fleet: npm run reliability -- fleet [minutes]
// Four workers, each with its own machine, share one PostgreSQL and the sandbox bank for 10 minutes (default), and meet the
// faults of test/crash/fleet.ts. TEST_SEED chooses the faults. Each part of the end has a bound, is named when it begins, and
// names what it waits for if it is not done by then. So the run ends at most 30 minutes after the faults.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const page = join(root, 'test', 'crash', 'README.md');
const BEGIN = '<!-- fleet -->\n';
const END = '<!-- end of fleet -->';
const minutes = process.argv.map(Number).find((value) => value > 0) ?? 10;

const folder = mkdtempSync(join(tmpdir(), 'psd2-fleet-'));
const file = join(folder, 'figures.json');
try {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const { status } = spawnSync(
    process.execPath,
    [vitest, 'run', '--project', 'long', 'test/crash/fleet.test.ts'],
    {
      cwd: root,
      stdio: 'inherit',
      // A dot for every other test that takes long.
      env: { ...process.env, CRASH_MATRIX: 'all', FLEET_MINUTES: String(minutes), FLEET_FIGURES: file },
    },
  );
  if (status === 0) writeTable(JSON.parse(readFileSync(file, 'utf8')));
  else process.stdout.write('Something was not as promised, or the run failed. The page was not changed.\n');
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Only a run in which everything was as promised gets here. So the count of what must not happen is 0. */
function writeTable(had) {
  const rows = [
    ['Minutes', had.minutes],
    ['Workers, each with a machine and a wrong clock of its own', had.workers],
    ['Customers, all of them synced at the end', had.customers + 1],
    ['Processes started', had.processes],
    ['killed (`SIGKILL`)', had.killed],
    ['Customers whose tokens the killed worker was renewing, who logged in again', had.loggedInAgain],
    ['stopped for longer than a claim holds (`SIGSTOP`)', had.stalled],
    ['Crashes of PostgreSQL (`pg_ctl stop -m immediate`)', had.crashes],
    ['Connections cut after a commit, before its answer', had.cuts],
    ['Transfers begun', had.transfers],
    ['`execute` twice', 0],
    ['a reference paid twice', 0],
    ['Logins lost', 0],
    ['Rows twice or missing', 0],
  ];
  const table = [['', ''], ['---', '---:'], ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
  const text = readFileSync(page, 'utf8');
  const head = text.slice(0, text.indexOf(BEGIN) + BEGIN.length);
  const day = new Date().toISOString().slice(0, 10);
  const measured = `${day}, ${availableParallelism()} processors, Node ${process.versions.node}.`;
  writeFileSync(page, `${head}\n${measured}\n\n${table}\n${text.slice(text.indexOf(END))}`);
  process.stdout.write(`${table}Written to test/crash/README.md\n`);
}
