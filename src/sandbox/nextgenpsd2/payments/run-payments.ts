import type { Bank } from '../../bank.ts';
import { bankDay, bookingInstant, nextBusinessDay } from '../../ledger/bank-time.ts';
import { planOf } from '../../operations/plan.ts';
import { payOut, totalOf } from '../../operations/transfer.ts';
import { doorOf } from '../door-state.ts';
import type { DoorPayment, PaymentExecution, PaymentOrder } from './payment.ts';
import { dayOfPayment } from './standing-rule.ts';

/** The reference of an order without one, as SEPA writes it. */
const NO_REFERENCE = 'NOTPROVIDED';

/** The reference of an order in the ledger. */
export function endToEndReference({ endToEndId }: PaymentOrder): string {
  return endToEndId ?? NO_REFERENCE;
}

/** The customer has authorised a payment, or the bank needs nobody for it. Twice is once. */
export function authorisePayment(bank: Bank, payment: DoorPayment): void {
  payment.authorisedAt ??= bank.now();
  runDuePayments(bank);
}

/**
 * Executes what is due: each authorised payment, without the TPP. It runs before each request that any port answers, so the money
 * has always moved by the bank's time.
 */
export function runDuePayments(bank: Bank): void {
  const now = bank.now();
  for (const payment of doorOf(bank).payments.list()) {
    for (let due = dueAt(payment); due !== undefined && due <= now; due = dueAt(payment)) {
      const at = due;
      payment.executions.push(...payment.orders.map((order) => execute(bank, payment, order, at)));
      bank.calls.tellChange();
    }
  }
}

/** When the bank executes a payment next. Undefined: never, or not yet known. */
function dueAt({
  authorisedAt,
  cancelled,
  outlived,
  executions,
  standing,
  executionDay,
  lateMs,
}: DoorPayment): Date | undefined {
  if (authorisedAt === undefined || (cancelled && !outlived)) return undefined;
  if (!standing && executions.length > 0) return undefined;
  const day = standing ? dayOfPayment(standing, executions.length) : (executionDay ?? bankDay(authorisedAt));
  if (day === undefined) return undefined;
  const from = day > bankDay(authorisedAt) ? bookingInstant(day) : authorisedAt;
  return new Date(from.getTime() + lateMs);
}

function execute(bank: Bank, payment: DoorPayment, order: PaymentOrder, at: Date): PaymentExecution {
  const { debtor } = payment;
  if (!debtor) return { order, at, paid: false, settledAt: at };
  const { available } = bank.ledger.balance(debtor.product, bank.now());
  if (planOf(order.beneficiaryName).execute === 'refused' || totalOf(order) > available)
    return { order, at, paid: false, settledAt: at };
  const booking = { reference: endToEndReference(order), at, bookedFrom: bookedFrom(payment, at) };
  return { order, at, ...payOut(bank, debtor, order, booking) };
}

/** A transfer for a later day is booked on this day, another one on the next business day. */
function bookedFrom({ standing, executionDay, createdAt }: DoorPayment, at: Date): Date {
  const isPlanned = standing !== undefined || (executionDay ?? '') > bankDay(createdAt);
  return isPlanned ? at : bookingInstant(nextBusinessDay(bankDay(at)));
}
