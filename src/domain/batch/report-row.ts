import type { BankReason } from '../../errors.ts';
import type { IsoDate } from '../calendar.ts';
import type { Decimal } from '../decimal.ts';
import type { OperationState } from '../operation.ts';
import type { CreditorReference } from '../order/creditor-reference.ts';
import type { PayeeCheck } from '../order/payee-check.ts';
import type { FileIds } from './line.ts';

/** A line is `waiting` before its transfer begins. Then it has the state of its transfer; `ordered` if the bank took it for a later day. */
export type LineState = 'waiting' | OperationState;

/** What became of a line of a batch. */
export interface ReportRow {
  line: number;
  batch: string;
  reference: string | null;
  /** The local id of its transfer; null before it begins. */
  flow: string | null;
  state: LineState;
  /** The id or the IBAN of the debited account. */
  from: string | null;
  name: string;
  iban: string;
  amount: Decimal;
  currency: string;
  description: string;
  /** The payee's reference, in place of a text. */
  remittanceStructured: string | null;
  executionDate: IsoDate | null;
  /** What the bank and the payee got as reference. */
  endToEndId: string | null;
  payeeCheck: PayeeCheck | null;
  /** Why it was not paid, or why that is not known. */
  reason: string | null;
  /** The call that the bank refused, for its support: method, path and status. */
  refusedCall: string | null;
  /** What the bank says of it: the first counts. */
  bankReasons: BankReason[];
  /** ISO 8601 with zone. */
  paidAt: string | null;
  creditorReference?: CreditorReference;
  /** What the file called it. */
  ids: FileIds;
  /** It has ended, and may be paid all the same: its reference stays reserved. */
  isUncertain: boolean;
}

/** A row as programs get it. The rest is for pain.002 alone. */
export type PrintedRow = Omit<ReportRow, 'ids' | 'isUncertain' | 'creditorReference'>;

/** Rows as they come. */
export type Rows = AsyncIterable<ReportRow> | Iterable<ReportRow>;
