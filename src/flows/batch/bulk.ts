import Big from 'big.js';
import type { Transaction } from '../../bank/ports/bank.ts';
import type { BulkPayments, EntryState } from '../../bank/ports/bulk.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import { dayOfRow, isFuture } from '../../domain/booked-ids.ts';
import { bankDay, type IsoDate } from '../../domain/calendar.ts';
import { isUntouched } from '../../domain/flow-states.ts';
import type { Operation, OrderTarget } from '../../domain/operation.ts';
import { compactIban } from '../../domain/order/sepa-text.ts';
import type { Transfer } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import type { GenericOperation } from '../../store/ports/flows.ts';
import { isInterruption } from '../refusals.ts';
import { BULK_PAYMENT, followBulk, isPartial } from './follow-bulk.ts';
import {
  beginGroup,
  type GroupKind,
  giveUpTransfer,
  groupPurpose,
  sendGroup,
  storedInitiation,
  type Taken,
  writeDown,
} from './group.ts';
import { isBeforeAll, linesOfGroup } from './known-lines.ts';
import {
  beginLine,
  type Prepared,
  prepareLine,
  referenceHolder,
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
  take: takeIntoBulk,
  send: (run, payer, open, sending) => sendGroup(BULK, run, payer, open, sending),
  follow: (run, payer, bulk) => followInBulk(run, async () => payer, bulk),
  async leave(open) {
    if (isUntouched(open.current)) await open.record({ type: 'cancelled' });
  },
  calls(payer, operation) {
    const { transactionId } = operation;
    const bulk = bulkPaymentsOf(payer, operation);
    return bulk.calls({
      order: groupPurpose(operation),
      transactionId,
      initiation: storedInitiation(operation),
    });
  },
  async refuseOther(payer, operation, transfers) {
    const orders = transfers.map(({ order }) => order);
    await bulkPaymentsOf(payer, operation).refuseOther(orders, storedInitiation(operation));
  },
  mayJoin: (transfer) => isUntouched(transfer) && transfer.initiation === null,
};

/** @throws Psd2Error `config` */
function bulkPaymentsOf({ bank }: Pick<Payer, 'bank'>, { flow }: GenericOperation): BulkPayments {
  const { bulk } = bank.payments;
  if (bulk) return bulk;
  throw new Psd2Error('config', 'The bank file no longer has bulk payments', { flow });
}

/** What psd2 must be able to ask about the transfers of a bulk payment. */
export type AskedOfBulk = Pick<Payer, 'bank' | 'accounts' | 'world'>;

/**
 * Writes into the transfers of a bulk payment what became of them.
 *
 * @param payerOf opens the bank, if it has not decided alike about all
 */
export async function followInBulk(
  store: BatchStore,
  payerOf: () => Promise<AskedOfBulk>,
  bulk: GenericOperation,
): Promise<void> {
  const transfers: Transfer[] = [];
  for (const { flow } of linesOfGroup(await store.batches.find(store.batch), bulk.flow))
    transfers.push(await store.flows.find('transfer', flow));
  const entries = await entriesIn(payerOf, bulk, transfers);
  for (const earlier of transfers) {
    const entry = entries?.get(earlier.order.reference ?? '');
    await writeDown(store, earlier, (transfer) => followBulk(transfer, bulk, entry));
  }
}

type Free = Pick<Prepared, 'line' | 'before'>;

async function takeIntoBulk(run: BatchRun, share: Share): Promise<void> {
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
  const { taken: begun, alone } = await takeAll(run, payer, prepared);
  const [one, ...others] = begun;
  if (one) {
    const initiation = await bulkInitiation(payer, bulk, begun);
    await beginGroup(run, payer, BULK, { payments: [one, ...others], initiation });
  }
  for (const line of alone) await SINGLE.take(run, [line]);
  throwProblems(problems);
}

function bulkInitiation(payer: Payer, bulk: BulkPayments, lines: readonly Pick<Taken, 'order'>[]) {
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
        bulkInitiation(payer, bulk, [{ order }]),
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
  const begun: Taken[] = [];
  const alone: BatchLine[] = [];
  for (const each of prepared) {
    const { line, order, checked, before } = each;
    const begin = () =>
      beginLine(run, payer, each, {}, async (open) => {
        begun.push({ line, order, checked, flow: open.current.flow });
      });
    try {
      await begin();
    } catch (error) {
      const holder = await referenceHolder(run, line, error);
      if (!holder) continue;
      await giveUpTransfer(run, holder);
      const now = await run.flows.find('transfer', holder.flow);
      if (isBeforeAll(now)) await begin();
      else {
        await takesLine(run, line, now.flow, before);
        if (now.initiation !== null && now.bulk === null) alone.push(line);
      }
    }
  }
  return { taken: begun, alone };
}

