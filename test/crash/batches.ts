import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { CUSTOMER } from '../e2e/support/psd2.ts';
import type { Lodge } from './backends.ts';
import { ACCOUNT, type CrashBank, type Place, type Watched } from './bank.ts';
import { distinct, type Point } from './matrix.ts';
import { pointsOf } from './outcome.ts';
import { judgeEnd, newTry, type Tried } from './tried.ts';

// A batch of five payments that is stopped at a point, or stands still there while another run goes on.

/** Where a batch is paid. */
export const DOORS = {
  cb: { account: ACCOUNT, env: {}, way: [] },
  'NextGenPSD2, bulk': {
    account: 'IT89F0999001600000010482620',
    env: { PSD2_PROFILE: 'sandbox-nextgen' },
    way: [],
  },
  'NextGenPSD2, basket': {
    account: 'IT89F0999001600000010482620',
    env: { PSD2_PROFILE: 'sandbox-nextgen' },
    way: ['--as', 'basket'],
  },
} as const;
export type Door = keyof typeof DOORS;

/** A bank file with bulk payments, for the second door. @returns options of `sandbox start` */
export function rulesFor(folder: string): string[] {
  const path = join(folder, 'bank.json');
  const payments = {
    executesWithoutSca: 'never',
    products: { 'bulk-payments': ['sepa-credit-transfers'] },
  };
  writeFileSync(path, JSON.stringify({ interface: 'nextgenpsd2', payments }));
  return ['--bank', path, '--page-size', '1000'];
}

/** The customers of all payments come, and not only that of the first. */
const EACH_CUSTOMER = { PSD2_BROWSER: CUSTOMER };

/** The home of a store, with its variables. */
export interface Home {
  backend: 'files' | 'PostgreSQL';
  lodge: Lodge;
}

const batchShape = z.object({ batch: z.string() });
const rowsShape = z.array(z.object({ line: z.number(), state: z.string(), flow: z.string().nullable() }));
const LINES = [1, 2, 3, 4, 5];

/** The amounts of a try. No other try on this bank has them, and none is a commission. */
function amountsOf(place: Place): string[] {
  const number = Number(place.name.replace(/\D/g, ''));
  return LINES.map((line) => (0.5 + (5 * number + line) / 100).toFixed(2));
}

async function addTo(place: Place, door: Door, env: Record<string, string>): Promise<string> {
  const path = join(place.config, 'five.csv');
  const rows = amountsOf(place).map((amount, index) => `Payee ${index},DE89370400440532013000,${amount}\n`);
  writeFileSync(path, `name,iban,amount\n${rows.join('')}`);
  const { account } = DOORS[door];
  const added = await place.watched(['batch', 'add', path, '--from', account, '--json'], undefined, env);
  if (added.code !== 0) throw new Error(`psd2 batch add ended with ${added.code}: ${added.stderr}`);
  return batchShape.parse(JSON.parse(added.stdout)).batch;
}

const runOf = (batch: string, door: Door) => ['batch', 'run', batch, '--yes', '--json', ...DOORS[door].way];
/** A run that goes on whatever an earlier one began: also with payments whose basket is lost. */
const lastRunOf = (batch: string) => ['batch', 'run', batch, '--yes', '--json'];

/** The points of a run that nothing stops. */
export async function recordRun(door: Door, { backend, lodge }: Home): Promise<Point[]> {
  return lodge(backend, async ({ place, env }) => {
    const variables = { ...env, ...DOORS[door].env, ...EACH_CUSTOMER };
    const batch = await addTo(place, door, variables);
    const { code, stderr, trace } = await place.watched(runOf(batch, door), undefined, variables);
    if (code !== 0) throw new Error(stderr);
    return distinct(pointsOf(trace));
  });
}

/** A try, with the amounts of its lines and what psd2 says of each. */
export interface BatchTry {
  tried: Tried;
  lines: { amount: string; state: string }[];
}

/** Stops a run at a point, or lets it stand still there. Then others run the batch to its end. */
export function tryRun(
  door: Door,
  { backend, lodge }: Home,
  how: 'SIGKILL' | 'SIGSTOP',
  { at }: Point,
): Promise<BatchTry> {
  return lodge(backend, async ({ place, env }) => {
    const variables = { ...env, ...DOORS[door].env, ...EACH_CUSTOMER };
    const words = how === 'SIGKILL' ? 'killed (`SIGKILL`)' : 'stopped (`SIGSTOP`)';
    const tried = newTry('batch of five', `${door}, ${backend}`, words, at, '');
    const batch = await addTo(place, door, variables);
    const run = () => place.watched(runOf(batch, door), undefined, variables);
    const ends: Watched[] = [];
    if (how === 'SIGKILL') {
      const first = await place.watched(runOf(batch, door), { at, how }, variables);
      tried.reached = first.stopped;
    } else {
      const first = await place.stalled(runOf(batch, door), { at, how }, variables);
      tried.reached = first.reached;
      ends.push(await run());
      ends.push(await first.goOn());
    }
    const goOn = () => place.watched(lastRunOf(batch), undefined, variables);
    let last = await goOn();
    // The bank takes the payments of a lost basket into no other one: they leave it, and the next run authorises them alone.
    if (last.code === 6 && door === 'NextGenPSD2, basket') last = await goOn();
    for (const [index, ended] of [...ends, last].entries()) judgeEnd(`run ${index}`, ended, tried.problems);
    const told = await place.watched(['batch', 'report', batch, '--json'], undefined, variables);
    const rows = rowsShape.parse(JSON.parse(told.stdout));
    if (rows.length !== LINES.length) tried.problems.push(`the report has ${rows.length} lines`);
    tried.ends = rows.map(({ state }) => state);
    const isAllPaid = rows.every(({ state }) => state === 'executed');
    if (last.code !== (isAllPaid ? 0 : 9)) tried.problems.push(`it ended with ${last.code}: ${last.stderr}`);
    const amounts = amountsOf(place);
    return { tried, lines: rows.map(({ state }, index) => ({ amount: amounts[index] ?? '', state })) };
  });
}

/** Compares what psd2 says with what the bank has paid. */
export async function judgeBatches(bank: CrashBank, tries: readonly BatchTry[]): Promise<Tried[]> {
  const paid = await bank.bookings();
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
