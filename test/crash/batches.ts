import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { CUSTOMER } from '../e2e/support/psd2.ts';
import { sample } from '../support/sample.ts';
import { type Backend, type Lodge, type Lodging, useBackends } from './backends.ts';
import { ACCOUNT, type CrashBank, PATIENCE_MS, type Place, useCrashBank } from './bank.ts';
import { choose, type Point, pointsIn, problemsAt, SIDE_BY_SIDE, shareOf } from './matrix.ts';
import { doorRules } from './nextgenpsd2.ts';
import { judgeEnd, newTry, succeeded, type Tried, useFollowers } from './tried.ts';

// A batch of five payments that is stopped at a point, or stands still there while another run goes on.

/** Where a batch is paid. */
const DOORS = {
  cb: { account: ACCOUNT, env: {}, way: [] },
  'NextGenPSD2, bulk': {
    account: 'IT89F0999001600000010482620',
    env: { PSD2_PROFILE: 'sandbox-nextgen' },
    way: [],
  },
  'NextGenPSD2, bulk, the customer chooses the account': {
    account: null,
    env: { PSD2_PROFILE: 'sandbox-nextgen' },
    way: [],
  },
  'NextGenPSD2, basket': {
    account: 'IT89F0999001600000010482620',
    env: { PSD2_PROFILE: 'sandbox-nextgen' },
    way: ['--as', 'basket'],
  },
} as const;
type Door = keyof typeof DOORS;

/** A bank with bulk payments, for the second door. */
const RULES = () =>
  doorRules({
    payments: {
      executesWithoutSca: 'never',
      debtorAccount: 'optional',
      products: { 'bulk-payments': ['sepa-credit-transfers'] },
    },
  }).concat('--page-size', '1000');

/** The customers of all payments come, and not only that of the first. */
const EACH_CUSTOMER = { PSD2_BROWSER: CUSTOMER };

/** The home of a store, with its variables. */
interface Home {
  bank: CrashBank;
  backend: 'files' | 'PostgreSQL';
  lodge: Lodge;
}

/** What happens to a batch of five. In the first two, and in the last, to its run. */
const BATCH_HOWS = ['SIGKILL', 'SIGSTOP', 'added twice', 'edited store'] as const;
type BatchHow = (typeof BATCH_HOWS)[number];
const WORDS: Record<BatchHow, string> = {
  SIGKILL: 'killed (`SIGKILL`)',
  SIGSTOP: 'stopped (`SIGSTOP`) while another run goes on',
  'added twice': 'the file is added twice at once, once stopped (`SIGSTOP`)',
  'edited store': 'killed (`SIGKILL`), then the store is edited',
};

const batchShape = z.object({ batch: z.string() });
const rowsShape = z.array(z.object({ line: z.number(), state: z.string(), flow: z.string().nullable() }));
const LINES = [1, 2, 3, 4, 5];

/** The amounts of a try. No other try on this bank has them, and none is a commission. */
function amountsOf(place: Place): string[] {
  const number = Number(place.name.replace(/\D/g, ''));
  return LINES.map((line) => (0.5 + (5 * number + line) / 100).toFixed(2));
}

/** Writes the file of a try. @returns the words of the command that adds it */
function addOf(place: Place, door: Door): string[] {
  const path = join(place.config, 'five.csv');
  const rows = amountsOf(place).map((amount, index) => `Payee ${index},DE89370400440532013000,${amount}\n`);
  writeFileSync(path, `name,iban,amount\n${rows.join('')}`);
  const { account } = DOORS[door];
  return ['batch', 'add', path, ...(account === null ? [] : ['--from', account]), '--json'];
}

async function addTo(place: Place, door: Door, env: Record<string, string>): Promise<string> {
  const words = addOf(place, door);
  const added = succeeded(words, await place.watched(words, undefined, env));
  return batchShape.parse(JSON.parse(added.stdout)).batch;
}

const runOf = (batch: string, door: Door) => ['batch', 'run', batch, '--yes', '--json', ...DOORS[door].way];
/** A run that goes on whatever an earlier one began: also with payments whose basket is lost. */
const lastRunOf = (batch: string) => ['batch', 'run', batch, '--yes', '--json'];

