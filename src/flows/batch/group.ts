import Big from 'big.js';
import * as z from 'zod/mini';
import type { PaymentCalls } from '../../bank/ports/payment-calls.ts';
import { written } from '../../domain/account-history.ts';
import type { Batch } from '../../domain/batch/batch.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import { decimal } from '../../domain/events.ts';
import { isOver, isUntouched, standingOf } from '../../domain/flow-states.ts';
import type { OperationStep } from '../../domain/next-step.ts';
import type { Initiation, StepEvent } from '../../domain/operation.ts';
import type { Transfer, TransferOrder } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import type { GenericOperation, Open } from '../../store/ports/flows.ts';
import { endIfUntouched } from '../once.ts';
import { runOperation } from '../payment/loop.ts';
import { isInterruption, isOvertaken } from '../refusals.ts';
import { isOpenIn } from './follow-basket.ts';
import { linesOfGroup } from './known-lines.ts';
import { otherThanOrdered, refuseOtherOrder } from './lines.ts';
import type { BatchRun, BatchStore, Following, Payer } from './ports.ts';
import type { Share } from './run.ts';
import { awaitsCustomer, payingPorts } from './send.ts';
import type { Going, Sending, Way } from './way.ts';

// Many lines that their customer authorises once: a bulk payment, or a signing basket. Each line has a transfer that holds its
// reference. What the customer authorises is an operation with a journal of its own.

/** One payment at the bank, or a basket of many. */
export interface GroupKind extends Way<'operation'> {
  follow(run: Following, payer: Payer, group: GenericOperation): Promise<void>;
  /** The name of its operation. */
  operation: string;
  /** @throws Psd2Error `config` if the bank has none any more */
  calls(payer: Pick<Payer, 'bank'>, operation: GenericOperation): PaymentCalls;
  /** @throws Psd2Error `config` if what it would send is not what these transfers order */
  refuseOther(payer: Payer, operation: GenericOperation, transfers: readonly Transfer[]): Promise<void>;
  /** Whether a transfer can go with it now. */
  mayJoin(transfer: Transfer): boolean;
}

/** A line with the transfer that holds its reference. */
export interface Taken extends Going {
  line: BatchLine;
  order: TransferOrder;
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
export function groupPurpose({
  flow,
  order,
}: Pick<GenericOperation, 'flow' | 'order'>): z.infer<typeof purpose> {
  const { data } = purpose.safeParse(JSON.parse(order.data));
  if (data) return data;
  throw new Psd2Error('config', `The journal of the ${order.operation} ${flow} is damaged`, {
    hint: 'Restore it from a backup.',
  });
}

function purposeData({ batch }: BatchRun, first: Taken, payments: readonly Taken[]): string {
  const sum = payments.reduce((total, { order }) => total.plus(order.amount), new Big(0));
  const largest = payments.map(({ order }) => order.amount).reduce((a, b) => (new Big(a).gt(b) ? a : b));
  const lines = payments.map(({ line }) => line.line);
  const { currency, instant, futureDated } = first.order;
  const data: z.infer<typeof purpose> = {
    batch,
    lines,
    amount: written(sum),
    largest,
    currency,
    instant,
    futureDated,
  };
  return JSON.stringify(data);
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
  { payments, initiation }: { payments: readonly [Taken, ...Taken[]]; initiation: Initiation },
): Promise<void> {
  const { bank, world } = payer;
  const [first] = payments;
  const { customerId, from } = first.order;
  const lines = payments.map(({ line }) => line.line);
  const begin = {
    transactionId: world.newId(),
    commits: bank.payments.commits,
    order: { customerId, from, operation: kind.operation, data: purposeData(run, first, payments) },
    furtherData: [],
    initiation,
  };
  await run.flows.begin('operation', begin, async (open) => {
    const { flow } = open.current;
    const { recorded } = await run.batches.change(run.batch, (now) => {
      const isWanted = payments.every(
        ({ line, flow: its }) => now.flows.get(line.line) === its && !now.cancelled.has(line.line),
      );
      return isWanted && now.rejection === null ? { type: 'bulk-begun', flow, lines } : null;
    });
    if (recorded) return kind.send(run, payer, open, { lines: payments, isNew: true });
    await kind.leave(open);
    for (const each of payments) await giveUpTransfer(run, await run.flows.find('transfer', each.flow));
  });
}

/** Ends a transfer that an earlier run began for a bulk payment and then stopped. Its line begins anew. */
export async function giveUpTransfer(
  { flows }: BatchStore,
  { flow, bulk, initiation, commits }: Transfer,
): Promise<void> {
  if (bulk !== null || initiation !== null || commits === 'on execute') return;
  await flows.resume('transfer', flow, async (open) => {
    if (isUntouched(open.current) && open.current.bulk === null) await open.record({ type: 'cancelled' });
  });
}

/** Goes on with an operation that an earlier run began. */
export async function goOnWith(
  run: BatchRun,
  kind: GroupKind,
  operation: GenericOperation,
  share: Share,
): Promise<void> {
  const payer = await run.payerOf({ customer: operation.order.customerId });
  if (isOver(operation) && !operation.refusedUnconfirmed) {
    await kind.follow(run, payer, operation);
    return tidy(run, operation);
  }
  if (await awaitsCustomer(run, payer, operation, kind.calls(payer, operation))) return;
  const lines = linesOfGroup(await run.batches.find(run.batch), operation.flow);
  await run.flows.resume('operation', operation.flow, async (open) => {
    // As long as the bank has not answered, psd2 may send what is stored.
    if (open.current.verification === null)
      await refuseOther(run, payer, kind, { operation: open.current, lines, share });
    await kind.send(run, payer, open, { lines, isNew: false });
  });
}

/** @throws Psd2Error `config` if what an earlier run stored would not pay just what these lines of the batch order */
async function refuseOther(
  { batches, batch: id, flows }: BatchRun,
  payer: Payer,
  kind: GroupKind,
  { operation, lines, share }: { operation: GenericOperation; lines: readonly Going[]; share: Share },
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
    if (!isUntouched(operation) && ['done', 'refused'].includes(standingOf(transfer)))
      throw hasEndedAlone(batch, line.line);
    refuseOtherOrder(batch, its, transfer.order);
    transfers.push(transfer);
  }
  await kind.refuseOther(payer, operation, transfers);
}

