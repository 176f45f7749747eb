import { randomInt } from 'node:crypto';
import type { Bank } from '../bank.ts';
import { bankDay, bookingInstant, isBusinessDay, nextBusinessDay } from '../ledger/bank-time.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Execution, TransferResource } from './resource.ts';
import { requireFunds, type TransferOrder } from './transfer-order.ts';

/**
 * Executes an authorised transfer, once. Debits the amount and the commissions, and credits the payee if the account is at
 * this bank. From now on, the money is not available any more. An instant transfer is booked when it settles.
 * Any other transfer is booked on its execution date if that is a later business day, or else on the next business day.
 *
 * An instant transfer with a planned failure moves nothing.
 *
 * @throws Refusal `ALREADY_EXECUTED`, `STEP_MISSING`, `NOT_AUTHORIZED`, `FUNDS_INSUFFICIENT`, `EXECUTION_REFUSED`
 */
export function executeTransfer(bank: Bank, transfer: TransferResource): Execution {
  bank.resources.requireExecutable(transfer);
  const now = bank.now();
  const { product, order, customer } = transfer;
  requireFunds(order, bank.ledger.balance(product, now).available);

  const execution: Execution = {
    cro: newReference(),
    at: now,
    settlement: settlementOf(transfer, now),
  };
  transfer.execution = execution;
  transfer.finishedAt = execution.settlement?.at ?? now;
  if (execution.settlement?.status === 'KO') return execution;
  const booking = { ...when(order, execution, now), transferReference: execution.cro };
  bank.ledger.post(product, {
    ...booking,
    amount: -order.amount,
    code: '26',
    shortDescription: order.instant ? 'BONIFICO ISTANTANEO' : 'VOSTRA DISPOSIZIONE',
    extendedDescription:
      `A FAVORE DI ${order.beneficiaryName} ${order.beneficiaryIban} ${order.description}`.trim(),
    isFee: false,
  });
  bank.ledger.post(product, {
    ...booking,
    amount: -order.commissions,
    code: '16',
    shortDescription: 'COMMISSIONI',
    extendedDescription: `COMMISSIONI BONIFICO ${execution.cro}`,
    isFee: true,
  });
  const beneficiary = bank.customers.accountByIban(order.beneficiaryIban);
  if (beneficiary) {
    bank.ledger.post(beneficiary, {
      ...booking,
      amount: order.amount,
      code: '48',
      shortDescription: 'BONIFICO A VOSTRO FAVORE',
      extendedDescription: `DA ${customer.firstName} ${customer.lastName} ${order.description}`.trim(),
      isFee: false,
    });
  }
  return execution;
}

/**
 * How long after its execution an instant transfer settles. A client first asks for its status 1 second after execute, and
 * last after 15 seconds (interface specification, "Limits").
 */
const SETTLES_AFTER_MS = { usual: 500, KO: 500, 'at once': 0, slow: 1500, late: 30_000 };

function settlementOf({ order, plan }: TransferResource, now: Date): Execution['settlement'] {
  if (!order.instant) return undefined;
  return {
    at: new Date(now.getTime() + SETTLES_AFTER_MS[plan.settlement ?? 'usual']),
    status: plan.settlement === 'KO' ? 'KO' : 'OK',
  };
}

type Booking = Pick<Entry, 'enteredAt' | 'bookedFrom' | 'bookingDay' | 'valueDay' | 'preAuthorized'>;

function when({ executionDay }: TransferOrder, { settlement }: Execution, now: Date): Booking {
  const base = { enteredAt: now, preAuthorized: false };
  if (settlement) {
    const day = bankDay(settlement.at);
    return { ...base, bookedFrom: settlement.at, bookingDay: day, valueDay: day };
  }
  const today = bankDay(now);
  const day =
    executionDay > today && isBusinessDay(executionDay)
      ? executionDay
      : nextBusinessDay(maximum(today, executionDay));
  return { ...base, bookedFrom: bookingInstant(day), bookingDay: day, valueDay: day };
}

function maximum(a: string, b: string): string {
  return a > b ? a : b;
}

/** A CRO: eleven digits. */
function newReference(): string {
  return String(randomInt(10_000_000_000, 99_999_999_999));
}
