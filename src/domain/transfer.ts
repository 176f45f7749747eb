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
  /** The wire field `type`. Null if it is not sent. */
  type: string | null;
  executionDate: IsoDate;
  /** The execution date is after the day of the order, so an instant transfer is not executed at once. */
  futureDated: boolean;
  urgent: boolean;
  /** The operator's own reference, used once per profile. */
  reference: string | null;
  /** The IBAN of the debited account, if it was known. */
  fromIban?: string | undefined;
  /** Who gave the payee's name and IBAN, if the operator said so. */
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
  // If a person says that an instant transfer was executed, psd2 does not ask for its settlement any more.
  const isSettled = event.type === 'resolved' && event.outcome === 'executed' && needsSettlement(next.order);
  return isSettled ? { ...next, state: 'settled' } : next;
}

/** Whether an operation's name is that of bank transfers, in any case. Only `psd2 transfer` makes bank transfers. */
export function isMoneyTransfer(operation: string): boolean {
  return operation.toLowerCase() === 'moneytransfer';
}

/** Whether the bank has an execution status for the order. Only instant transfers that are executed at once have one. */
export function needsSettlement(order: Pick<TransferOrder, 'instant' | 'futureDated'>): boolean {
  return order.instant && !order.futureDated;
}