/** What became of each transfer of a bulk payment, if the bank has not decided alike about all. Undefined: it has. */
async function entriesIn(
  payerOf: () => Promise<AskedOfBulk>,
  bulk: Operation<OrderTarget>,
  transfers: readonly Transfer[],
): Promise<ReadonlyMap<string, EntryState> | undefined> {
  if (isPartial(bulk)) return entriesAfterRejection(await payerOf(), bulk, transfers);
  return bulk.executionStatus === 'KO' ? rejectedOf(await payerOf(), bulk, transfers) : undefined;
}

/**
 * What the bank says of each transfer of a bulk payment that it has rejected. If it contradicts that, a transfer is rejected only if the
 * bank says so of this one.
 */
async function rejectedOf(
  payer: AskedOfBulk,
  bulk: Operation<OrderTarget>,
  transfers: readonly Transfer[],
): Promise<ReadonlyMap<string, EntryState>> {
  const statuses = await saidOfEach(payer, bulk).catch((error: unknown) => {
    if (error instanceof Psd2Error && error.contradicts) return null;
    throw error;
  });
  if (statuses && [...statuses.values()].every(({ means }) => means === 'refused')) return statuses;
  const ids = transfers.flatMap(({ order }) => order.reference ?? []);
  const open: [string, EntryState][] = ids.map((id) => [id, { transactionStatus: 'RJCT', means: 'open' }]);
  return new Map([...open, ...(statuses ?? [])]);
}

/**
 * What became of each transfer of a bulk payment of which the bank has rejected some: as the bank says, else by the bookings of the
 * account. What neither shows is missing.
 */
async function entriesAfterRejection(
  payer: AskedOfBulk,
  bulk: Operation<OrderTarget>,
  transfers: readonly Transfer[],
): Promise<ReadonlyMap<string, EntryState>> {
  const statuses = await ifAnswered(saidOfEach(payer, bulk));
  const entries = new Map([...(statuses ?? [])].filter(([, { means }]) => means !== 'open'));
  const left = transfers.filter(({ order }) => !entries.has(order.reference ?? ''));
  const booked = (await ifAnswered(bookedIn(payer, left, bulk))) ?? new Set<string>();
  for (const id of booked) entries.set(id, { transactionStatus: 'ACSC', means: 'paid', isFinal: true });
  return entries;
}

/** What the bank says of each transfer. @throws Psd2Error an answer that contradicts itself */
async function saidOfEach(
  { bank }: AskedOfBulk,
  { initiation, verification, transactionId }: Operation<OrderTarget>,
): Promise<ReadonlyMap<string, EntryState>> {
  const { bulk } = bank.payments;
  if (!initiation || !verification || !bulk) return new Map();
  try {
    return await bulk.entries(initiation, verification.resourceId, transactionId);
  } catch (error) {
    if (!(error instanceof Psd2Error) || isInterruption(error) || error.contradicts) throw error;
    return new Map();
  }
}

/** The end-to-end ids that the account was debited with since a time. */
async function bookedIn(
  { bank, accounts, world }: AskedOfBulk,
  [first, ...others]: readonly Transfer[],
  { createdAt: since, debtor }: Operation<OrderTarget>,
): Promise<Set<string>> {
  if (!first) return new Set();
  const { from, fromIban } = first.order;
  const wanted = [first, ...others].map(({ order }) => order);
  const account = (await accounts()).find(
    ({ iban, accountId }) => accountId === from || (iban !== null && iban === (fromIban ?? from ?? debtor)),
  );
  if (!account) return new Set();
  const booked = new Set<string>();
  const day = bankDay(new Date(since));
  const today = bankDay(world.now());
  const pages = bank.accounts.pages({
    customerId: first.order.customerId,
    productId: account.productId,
    from: day,
    to: undefined,
    status: 'booked',
    transactionId: first.transactionId,
  });
  for await (const { booked: page } of pages)
    for (const row of page?.rows ?? []) {
      const { endToEndId } = row;
      if (isFuture(row, today)) continue;
      const isOne = wanted.some((order) => order.reference === endToEndId && isBookingOf(row, order, day));
      if (endToEndId && isOne) booked.add(endToEndId);
    }
  return booked;
}

/** Whether a row is the booking of an order: what it says of payee, currency and day must fit. */
function isBookingOf(row: Transaction, order: Transfer['order'], since: IsoDate): boolean {
  const { amount, currency, counterpartyIban } = row;
  const isOfPayee = compactIban(counterpartyIban ?? order.to) === order.to;
  const day = dayOfRow(row);
  const isSince = day !== null && day >= since;
  return (
    isOfPayee && isSince && currency === order.currency && new Big(amount).eq(new Big(order.amount).neg())
  );
}

/** What the bank does not say decides nothing. */
async function ifAnswered<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof Psd2Error) || isInterruption(error)) throw error;
    return null;
  }
}
