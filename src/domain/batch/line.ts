import type { IsoDate } from '../calendar.ts';
import type { Decimal } from '../decimal.ts';
import type { AccountId } from '../identifiers.ts';
import type { CreditorReference } from '../order/creditor-reference.ts';
import type { Iban } from '../order/iban.ts';

/** The formats of a file with payments: CSV, and the ISO 20022 messages by their names. Those with 002 and 003 are German. */
export const BATCH_FORMATS = [
  'csv',
  'pain.001.001.03',
  'pain.001.001.09',
  'pain.001.001.10',
  'pain.001.001.11',
  'pain.001.001.12',
  'pain.001.002.03',
  'pain.001.003.03',
] as const;
export type BatchFormat = (typeof BATCH_FORMATS)[number];

/** A payment of a batch, as its file says it: checked alone, by the rules of a transfer. */
export interface BatchLine {
  /** Its number in the batch, from 1, in the order of the file. */
  line: number;
  /** Where it is in the file: `line 7` in CSV, `/Document/CstmrCdtTrfInitn/PmtInf[1]/CdtTrfTxInf[7]` in XML. */
  place: string;
  /** The customer who pays. Null: the file does not say. */
  customer: string | null;
  /** The account to debit, by its id. Null: the file has no id of it. */
  from: AccountId | null;
  /** The account to debit, by its IBAN: pain.001 has nothing else. Null: the file has no IBAN of it. */
  fromIban: Iban | null;
  /** The payee's name. */
  name: string;
  /** The payee's IBAN. */
  iban: Iban;
  amount: Decimal;
  currency: string;
  /** The remittance information. Empty: none. */
  description: string;
  /** The payee's reference in place of a text. Absent: none. */
  creditorReference?: CreditorReference;
  /** The operator's own reference. In pain.001 the `EndToEndId`. Null: none. */
  reference: string | null;
  /** The day on which the bank executes the payment. Null: the day on which psd2 pays it. */
  executionDate: IsoDate | null;
  instant: boolean;
  urgent: boolean;
  /** In a bulk payment, whether the bank shall book the sum (`BtchBookg`), or each payment. Absent: nobody said it. */
  batchBooking?: boolean;
  /** The operator has verified the payee by other means. */
  payeeVerified: boolean;
  /** The payee's postal address. Null: none. */
  address: PayeeAddress | null;
  /** What the file calls this payment, for the report to whoever made the file. */
  ids: FileIds;
}

/** The ids of a payment in its pain.001. All null in CSV. They may differ in two files with the same payments. */
export interface FileIds {
  /** `PmtInfId` */
  paymentInformationId: string | null;
  /** `InstrId` */
  instructionId: string | null;
  /** `EndToEndId`, also if it is `NOTPROVIDED`. */
  endToEndId: string | null;
}

/** A postal address. SEPA needs the town and the country (since 15 November 2026). */
export interface PayeeAddress {
  /** ISO 3166, two letters. */
  country: string;
  townName: string;
  postCode: string | null;
  streetName: string | null;
  buildingNumber: string | null;
  /** Up to two lines that are not structured. */
  lines: readonly string[];
}

/** What a file says about itself. */
export interface BatchSource {
  format: BatchFormat;
  /** `MsgId` of pain.001. Null in CSV. */
  messageId: string | null;
  /** `NbOfTxs` and `CtrlSum` of the group header, if the file has them. psd2 has compared them with the lines. */
  count: number | null;
  sum: Decimal | null;
}
