import Big from 'big.js';
import type { Transaction } from '../../bank/ports/bank.ts';
import type { EntryState } from '../../bank/ports/bulk.ts';
import { bankDay, type IsoDate } from '../../domain/calendar.ts';
import type { Operation, OrderTarget } from '../../domain/operation.ts';
import { compactIban } from '../../domain/order/sepa-text.ts';
import type { Transfer } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import type { GenericOperation } from '../../store/ports/flows.ts';
import { isInterruption } from '../refusals.ts';
import { isOpenIn } from './follow-basket.ts';
import { followBulk, isPartial } from './follow-bulk.ts';
import type { BatchStore, Payer } from './ports.ts';

/** Writes into the transfers of a bulk payment what became of them. */
export async function followAll(run: BatchStore, payer: Payer, bulk: Operation<OrderTarget>): Promise<void> {
  const { batches, flows } = run;
  const batch = await batches.find(run.batch);
  const transfers: Transfer[] = [];
  for (const line of batch.bulks.get(bulk.flow) ?? []) {
    const flow = batch.flows.get(line);
    if (flow !== undefined) transfers.push(await flows.find('transfer', flow));
  }
  const entries = isPartial(bulk)
    ? await entriesOf(payer, bulk, transfers)
    : bulk.executionStatus === 'KO'
      ? await saidOfEach(payer, bulk)
      : undefined;
  for (const known of transfers) {
    const entry = entries?.get(known.order.reference ?? '');
    if (followBulk(known, bulk, entry).length === 0) continue;
    await flows.resume('transfer', known.flow, async (open) => {
      for (const event of followBulk(open.current, bulk, entry)) await open.record(event);
    });
  }
}

/** Removes the tokens of an operation after its end, unless a payment of it can still change: psd2 asks for it with them. */
export async function tidyGroup(
  { batches, batch, flows, tidyGroup: tidy }: BatchStore,
  operation: GenericOperation,
): Promise<void> {
  const { flows: flowOf, bulks } = await batches.find(batch);
  for (const line of bulks.get(operation.flow) ?? []) {
    const flow = flowOf.get(line);
    if (flow !== undefined && isOpenIn(await flows.find('transfer', flow), operation)) return;
  }
  // Nobody asks for a basket itself once its payments are final.
  await tidy({ ...operation, isFinal: true });
}

/**
 * What became of each transfer of a bulk payment of which the bank has rejected some: as the bank says, else by the bookings of the
 * account. What neither shows is missing.
 */
async function entriesOf(
  payer: Payer,
  bulk: Operation<OrderTarget>,
  transfers: readonly Transfer[],
): Promise<ReadonlyMap<string, EntryState>> {
  const found = await saidOfEach(payer, bulk);
  const left = transfers.filter(({ order }) => !found.has(order.reference ?? ''));
  const booked = (await ifAnswered(bookedIn(payer, left, bulk.createdAt))) ?? new Set<string>();
  for (const id of booked) found.set(id, { transactionStatus: 'ACSC', means: 'paid', isFinal: true });
  return found;
}

/** What the bank says of each transfer, if it has decided. */
async function saidOfEach(
  { bank }: Payer,
  { initiation, verification, transactionId }: Operation<OrderTarget>,
): Promise<Map<string, EntryState>> {
  const { bulk } = bank.payments;
  if (!initiation || !verification || !bulk) return new Map();
  const said = await ifAnswered(bulk.entries(initiation, verification.resourceId, transactionId));
  return new Map([...(said ?? [])].filter(([, { means }]) => means !== 'open'));
}

/** The end-to-end ids that the account was debited with since a time. */
async function bookedIn(
  { bank, accounts }: Payer,
  [first, ...others]: readonly Transfer[],
  since: string,
): Promise<Set<string>> {
  if (!first) return new Set();
  const { from, fromIban } = first.order;
  const wanted = [first, ...others].map(({ order }) => order);
  const account = (await accounts()).find(
    ({ iban, accountId }) => accountId === from || iban === (fromIban ?? from),
  );
  if (!account) return new Set();
  const booked = new Set<string>();
  const day = bankDay(new Date(since));
  const pages = bank.accounts.pages({
    ...{ customerId: first.order.customerId, productId: account.productId },
    ...{ from: day, to: undefined, status: 'booked' },
    transactionId: first.transactionId,
  });
  for await (const { booked: page } of pages)
    for (const row of page?.rows ?? []) {
      const { endToEndId } = row;
      const isOne = wanted.some((order) => order.reference === endToEndId && isBookingOf(row, order, day));
      if (endToEndId && isOne) booked.add(endToEndId);
    }
  return booked;
}

/** Whether a row is the booking of an order: what it says of payee, currency and day must fit. */
function isBookingOf(row: Transaction, order: Transfer['order'], since: IsoDate): boolean {
  const { amount, currency, bookingDate, counterpartyIban } = row;
  const isOfPayee = compactIban(counterpartyIban ?? order.to) === order.to;
  const isSince = bookingDate !== null && bookingDate >= since;
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
