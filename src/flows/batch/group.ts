import Big from 'big.js';
import * as z from 'zod/mini';
import type { PaymentCalls } from '../../bank/ports/payment-calls.ts';
import { written } from '../../domain/account-history.ts';
import type { Batch } from '../../domain/batch/batch.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import { decimal } from '../../domain/events.ts';
import { isOver, isUntouched } from '../../domain/flow-states.ts';
import type { Initiation } from '../../domain/operation.ts';
import type { PayeeCheck } from '../../domain/order/payee-check.ts';
import type { Transfer, TransferOrder } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import type { GenericOperation, Open } from '../../store/ports/flows.ts';
import { returnAddress } from '../linked-sca.ts';
import { runOperation } from '../payment/loop.ts';
import { endIfUntouched, isInterruption, isOvertaken } from '../refusals.ts';
import { isBeforeAll } from './outcome.ts';
import type { BatchRun, Payer } from './ports.ts';
import type { Share } from './run.ts';
import { tidyGroup } from './settle-bulk.ts';
import { awaitsCustomer, otherThanOrdered, payingPorts, refuseOtherOrder } from './single.ts';

// Many lines that their customer authorises once: a bulk payment, or a signing basket. Each line has a transfer that holds its
// reference. What the customer authorises is an operation with a journal of its own.

/** Whether it is one payment at the bank, or a basket of many. */
export interface GroupKind {
  /** The name of its operation. */
  operation: string;
  /** @throws Psd2Error `config` if the bank has none any more */
  calls(payer: Payer, operation: GenericOperation): PaymentCalls;
  /** @throws Psd2Error `config` if what it would send is not what these transfers order */
  refuseOther(payer: Payer, operation: GenericOperation, transfers: readonly Transfer[]): Promise<void>;
  /** Whether a transfer can go with it now. */
  mayJoin(transfer: Transfer): boolean;
  /** Writes into its transfers what became of them. @throws Psd2Error `interrupted` and what the store throws */
  follow(run: BatchRun, payer: Payer, operation: GenericOperation): Promise<void>;
}

/** A line with the transfer that holds its reference. */
export interface Taken {
  line: BatchLine;
  order: TransferOrder;
  flow: string;
  /** What the payee check of this run says. Null: it is in the journal already, or there is none. */
  checked: PayeeCheck | null;
}

/** What it is for: the `data` of its operation. */
const purpose = z.object({
  batch: z.string(),
  lines: z.array(z.number()),
  amount: decimal,
  /** The largest amount of a line. */
  largest: decimal,
  currency: z.string(),
  instant: z.boolean(),
  futureDated: z.boolean(),
});

/** What it is for, as its operation keeps it. @throws Psd2Error `config` if psd2 did not write it */
export function purposeOf({
  flow,
  order,
}: Pick<GenericOperation, 'flow' | 'order'>): z.infer<typeof purpose> {
  const { data } = purpose.safeParse(JSON.parse(order.data));
  if (data) return data;
  throw new Psd2Error('config', `The journal of the ${order.operation} ${flow} is damaged`, {
    hint: 'Restore it from a backup.',
  });
}

function describe({ batch }: BatchRun, first: Taken, taken: readonly Taken[]): string {
  const sum = taken.reduce((total, { order }) => total.plus(order.amount), new Big(0));
  const largest = taken.map(({ order }) => order.amount).reduce((a, b) => (new Big(a).gt(b) ? a : b));
  const lines = taken.map(({ line }) => line.line);
  const { currency, instant, futureDated } = first.order;
  const data: z.infer<typeof purpose> = {
    ...{ batch, lines, amount: written(sum), largest, currency, instant, futureDated },
  };
  return JSON.stringify(data);
}

/** Where the customer's browser returns to, with a new state. */
export function newReturn({ ports, world }: Payer): { address: string; state: string } {
  const state = world.newId();
  return { address: returnAddress(ports().customer.redirectUri, state), state };
}

/**
 * Begins the operation for transfers, and runs it as far as possible. Before it is sent, all of this is durable: the transfers, the
 * operation with the bytes of its body, that the lines go with it (in the batch), and that each transfer does.
 *
 * @throws Psd2Error what stopped it
 */
