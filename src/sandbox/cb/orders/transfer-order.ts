import * as z from 'zod/mini';
import { Refusal } from '../../answers/refusal.ts';
import type { Product } from '../../customers/seed-customers.ts';
import { addMonths, bankDay, type IsoDate, readBankDate, writeBankDate } from '../../ledger/bank-time.ts';
import { type Cents, decimal } from '../../ledger/cents.ts';
import { COMMISSIONS, type Transfer, totalOf } from '../../operations/transfer.ts';
import {
  amountField,
  beneficiaryFields,
  checkTexts,
  invalidField,
  readAmount,
  readBeneficiaryIban,
  readOrderDay,
} from './order-fields.ts';

/** A valid transfer order. */
export interface TransferOrder extends Transfer {
  executionDay: IsoDate;
}

/** The body of the verify call (interface specification, "Bank transfer"). All fields except `type` are required. */
export const verifyBody = z.strictObject({
  data: z.strictObject({
    moneyTransferAmount: amountField,
    flagUrgency: z.boolean(),
    type: z.optional(z.string()),
    moneyTransferExecutionDate: z.string(),
    ...beneficiaryFields,
  }),
});

type VerifyData = z.infer<typeof verifyBody>['data'];

/** The latest execution date of a transfer: a year ahead. */
export function executionDateLimit(now: Date): IsoDate {
  return addMonths(bankDay(now), 12);
}

/**
 * Checks the content of a verify call: first the characters, then each field.
 *
 * @throws Refusal `CHARACTER_NOT_ALLOWED`, `FIELD_INVALID`
 */
export function readTransferOrder(data: VerifyData, debited: Product, now: Date): TransferOrder {
  checkTexts(data);
  if (data.type !== undefined && data.type !== 'INSTANT')
    throw invalidField('type', 'INSTANT, or no type for a transfer that is not instant', `"${data.type}"`);
  const instant = data.type === 'INSTANT';
  return {
    instant,
    amount: readAmount('moneyTransferAmount', data.moneyTransferAmount),
    commissions: COMMISSIONS,
    executionDay: readExecutionDay(data.moneyTransferExecutionDate, instant, now),
    beneficiaryIban: readBeneficiaryIban(data.ibanBeneficiary, debited),
    beneficiaryName: data.beneficiaryName,
    description: data.description,
  };
}

/**
 * @throws Refusal `FUNDS_INSUFFICIENT` if the total is more than the available balance.
 */
export function requireFunds(order: TransferOrder, available: Cents): void {
  if (totalOf(order) <= available) return;
  throw new Refusal(
    'FUNDS_INSUFFICIENT',
    'The available balance does not cover the transfer',
    `Available: ${decimal(available)} EUR. Needed, with commissions: ${decimal(totalOf(order))} EUR.`,
  );
}

function readExecutionDay(text: string, instant: boolean, now: Date): IsoDate {
  const today = bankDay(now);
  if (instant && readBankDate(text) !== today)
    throw invalidField(
      'moneyTransferExecutionDate',
      `${writeBankDate(today)}, the only day for an instant transfer`,
      `"${text}"`,
    );
  const last = executionDateLimit(now);
  return readOrderDay('moneyTransferExecutionDate', text, { first: today, last, now });
}
