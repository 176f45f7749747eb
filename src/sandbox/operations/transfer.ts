import type { Customers } from '../customers/customers.ts';
import type { Customer, Product } from '../customers/seed-customers.ts';
import { bankDay } from '../ledger/bank-time.ts';
import type { Cents } from '../ledger/cents.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { type Plan, planOf } from './plan.ts';

/**
 * How long after its execution an instant transfer settles. A client first asks for its status 1 second after execute, and
 * last after 15 seconds (interface specification, "Limits").
 */
const SETTLES_AFTER_MS = { usual: 500, KO: 500, 'at once': 0, slow: 1500, late: 30_000 };

/** The bank's fee for a transfer. Regulation (EU) 2024/886 requires the same fee for instant and other transfers. */
export const COMMISSIONS: Cents = 50;

/** The payee, and the description of the payment. */
export interface Beneficiary {
  beneficiaryIban: string;
  beneficiaryName: string;
  description: string;
}

/** A valid transfer. Each door adds what its orders have besides. */
export interface Transfer extends Beneficiary {
  instant: boolean;
  amount: Cents;
  commissions: Cents;
}

/** The total that leaves the account. */
export function totalOf({ amount, commissions }: Pick<Transfer, 'amount' | 'commissions'>): Cents {
  return amount + commissions;
}

/** When an instant transfer settles. @param at its execution */
function settlesAt({ settlement }: Plan, at: Date): Date {
  return new Date(at.getTime() + SETTLES_AFTER_MS[settlement ?? 'usual']);
}

/**
 * Carries out a transfer, at both doors. An instant one settles by its plan, and one with a planned failure moves nothing.
 *
 * @param bookedFrom of one that is not instant
 * @returns whether the money moves, and from when the bank says so
 */
export function payOut(
  bank: { ledger: Ledger; customers: Customers },
  debtor: { customer: Customer; product: Product },
  order: Transfer,
  { reference, at, bookedFrom }: { reference: string; at: Date; bookedFrom: Date },
): { paid: boolean; settledAt: Date } {
  const plan = planOf(order.beneficiaryName);
  const settledAt = order.instant ? settlesAt(plan, at) : bookedFrom;
  const paid = !order.instant || plan.settlement !== 'KO';
  if (paid) bookTransfer(bank, debtor, order, { reference, at, bookedFrom: settledAt });
  return { paid, settledAt };
}

/**
 * Moves the money of a transfer: debits the amount and the commissions, and credits the payee if the account is at
 * this bank. From now on, the money is not available any more.
 */
function bookTransfer(
  { ledger, customers }: { ledger: Ledger; customers: Customers },
  { customer, product }: { customer: Customer; product: Product },
  order: Transfer,
  { reference, at, bookedFrom }: { reference: string; at: Date; bookedFrom: Date },
): void {
  const day = bankDay(bookedFrom);
  const booking = {
    enteredAt: at,
    bookedFrom,
    bookingDay: day,
    valueDay: day,
    preAuthorized: false,
    transferReference: reference,
  };
  ledger.post(product, {
    ...booking,
    amount: -order.amount,
    code: '26',
    shortDescription: order.instant ? 'BONIFICO ISTANTANEO' : 'VOSTRA DISPOSIZIONE',
    extendedDescription:
      `A FAVORE DI ${order.beneficiaryName} ${order.beneficiaryIban} ${order.description}`.trim(),
    isFee: false,
  });
  ledger.post(product, {
    ...booking,
    amount: -order.commissions,
    code: '16',
    shortDescription: 'COMMISSIONI',
    extendedDescription: `COMMISSIONI BONIFICO ${reference}`,
    isFee: true,
  });
  const beneficiary = customers.accountByIban(order.beneficiaryIban);
  if (!beneficiary) return;
  ledger.post(beneficiary, {
    ...booking,
    amount: order.amount,
    code: '48',
    shortDescription: 'BONIFICO A VOSTRO FAVORE',
    extendedDescription: `DA ${customer.firstName} ${customer.lastName} ${order.description}`.trim(),
    isFee: false,
  });
}