/** The points of what is stopped, when nothing stops it: of the run, or of the command that adds the batch. */
async function recordBatch(door: Door, { backend, lodge }: Home, how: BatchHow): Promise<Point[]> {
  return lodge(backend, async ({ place, env }) => {
    const variables = { ...env, ...DOORS[door].env, ...EACH_CUSTOMER };
    const words =
      how === 'added twice' ? addOf(place, door) : runOf(await addTo(place, door, variables), door);
    return pointsIn(await place.watched(words, undefined, variables));
  });
}

/** A try, with the amounts of its lines and what psd2 says of each. */
interface BatchTry {
  tried: Tried;
  lines: { amount: string; state: string }[];
}

/** What a try has: the place where something is stopped, and the one where others work. In PostgreSQL that is another machine. */
interface Trial extends Lodging {
  door: Door;
  tried: Tried;
  variables: Record<string, string>;
  elsewhere: Place;
}

/** Something happens to a batch at a point. Then others run it to its end. */
function tryBatch(door: Door, home: Home, how: BatchHow, { at }: Point): Promise<BatchTry> {
  const { bank, backend, lodge } = home;
  return lodge(backend, async (lodging) => {
    const { place, env } = lodging;
    const tried = newTry('batch of five', `${door}, ${backend}`, WORDS[how], at, '');
    const elsewhere = backend === 'files' ? place : bank.newPlace();
    const variables = { ...env, ...DOORS[door].env, ...EACH_CUSTOMER };
    const trial = { ...lodging, door, tried, variables, elsewhere };
    try {
      const batch = how === 'added twice' ? await addTwice(trial, at) : await addTo(place, door, variables);
      if (how !== 'added twice') await stopRun(trial, batch, how, at);
      return { tried, lines: await runToItsEnd(trial, batch) };
    } finally {
      if (elsewhere !== place) elsewhere.remove();
    }
  });
}

/** The same file is added at two places, and once stands still at the point. @returns the batch, of which there is one */
async function addTwice({ place, elsewhere, door, tried, variables }: Trial, at: string): Promise<string> {
  const words = addOf(place, door);
  const first = await place.stalled(words, { at, how: 'SIGSTOP' }, variables);
  tried.reached = first.reached;
  const second = elsewhere.watched(words, undefined, variables);
  // The one that stands still may be what the other one waits for.
  await Promise.race([second, delay(STANDS_STILL_MS)]);
  const both = [await first.goOn(), await second];
  for (const [index, ended] of both.entries()) judgeEnd(`add ${index}`, ended, tried.problems);
  const codes = both.map(({ code }) => code).sort();
  if (codes[0] !== 0 || codes[1] !== 2) tried.problems.push(`the two adds ended with ${codes.join(' and ')}`);
  const listed = await place.watched(['batch', 'list', '--json'], undefined, variables);
  const added = both.find(({ code }) => code === 0)?.stdout ?? '{}';
  const { batch } = batchShape.parse(JSON.parse(added));
  const all = z.array(batchShape).parse(JSON.parse(listed.stdout));
  // In PostgreSQL, other tries have their batches there.
  const same = all.filter((each) => each.batch.startsWith(batch.slice(0, 64)));
  if (same.length !== 1) tried.problems.push(`there are ${same.length} batches of the file`);
  return batch;
}

/** Long enough for a command that waits for nobody, and shorter than the patience with a stopped one. */
const STANDS_STILL_MS = 2_000;

async function stopRun(trial: Trial, batch: string, how: BatchHow, at: string): Promise<void> {
  const { place, elsewhere, door, tried, variables } = trial;
  if (how !== 'SIGSTOP') {
    const first = await place.watched(runOf(batch, door), { at, how: 'SIGKILL' }, variables);
    tried.reached = first.stopped;
    if (how === 'edited store') await tryEdited(trial, batch);
    return;
  }
  const first = await place.stalled(runOf(batch, door), { at, how }, variables);
  tried.reached = first.reached;
  const ends = [await elsewhere.watched(runOf(batch, door), undefined, variables), await first.goOn()];
  for (const [index, ended] of ends.entries()) judgeEnd(`run ${index}`, ended, tried.problems);
}

