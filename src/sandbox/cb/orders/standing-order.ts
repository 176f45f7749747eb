import * as z from 'zod/mini';
import type { Product } from '../../customers/seed-customers.ts';
import { addDays, addMonths, bankDay, type IsoDate, writeBankDate } from '../../ledger/bank-time.ts';
import type { Cents } from '../../ledger/cents.ts';
import { type Beneficiary, COMMISSIONS } from '../../operations/transfer.ts';
import {
  amountField,
  beneficiaryFields,
  checkTexts,
  invalidField,
  readAmount,
  readBeneficiaryIban,
  readOrderDay,
} from './order-fields.ts';
import { executionDateLimit } from './transfer-order.ts';

const MAX_EXECUTIONS = 120;

/** How often a standing order pays. */
export const frequencies = ['WEEKLY', 'MONTHLY'] as const;

/** A valid standing order. This operation is the sandbox's own design, with a second verify step. */
export interface StandingOrder extends Beneficiary {
  amount: Cents;
  /** For each payment. */
  commissions: Cents;
  frequency: (typeof frequencies)[number];
  firstDay: IsoDate;
  /** The number of payments. Undefined until the second verify. */
  executions: number | undefined;
}

/** The body of the first verify. */
export const standingOrderBody = z.strictObject({
  data: z.strictObject({
    amount: amountField,
    frequency: z.enum(frequencies),
    firstExecutionDate: z.string(),
    ...beneficiaryFields,
  }),
});

/** The body of the second verify. */
export const standingOrderTermBody = z.strictObject({
  data: z.strictObject({ numberOfExecutions: z.int() }),
});

/** The earliest day of the first payment: tomorrow. */
export function firstExecutionMinimum(now: Date): IsoDate {
  return addDays(bankDay(now), 1);
}

/**
 * Checks the content of the first verify.
 *
 * @throws Refusal `CHARACTER_NOT_ALLOWED`, `FIELD_INVALID`
 */
export function readStandingOrder(
  data: z.infer<typeof standingOrderBody>['data'],
  debited: Product,
  now: Date,
): StandingOrder {
  checkTexts(data);
  return {
    amount: readAmount('amount', data.amount),
    commissions: COMMISSIONS,
    frequency: data.frequency,
    firstDay: readOrderDay('firstExecutionDate', data.firstExecutionDate, {
      first: firstExecutionMinimum(now),
      last: executionDateLimit(now),
      now,
    }),
    executions: undefined,
    beneficiaryIban: readBeneficiaryIban(data.ibanBeneficiary, debited),
    beneficiaryName: data.beneficiaryName,
    description: data.description,
  };
}

/**
 * Checks the content of the second verify.
 *
 * @throws Refusal `FIELD_INVALID`
 */
export function readNumberOfExecutions(data: z.infer<typeof standingOrderTermBody>['data']): number {
  const { numberOfExecutions: count } = data;
  if (count >= 1 && count <= MAX_EXECUTIONS) return count;
  throw invalidField('numberOfExecutions', `a whole number from 1 to ${MAX_EXECUTIONS}`, String(count));
}

/** The day of the last payment. */
export function lastDayOf({ firstDay, frequency }: StandingOrder, executions: number): IsoDate {
  return frequency === 'WEEKLY'
    ? addDays(firstDay, 7 * (executions - 1))
    : addMonths(firstDay, executions - 1);
}

/** `MONTHLY, 12 times, until 20/11/2027` */
export function scheduleText(order: StandingOrder): string {
  const { executions, frequency } = order;
  if (executions === undefined) return frequency;
  const times = executions === 1 ? 'once' : `${executions} times`;
  return `${frequency}, ${times}, until ${writeBankDate(lastDayOf(order, executions))}`;
}