export async function beginGroup(
  run: BatchRun,
  payer: Payer,
  kind: GroupKind,
  { taken, initiation }: { taken: readonly [Taken, ...Taken[]]; initiation: Initiation },
): Promise<void> {
  const { bank, world } = payer;
  const [first] = taken;
  const { customerId, from } = first.order;
  await run.flows.begin(
    'operation',
    {
      transactionId: world.newId(),
      commits: bank.payments.commits,
      order: { customerId, from, operation: kind.operation, data: describe(run, first, taken) },
      furtherData: [],
      initiation,
    },
    (open) => sendFirst(run, payer, kind, { open, taken }),
  );
}

/** Notes which lines go with the operation, and then sends it. */
async function sendFirst(
  run: BatchRun,
  payer: Payer,
  kind: GroupKind,
  { open, taken }: { open: Open<'operation'>; taken: readonly Taken[] },
): Promise<void> {
  const { flow } = open.current;
  const lines = taken.map(({ line }) => line.line);
  const { recorded } = await run.batches.change(run.batch, (now) => {
    const isWanted = taken.every(
      ({ line, flow: its }) => now.flows.get(line.line) === its && !now.cancelled.has(line.line),
    );
    return isWanted && now.rejection === null ? { type: 'bulk-begun', flow, lines } : null;
  });
  if (recorded) {
    await drive(run, payer, kind, { open, lines: taken, isNew: true });
    return;
  }
  await open.record({ type: 'cancelled' });
  for (const each of taken) await giveUp(run, await run.flows.find('transfer', each.flow));
}

/**
 * Goes on with what earlier runs have begun for some lines, and ends what they have only prepared.
 *
 * @param mayLeave whether psd2 ends an operation instead, so that its payments can be authorised alone
 */
export async function goOnWithBegun(
  run: BatchRun,
  share: Share,
  kindOf: (operation: GenericOperation) => GroupKind,
  mayLeave: (operation: GenericOperation) => boolean,
): Promise<void> {
  const { batches, flows } = run;
  const batch = await batches.find(run.batch);
  const begun = new Set<string>();
  for (const line of share) {
    const flow = batch.flows.get(line.line);
    const transfer = flow === undefined ? undefined : await flows.find('transfer', flow);
    if (!transfer || isBeforeAll(transfer)) continue;
    const joint = groupOfLine(batch, line);
    if (joint !== undefined && (transfer.bulk ?? joint) === joint) begun.add(joint);
    else await giveUp(run, transfer);
  }
  for (const flow of begun) {
    if (mayLeave(await flows.find('operation', flow)))
      await flows.resume('operation', flow, async (open) => {
        if (mayLeave(open.current)) await open.record({ type: 'cancelled' });
      });
    await resumeGroup(run, flow, share, kindOf);
  }
}

/** The last operation that a line was to go with. */
export function groupOfLine({ bulks }: Batch, { line }: Pick<BatchLine, 'line'>): string | undefined {
  return [...bulks].findLast(([, lines]) => lines.includes(line))?.[0];
}

/** Ends a transfer that an earlier run began for a bulk payment and then stopped. Its line begins anew. */
export async function giveUp(
  { flows }: BatchRun,
  { flow, bulk, initiation, commits }: Transfer,
): Promise<void> {
  if (bulk !== null || initiation !== null || commits === 'on execute') return;
  await flows.resume('transfer', flow, async (open) => {
    if (isUntouched(open.current) && open.current.bulk === null) await open.record({ type: 'cancelled' });
  });
}

/** Goes on with an operation that an earlier run began. */
async function resumeGroup(
  run: BatchRun,
  flow: string,
  share: Share,
  kindOf: (operation: GenericOperation) => GroupKind,
): Promise<void> {
  const { batches, flows } = run;
  const batch = await batches.find(run.batch);
  const known = await flows.find('operation', flow);
  const kind = kindOf(known);
  const payer = await run.payerOf({ customer: known.order.customerId });
  if (isOver(known) && !known.refusedUnconfirmed) {
    await kind.follow(run, payer, known);
    return tidyGroup(run, known);
  }
  if (await awaitsCustomer(run, payer, known, kind.calls(payer, known))) return;
  const lines: Joining[] = [];
  for (const line of new Set(batch.bulks.get(flow))) {
    const its = batch.flows.get(line);
    if (its !== undefined) lines.push({ line: { line }, flow: its, checked: null });
  }
  await run.flows.resume('operation', flow, async (open) => {
    // As long as the bank has not answered, psd2 may send what is stored.
    if (open.current.verification === null)
      await refuseOther(run, payer, kind, { operation: open.current, lines, share });
    await drive(run, payer, kind, { open, lines, isNew: false });
  });
}

