import { because } from '../../../../domain/bank-reason.ts';
import type { Cost } from '../../../../domain/operation.ts';
import type { ResourceStatus } from '../../../../domain/payment-answers.ts';
import { needsSettlement, type TransferOrder } from '../../../../domain/transfer.ts';
import type { BankReason } from '../../../../errors.ts';
import type { EntryState } from '../../../ports/bulk.ts';
import type { ExecutionStatus } from '../../../ports/payment-calls.ts';
import { speaksOfDuplicate } from '../judge/duplicate.ts';

// What the transaction statuses mean (NextGenPSD2 1.3, "transactionStatus"; ISO 20022). One that is in none of these lists is
// shown as it is, and decides nothing.

/** The bank has it, and nobody has authorised it. */
const UNAUTHORISED: readonly string[] = ['RCVD', 'PDNG'];
/** Somebody has authorised it, and not everybody who must: a failed authorisation ends nothing. */
const PARTLY_AUTHORISED = 'PATC';
/** The bank has checked it. It is not accepted for execution yet. */
const CHECKED: readonly string[] = ['ACTC', 'ACCP', 'ACFC'];
/** Accepted for execution, or executed. */
const ACCEPTED: readonly string[] = ['ACSP', 'ACSC', 'ACCC', 'ACWC', 'ACWP'];
/** Rejected or cancelled. */
const ENDED: readonly string[] = ['RJCT', 'CANC'];
/** The bank keeps it, and has not settled it: a failed authorisation ends nothing. */
const STANDING: readonly string[] = [PARTLY_AUTHORISED, ...CHECKED, 'ACSP', 'ACWC', 'ACWP'];
/** Of a bulk payment: everybody has authorised it, and the bank has rejected some of its entries. */
const PART = 'PART';

/** What a bank says of a payment: its transaction status, and why it has rejected it. */
export interface PaymentSaid {
  status: string;
  /** What it says to psd2 and to the customer beside it. */
  messages?: string[];
  reasons?: BankReason[];
  cost?: Cost | null;
  /** When it said so, by its own clock. */
  saidAt?: string;
}

/** Whether nothing is left to authorise. */
export function isPastAuthorisation(status: string): boolean {
  return ACCEPTED.includes(status) || [PART, ...ENDED].includes(status);
}

/**
 * What a status means for a payment, or for a bulk of them. One that is not instant is ordered as soon as the bank has checked it, unless
 * the customer still authorises it.
 *
 * @param final the statuses that the bank does not change any more, by its file
 */
export function resourceStatus(
  { status, reasons = [], messages = [], cost = null, saidAt }: PaymentSaid,
  { instant, futureDated, isBulk }: Pick<TransferOrder, 'instant' | 'futureDated'> & { isBulk?: boolean },
  final: readonly string[],
): ResourceStatus {
  const isChecked = CHECKED.includes(status);
  const isPart = isBulk === true && status === PART;
  const isAuthorized = isChecked || isPart || ACCEPTED.includes(status);
  const isUnauthorised = UNAUTHORISED.includes(status);
  return {
    authorizationStatus: status,
    executionStatus: null,
    authorization: {
      type: 'authorization',
      status: isAuthorized ? 'AUTHORIZED' : 'PENDING',
      bankStatus: status,
    },
    became: isPart
      ? 'executed'
      : isChecked && !needsSettlement({ instant, futureDated })
        ? 'ordered'
        : becameOf({ status, reasons }),
    ...(ENDED.includes(status) && reasons.length > 0 && { reasons }),
    ...(messages.length > 0 && { messages }),
    ...((isPart || final.includes(status)) && { isFinal: true }),
    ...((isUnauthorised || status === PARTLY_AUTHORISED) && { awaitsSca: true }),
    ...(isUnauthorised && { isUnauthorised: true }),
    ...(status === PARTLY_AUTHORISED && { isPartly: true }),
    ...(STANDING.includes(status) && !final.includes(status) && { isStanding: true }),
    ...(cost && { cost }),
    ...(saidAt !== undefined && { saidAt }),
  };
}

function becameOf(bankStatus: PaymentSaid): ResourceStatus['became'] {
  const { status } = bankStatus;
  if (isDuplicate(bankStatus)) return 'duplicate';
  if (ACCEPTED.includes(status)) return 'executed';
  if (status === 'CANC') return 'cancelled';
  return status === 'RJCT' ? 'failed' : null;
}

/** Whether the bank has rejected a payment because it has another one like it. */
export function isDuplicate({ status, reasons = [] }: PaymentSaid): boolean {
  return status === 'RJCT' && speaksOfDuplicate(reasons);
}

/** What became of an entry of a bulk payment. */
export function entryState(bankStatus: PaymentSaid, final: readonly string[]): EntryState {
  const { status, reasons = [] } = bankStatus;
  return {
    transactionStatus: status,
    means: meaningOfEntry(bankStatus),
    ...(final.includes(status) && { isFinal: true }),
    ...(reasons.length > 0 && { reasons }),
  };
}

function meaningOfEntry(bankStatus: PaymentSaid): EntryState['means'] {
  if (isDuplicate(bankStatus)) return 'duplicate';
  if (ACCEPTED.includes(bankStatus.status)) return 'paid';
  return ENDED.includes(bankStatus.status) ? 'refused' : 'open';
}

/** Whether an instant transfer is settled. @param final the statuses that say so, by the bank file */
export function settlementOf(
  { status, reasons = [], messages = [] }: PaymentSaid,
  final: readonly string[],
  isBulk = false,
): ExecutionStatus {
  const isEnded = ENDED.includes(status);
  const { description = null, ...why } = because(isEnded ? reasons : []);
  return {
    executionStatus: status,
    executionStatusDescription: description,
    ...why,
    ...(isDuplicate({ status, reasons }) && { isDuplicate: true }),
    ...(messages.length > 0 && { messages }),
    status: final.includes(status) || (isBulk && status === PART) ? 'OK' : isEnded ? 'KO' : 'PENDING',
  };
}
