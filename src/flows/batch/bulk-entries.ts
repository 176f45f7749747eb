import Big from 'big.js';
import type { Transaction } from '../../bank/ports/bank.ts';
import type { EntryState } from '../../bank/ports/bulk.ts';
import { bankDay, type IsoDate } from '../../domain/calendar.ts';
import type { Operation, OrderTarget } from '../../domain/operation.ts';
import { compactIban } from '../../domain/order/sepa-text.ts';
import type { Transfer } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import { isInterruption } from '../refusals.ts';
import { isPartial } from './follow-bulk.ts';
import type { Payer } from './ports.ts';

/** What became of each transfer of a bulk payment, if the bank has not decided alike about all. Undefined: it has. */
export async function entriesIn(
  payer: Payer,
  bulk: Operation<OrderTarget>,
  transfers: readonly Transfer[],
): Promise<ReadonlyMap<string, EntryState> | undefined> {
  if (isPartial(bulk)) return entriesOf(payer, bulk, transfers);
  return bulk.executionStatus === 'KO' ? saidOfEach(payer, bulk) : undefined;
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
  const booked = (await ifAnswered(bookedIn(payer, left, bulk))) ?? new Set<string>();
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