/** @throws Psd2Error `config` if what an earlier run stored would not pay just what these lines of the batch order */
async function refuseOther(
  { batches, batch: id, flows }: BatchRun,
  payer: Payer,
  kind: GroupKind,
  { operation, lines, share }: { operation: GenericOperation; lines: readonly Joining[]; share: Share },
): Promise<void> {
  const batch = await batches.find(id);
  const ordered = new Map(share.map((line) => [line.line, line]));
  if (!lines.every(({ line }) => ordered.has(line.line)))
    for (const line of await batches.lines(batch)) ordered.set(line.line, line);
  const transfers: Transfer[] = [];
  for (const { line, flow } of lines) {
    const transfer = await flows.find('transfer', flow);
    const its = ordered.get(line.line);
    const isIn = isUntouched(operation) || mayGoWith(kind, operation.flow, transfer);
    if (!its || !isIn) throw otherThanOrdered(line.line);
    refuseOtherOrder(batch, its, transfer.order);
    transfers.push(transfer);
  }
  await kind.refuseOther(payer, operation, transfers);
}

/** Whether a transfer goes with an operation, or can go with it now. */
function mayGoWith({ mayJoin }: GroupKind, joint: string, transfer: Transfer): boolean {
  return transfer.bulk === joint || (transfer.bulk === null && mayJoin(transfer));
}

type Joining = { line: Pick<BatchLine, 'line'>; flow: string; checked: PayeeCheck | null };

/** Runs an operation as far as possible, and writes into its transfers what became of them. */
async function drive(
  run: BatchRun,
  payer: Payer,
  kind: GroupKind,
  { open, lines, isNew }: { open: Open<'operation'>; lines: readonly Joining[]; isNew: boolean },
): Promise<void> {
  const { flow, order } = open.current;
  const { amount, largest, currency } = purposeOf(open.current);
  if (isUntouched(open.current) && !(await joinAll(run, kind, flow, lines))) {
    await open.record({ type: 'cancelled' });
    await kind.follow(run, payer, open.current);
    return;
  }
  const link = {
    ...{ batch: run.batch, lines: lines.map(({ line }) => line.line), flow },
    ...{ customer: order.customerId, amount, currency },
  };
  const ports = await payingPorts(run, payer, open.current, {
    ...{ link, line: lines[0]?.line.line ?? 0, isNew },
  });
  try {
    await runAndFollow(run, payer, kind, open, {
      ...ports,
      // The limit is one of each run. What the bank takes for all of them may be for one of them.
      refusesCost: ({ verification: said, ...operation }) =>
        ports.refusesCost({
          ...operation,
          order: { ...operation.order, amount: largest, currency },
          verification: said && { ...said, totalAmount: null },
        }),
    });
  } finally {
    await tidyGroup(run, open.current);
  }
}

async function runAndFollow(
  run: BatchRun,
  payer: Payer,
  kind: GroupKind,
  open: Open<'operation'>,
  ports: Awaited<ReturnType<typeof payingPorts>>,
): Promise<void> {
  try {
    await runOperation(
      open,
      kind.calls(payer, open.current),
      { ...ports, accept: async () => true },
      run.links ? ['await-authorization'] : [],
    );
  } catch (error) {
    await endIfUntouched(open, error);
    // What stopped it counts more than what else goes wrong now.
    if (!isInterruption(error) && !isOvertaken(error)) await kind.follow(run, payer, open.current);
    throw error;
  }
  await kind.follow(run, payer, open.current);
}

/** Notes in each transfer that it goes with the operation. @returns false if one of them cannot any more */
async function joinAll(
  { flows }: BatchRun,
  kind: GroupKind,
  joint: string,
  lines: readonly Joining[],
): Promise<boolean> {
  for (const { flow, checked } of lines) {
    const isIn = await flows.resume('transfer', flow, async (open) => {
      if (open.current.bulk === joint) return true;
      if (!mayGoWith(kind, joint, open.current)) return false;
      if (checked) await open.record({ type: 'payee-checked', ...checked });
      await open.record({ type: 'bulk-joined', bulk: joint });
      return true;
    });
    if (!isIn) return false;
  }
  return true;
}
