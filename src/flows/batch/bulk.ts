import type { BulkPayments } from '../../bank/ports/bulk.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import { isUntouched } from '../../domain/flow-states.ts';
import type { Transfer } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import type { GenericOperation } from '../../store/ports/flows.ts';
import { entriesIn } from './bulk-entries.ts';
import { BULK_PAYMENT, followBulk } from './follow-bulk.ts';
import {
  beginGroup,
  type GroupKind,
  giveUp,
  purposeOf,
  sendGroup,
  storedInitiation,
  type Taken,
  writeDown,
} from './group.ts';
import { isBeforeAll, linesIn } from './known-lines.ts';
import {
  beginLine,
  holderOf,
  type Prepared,
  prepareLine,
  takesLine,
  throwProblems,
  WaitsForPerson,
} from './lines.ts';
import type { BatchRun, BatchStore, Payer } from './ports.ts';
import type { Share } from './run.ts';
import { newReturn } from './send.ts';
import { SINGLE } from './single.ts';

/**
 * One payment at the bank for all lines, which the customer authorises once. Their transfers hold their references, and are never sent
 * alone.
 */
export const BULK: GroupKind = {
  operation: BULK_PAYMENT,
  take,
  send: (run, payer, open, sending) => sendGroup(BULK, run, payer, open, sending),
  follow: followInBulk,
  async leave(open) {
    if (isUntouched(open.current)) await open.record({ type: 'cancelled' });
  },
  calls(payer, operation) {
    const { transactionId } = operation;
    const bulk = bulkOf(payer, operation);
    return bulk.calls({
      order: purposeOf(operation),
      transactionId,
      initiation: storedInitiation(operation),
    });
  },
  async refuseOther(payer, operation, transfers) {
    const orders = transfers.map(({ order }) => order);
    await bulkOf(payer, operation).refuseOther(orders, storedInitiation(operation));
  },
  mayJoin: (transfer) => isUntouched(transfer) && transfer.initiation === null,
};

/** @throws Psd2Error `config` */
function bulkOf({ bank }: Payer, { flow }: GenericOperation): BulkPayments {
  const { bulk } = bank.payments;
  if (bulk) return bulk;
  throw new Psd2Error('config', 'The bank file no longer has bulk payments', { flow });
}

/** Writes into the transfers of a bulk payment what became of them. */
export async function followInBulk(store: BatchStore, payer: Payer, bulk: GenericOperation): Promise<void> {
  const transfers: Transfer[] = [];
  for (const { flow } of linesIn(await store.batches.find(store.batch), bulk.flow))
    transfers.push(await store.flows.find('transfer', flow));
  const entries = await entriesIn(payer, bulk, transfers);
  for (const known of transfers) {
    const entry = entries?.get(known.order.reference ?? '');
    await writeDown(store, known, (transfer) => followBulk(transfer, bulk, entry));
  }
}

type Free = Pick<Prepared, 'line' | 'before'>;

async function take(run: BatchRun, share: Share): Promise<void> {
  const { batches, flows } = run;
  const batch = await batches.find(run.batch);
  const free: Free[] = [];
  for (const line of share) {
    const before = batch.flows.get(line.line);
    const transfer = before === undefined ? undefined : await flows.find('transfer', before);
    const isFree = !transfer || isBeforeAll(transfer);
    if (isFree && !batch.refused.has(line.line) && !batch.cancelled.has(line.line))
      free.push({ line, before });
  }
  const [first] = free;
  if (!first) return;
  const payer = await run.payerOf(first.line);
  const { bulk } = payer.bank.payments;
  if (!bulk) throw new TypeError('The bank has no bulk payments');
  const { prepared, problems } = await prepareAll(run, payer, bulk, free);
  const { taken, alone } = await takeAll(run, payer, prepared);
  const [one, ...others] = taken;
  if (one) {
    const initiation = await initiationOf(payer, bulk, taken);
    await beginGroup(run, payer, BULK, { taken: [one, ...others], initiation });
  }
  for (const line of alone) await SINGLE.take(run, [line]);
  throwProblems(problems);
}

function initiationOf(payer: Payer, bulk: BulkPayments, lines: readonly Pick<Taken, 'order'>[]) {
  const orders = lines.map(({ order }) => order);
  return bulk.initiation(orders, newReturn(payer), payer.world.newId);
}

/** Checks each line. What is wrong with one refuses it alone. @returns also why lines wait for a person */
async function prepareAll(
  run: BatchRun,
  payer: Payer,
  bulk: BulkPayments,
  free: readonly Free[],
): Promise<{ prepared: Prepared[]; problems: Map<number, Psd2Error> }> {
  const batch = await run.batches.find(run.batch);
  const prepared: Prepared[] = [];
  const problems = new Map<number, Psd2Error>();
  for (const each of free) {
    try {
      const one = await prepareLine(run, payer, batch, each, (order) =>
        initiationOf(payer, bulk, [{ order }]),
      );
      if (one) prepared.push(one);
    } catch (error) {
      if (!(error instanceof WaitsForPerson)) throw error;
      problems.set(each.line.line, error);
    }
  }
  return { prepared, problems };
}

/**
 * Begins the transfer of each line. What an earlier run began for it and could not note any more ends first, unless it goes on alone.
 *
 * @returns also the lines for which an earlier run began a payment that is authorised alone
 */
async function takeAll(
  run: BatchRun,
  payer: Payer,
  prepared: readonly Prepared[],
): Promise<{ taken: Taken[]; alone: BatchLine[] }> {
  const taken: Taken[] = [];
  const alone: BatchLine[] = [];
  for (const each of prepared) {
    const { line, order, checked, before } = each;
    const begin = () =>
      beginLine(run, payer, each, {}, async (open) => {
        taken.push({ line, order, checked, flow: open.current.flow });
      });
    try {
      await begin();
    } catch (error) {
      const holder = await holderOf(run, line, error);
      if (!holder) continue;
      await giveUp(run, holder);
      const now = await run.flows.find('transfer', holder.flow);
      if (isBeforeAll(now)) await begin();
      else {
        await takesLine(run, line, now.flow, before);
        if (now.initiation !== null && now.bulk === null) alone.push(line);
      }
    }
  }
  return { taken, alone };
}
