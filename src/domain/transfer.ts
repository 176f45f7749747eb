import type { IsoDate } from './calendar.ts';
import type { Decimal } from './decimal.ts';
import { applyOperationEvent, type Operation, type OperationEvent, type OrderTarget } from './operation.ts';
import type { Iban } from './order/iban.ts';
import type { PayeeSource } from './order/payee-check.ts';

/** What the operator ordered. */
export interface TransferOrder extends OrderTarget {
  to: Iban;
  name: string;
  amount: Decimal;
  currency: string;
  description: string;
  instant: boolean;
  /** The wire field `type`; null when none is sent. */
  type: string | null;
  executionDate: IsoDate;
  /** The order is for a day after the one it was given on, so an instant one is not executed at once. */
  futureDated: boolean;
  urgent: boolean;
  /** The operator's own reference, used once per profile. */
  reference: string | null;
  /** The IBAN of the account that is debited, where it was known. */
  fromIban?: string | undefined;
  /** Who gave the payee's name and IBAN, where the operator said so. */
  payeeSource?: PayeeSource | undefined;
}

/** A bank transfer: the operation `moneyTransfer`. */
export type Transfer = Operation<TransferOrder>;
export type TransferEvent = OperationEvent<TransferOrder>;

/** The transfer after `event`: see {@link applyOperationEvent}. */
export function applyTransferEvent(
  transfer: Transfer | undefined,
  event: TransferEvent,
  at: string,
): Transfer {
  const next = applyOperationEvent('transfer', transfer, event, at);
  // Nobody asks how an instant transfer settles after a person has said that it was executed.
  const isSettled = event.type === 'resolved' && event.outcome === 'executed' && needsSettlement(next.order);
  return isSettled ? { ...next, state: 'settled' } : next;
}

/** Whether the operation of this name is a bank transfer, in whatever letter case: `psd2 transfer` alone makes those. */
export function isMoneyTransfer(operation: string): boolean {
  return operation.toLowerCase() === 'moneytransfer';
}

/** Whether the bank has an execution status for it: only for instant transfers that are executed at once. */
export function needsSettlement(order: Pick<TransferOrder, 'instant' | 'futureDated'>): boolean {
  return order.instant && !order.futureDated;
}
