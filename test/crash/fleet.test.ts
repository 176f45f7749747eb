import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { standingOf } from '../../src/domain/flow-states.ts';
import { OPERATION_STATES } from '../../src/domain/operation.ts';
import { fewer } from '../support/sample.ts';
import { step } from '../support/step.ts';
import { PATIENCE_MS, useCrashBank } from './bank.ts';
import { pay, SYNC, type Troubles, useFleet } from './fleet.ts';
import { decisiveFor } from './tried.ts';

/** `npm run reliability -- fleet` sets the duration. A test run stops after a few faults of each kind. */
const MINUTES = Number(process.env.FLEET_MINUTES ?? 0);
const WORKERS = 4;
const CUSTOMERS = MINUTES > 0 ? 200 : 12;
const bank = useCrashBank([
  ...['--no-enforce-consents', '--customers', String(CUSTOMERS), '--transactions', '30'],
  // Tokens are renewed all the time. A worker that stalled has not lost the token that it just got.
  ...['--page-size', '100', '--token-ttl', '40'],
]);
const fleet = useFleet(bank, CUSTOMERS);

const flowShape = z.array(
  z.object({
    flow: z.string(),
    state: z.enum(OPERATION_STATES),
    resourceId: z.string().nullable(),
    reference: z.string().nullable(),
  }),
);
type Flow = z.infer<typeof flowShape>[number];
const rowShape = z.object({ id: z.string() });
const DONE = 'executed';
/** The parts of the end. Each takes a minute or two on a quiet machine with two processors. */
const MINUTE_MS = 60_000;
const END_OF_WORKERS_MS = 5 * MINUTE_MS;
const END_MS = { payments: 8 * MINUTE_MS, check: 2 * MINUTE_MS, sync: 10 * MINUTE_MS };

/** How many orders are tried once more at the end. */
const TRIED_AGAIN = 10;

/** A part of the run, with an end. A run of minutes says where it is. */
const part = <T>(name: string, milliseconds: number, work: () => Promise<T>) =>
  step({ name, milliseconds, running: fleet.running, tell: MINUTES > 0 ? say : () => {} }, work);
const say = (text: string) => void process.stderr.write(`fleet: ${text}\n`);

it(
  'a fleet pays once, loses no login and has every row once, even if workers, connections and the database fail',
  async () => {
    const end = Date.now() + MINUTES * 60_000;
    const isEnough = ({ killed, stalled, crashes, cuts }: Troubles) =>
      MINUTES > 0
        ? Date.now() >= end
        : killed >= fewer(2) && stalled >= fewer(2) && crashes > 0 && cuts >= fewer(3);
    const had =
      MINUTES > 0
        ? await part('the workers and their faults', MINUTES * MINUTE_MS + END_OF_WORKERS_MS, () =>
            fleet.work(WORKERS, (troubles) => !isEnough(troubles)),
          )
        : await fleet.work(WORKERS, (troubles) => !isEnough(troubles));
    expect(fleet.problems).toEqual([]);
    await part('the payments that are left', END_MS.payments, endPayments);
    const transfers = await part('the check of all payments', END_MS.check, everyOrderOnce);
    await part('the last syncs, and the rows', END_MS.sync, everyRowOnce);
    keepFigures(had, transfers);
  },
  PATIENCE_MS,
);

/** Resumes what was left unfinished, and pays the orders that no worker began. */
async function endPayments(): Promise<void> {
  for (const { flow } of (await flows()).filter((each) => ['open', 'sent'].includes(standing(each))))
    await fleet.psd2(['transfer', 'resume', flow, '--json', '--yes']);
  const begun = new Set(
    (await flows()).filter((each) => standing(each) !== 'refused').map(({ reference }) => reference),
  );
  const orders = [...fleet.orders.values()];
  for (const order of orders) if (!begun.has(order.reference)) await fleet.psd2(pay(order));
  // Nor does another try pay once more. To try all again, one process after the other, takes as long as there were faults.
  for (const order of orders.slice(-TRIED_AGAIN)) await fleet.psd2(pay(order));
}

/** Checks that each order was paid once, or is unknown and was not paid. @returns the number of transfers */
async function everyOrderOnce(): Promise<number> {
  const all = await flows();
  const bookings = await bank.bookings();
  for (const { reference, amount } of fleet.orders.values()) {
    const own = all.filter((flow) => flow.reference === reference && standing(flow) !== 'refused');
    expect(own, reference).toHaveLength(1);
    const state = own[0]?.state;
    expect({ reference, state, bookings: bookings(amount) }).toEqual({
      reference,
      // Unknown is right if the bank did not receive the request.
      state: bookings(amount) === 1 ? DONE : 'unknown',
      bookings: state === DONE ? 1 : 0,
    });
  }
  expect(all.filter((flow) => decisiveFor(bank, flow, /^PUT .*\/execute$/) > 1)).toEqual([]);
  return all.length;
}

function standing(flow: Flow) {
  return standingOf({ ...flow, refusedUnconfirmed: false });
}

/** Syncs again with one worker: each login works, and the store has each row once, as a sync into files has it. */
async function everyRowOnce(): Promise<void> {
  // The first sync ends a round that was left unfinished, if there is one.
  const left = await fleet.psd2(SYNC);
  expect(left, left.stderr).toMatchObject({ code: 0 });
  const synced = await fleet.psd2(SYNC);
  expect(synced, synced.stderr).toMatchObject({ code: 0 });
  const { totals } = z
    .object({ totals: z.object({ customers: z.number(), synced: z.number() }) })
    .parse(JSON.parse(synced.stdout));
  expect(totals).toEqual({ customers: CUSTOMERS + 1, synced: CUSTOMERS + 1 });
  const rows = fleet.server.sql(
    fleet.database,
    "select customer_id || ' ' || product_id || ' ' || id from psd2.transactions",
  );
  expect(rows.split('\n').sort()).toEqual((await rowsInFiles()).sort());
}

/** The rows that a sync of the same customers writes to files, with separate logins. */
async function rowsInFiles(): Promise<string[]> {
  const { operator } = bank;
  await fleet.logInToFiles();
  const out = join(operator.folder, 'out');
  const ended = await operator.psd2([...SYNC, '--out', out]);
  expect(ended, ended.stderr).toMatchObject({ code: 0 });
  return readdirSync(out).flatMap((customer) => {
    const folder = join(out, customer, 'transactions');
    return readdirSync(folder).flatMap((file) =>
      readFileSync(join(folder, file), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => `${customer} ${basename(file, '.ndjson')} ${rowShape.parse(JSON.parse(line)).id}`),
    );
  });
}

async function flows(): Promise<Flow[]> {
  const { code, stdout, stderr } = await fleet.psd2(['transfer', 'list', '--json', '--quiet']);
  expect(code, stderr).toBe(0);
  return flowShape.parse(JSON.parse(stdout));
}

/** Writes figures for `npm run reliability -- fleet`, which puts them into README.md. */
function keepFigures(had: Troubles, transfers: number): void {
  const file = process.env.FLEET_FIGURES;
  if (file === undefined) return;
  const figures = {
    minutes: MINUTES,
    workers: WORKERS,
    customers: CUSTOMERS,
    processes: fleet.started(),
    transfers,
    ...had,
  };
  appendFileSync(file, `${JSON.stringify(figures)}\n`);
}