/** Runs the batch while somebody has changed the amount of a line, and puts it back. */
async function tryEdited(trial: Trial, batch: string): Promise<void> {
  const { elsewhere, door, tried, variables, env, place, sql } = trial;
  const [amount = ''] = amountsOf(place);
  const change = (from: string, to: string) => {
    if (env.PSD2_STORE === undefined) {
      const profile = 'PSD2_PROFILE' in DOORS[door].env ? DOORS[door].env.PSD2_PROFILE : 'sandbox';
      const path = join(place.config, 'flows', profile, 'batches', batch, 'lines.ndjson');
      writeFileSync(path, readFileSync(path, 'utf8').replace(`"amount":"${from}"`, `"amount":"${to}"`));
      return;
    }
    sql(`update psd2.batch_lines set content = replace(content::text, '"${from}"', '"${to}"')::json
      where batch = '${batch}' and line = 1`);
  };
  change(amount, EDITED);
  const { code, stderr } = await elsewhere.watched(runOf(batch, door), undefined, variables);
  if (code !== 3) tried.problems.push(`the run of an edited batch ended with ${code}: ${stderr}`);
  change(EDITED, amount);
}

/** No line of a try has this amount. */
const EDITED = '9999.99';

async function runToItsEnd(trial: Trial, batch: string): Promise<BatchTry['lines']> {
  const { place, elsewhere, door, tried, variables } = trial;
  const goOn = () => elsewhere.watched(lastRunOf(batch), undefined, variables);
  let last = await goOn();
  // The bank takes the payments of a lost basket into no other one: they leave it, and the next run authorises them alone.
  if (last.code === 6 && door === 'NextGenPSD2, basket') last = await goOn();
  judgeEnd('the last run', last, tried.problems);
  const told = await place.watched(['batch', 'report', batch, '--json'], undefined, variables);
  const rows = rowsShape.parse(JSON.parse(told.stdout));
  if (rows.length !== LINES.length) tried.problems.push(`the report has ${rows.length} lines`);
  tried.ends = rows.map(({ state }) => state);
  const isAllPaid = rows.every(({ state }) => state === 'executed');
  if (last.code !== (isAllPaid ? 0 : 9)) tried.problems.push(`it ended with ${last.code}: ${last.stderr}`);
  const amounts = amountsOf(place);
  return rows.map(({ state }, index) => ({ amount: amounts[index] ?? '', state }));
}

/** Compares what psd2 says with what the bank has paid. */
async function judgeBatches(bank: CrashBank, tries: readonly BatchTry[]): Promise<Tried[]> {
  const paid = await bank.bookings();
  for (const { tried } of tries)
    if (paid(EDITED) > 0) tried.problems.push('the bank paid an amount that nobody has approved');
  for (const { tried, lines } of tries) {
    for (const [index, { amount, state }] of lines.entries()) {
      const times = paid(amount);
      if (times > 1) tried.twice = true;
      // An execute that was announced and never left stays unknown, and is never sent again.
      const isRight = state === 'executed' ? times === 1 : state === 'unknown' && times === 0;
      if (!isRight) tried.problems.push(`line ${index + 1} is ${state}, and the bank paid it ${times} times`);
    }
  }
  return tries.map(({ tried }) => tried);
}

/** The points that a run of all tests takes of each case. */
const SOME = 6;
/** Where all points are tried, they are at most this many of a case, spread over the run: the account has no money for more. */
const MOST = 150;

const doors = Object.keys(DOORS).filter((name): name is Door => name in DOORS);

/** Stops the runs of a batch at each door. Each backend has a file of its own, since one process runs a file. */
export function stopBatches(backend: Backend): void {
  describe.each(sample(doors, 1))(`a batch of five (%s, ${backend})`, (door) => {
    const bank = useCrashBank(RULES());
    const followers = useFollowers(bank, SIDE_BY_SIDE);
    const home = { bank, backend, lodge: useBackends(bank, followers) };

    it.each(sample(BATCH_HOWS, 1))(
      'that is stopped at any step (%s) is one batch, is paid once, and psd2 says what was paid',
      async (how) => {
        const all = await recordBatch(door, home, how);
        const spread =
          how === 'added twice' ? all : shareOf(all, MOST, BATCH_HOWS.indexOf(how), BATCH_HOWS.length);
        const points = choose(spread, undefined, SOME);
        const name = `batch of five, ${door}, ${backend}`;
        const one = (point: Point) => tryBatch(door, home, how, point);
        expect(await problemsAt([name, how], points, one, (tries) => judgeBatches(bank, tries))).toEqual([]);
      },
      PATIENCE_MS,
    );
  });
}