/** The error if a person has ended one of the payments: what is sent again for all would pay it once more. @param line its number */
function hasEndedAlone({ batch }: Batch, line: number): Psd2Error {
  return new Psd2Error(
    'config',
    `Payment ${line} has ended alone, so psd2 does not send it again with the others`,
    {
      hint: 'Look at the account statement. If the others were not executed either, record that with:',
      next: [['batch', 'resolve', batch, '--not-executed']],
    },
  );
}

/** Whether a transfer goes with an operation, or can go with it now. */
function mayGoWith({ mayJoin }: GroupKind, group: string, transfer: Transfer): boolean {
  return transfer.bulk === group || (transfer.bulk === null && mayJoin(transfer));
}

/** Runs an operation as far as possible, and writes into its transfers what became of them. */
export async function sendGroup(
  kind: GroupKind,
  run: BatchRun,
  payer: Payer,
  open: Open<'operation'>,
  { lines, isNew }: Sending,
): Promise<void> {
  const { flow, order } = open.current;
  const { amount, largest, currency } = groupPurpose(open.current);
  if (isUntouched(open.current) && !(await joinAll(run, kind, flow, lines))) {
    await kind.leave(open);
    return kind.follow(run, payer, open.current);
  }
  const link = {
    batch: run.batch,
    lines: lines.map(({ line }) => line.line),
    flow,
    customer: order.customerId,
    amount,
    currency,
  };
  const ports = await payingPorts(run, payer, open.current, { link, lines, isNew });
  const { refusesCost } = ports;
  try {
    await runAndFollow(run, payer, kind, open, {
      ...ports,
      // The limit is one of each payment. What the bank takes for all of them may be for one of them.
      refusesCost: ({ verification: cost, ...operation }) =>
        refusesCost({
          ...operation,
          order: { ...operation.order, amount: largest, currency },
          verification: cost && { ...cost, totalAmount: null },
        }),
    });
  } finally {
    await tidy(run, open.current);
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
    const calls = kind.calls(payer, open.current);
    const until: OperationStep[] = run.links ? ['await-authorization'] : [];
    await run.initiations.counting(open, calls, (counted) =>
      runOperation(open, counted, { ...ports, accept: async () => true }, until),
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
  { flows }: BatchStore,
  kind: GroupKind,
  group: string,
  lines: readonly Going[],
): Promise<boolean> {
  for (const { flow, checked } of lines) {
    const isIn = await flows.resume('transfer', flow, async (open) => {
      if (open.current.bulk === group) return true;
      if (!mayGoWith(kind, group, open.current)) return false;
      if (checked) await open.record({ type: 'payee-checked', ...checked });
      await open.record({ type: 'bulk-joined', bulk: group });
      return true;
    });
    if (!isIn) return false;
  }
  return true;
}

/** Writes into a transfer what follows from what became of its operation. */
export async function writeDown(
  { flows }: BatchStore,
  before: Transfer,
  following: (transfer: Transfer) => readonly StepEvent[],
): Promise<void> {
  if (following(before).length === 0) return;
  await flows.resume('transfer', before.flow, async (open) => {
    for (const event of following(open.current)) await open.record(event);
  });
}

/** Removes the tokens of an operation after its end, unless a payment of it can still change: psd2 asks for it with them. */
export async function tidy(store: BatchStore, operation: GenericOperation): Promise<void> {
  for (const { flow } of linesOfGroup(await store.batches.find(store.batch), operation.flow))
    if (isOpenIn(await store.flows.find('transfer', flow), operation)) return;
  // Nobody asks for a basket itself once its payments are final.
  await store.tidyGroup({ ...operation, isFinal: true });
}

/** What the bank gets of an operation. */
export function storedInitiation({ flow, initiation }: GenericOperation) {
  if (!initiation) throw new TypeError(`The operation ${flow} has no initiation`);
  return initiation;
}
