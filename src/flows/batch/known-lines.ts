import { type Batch, referenceOfLine } from '../../domain/batch/batch.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import type { LineState, ReportRow } from '../../domain/batch/report-row.ts';
import { isAccepted, isOver, isUndecided, standingOf } from '../../domain/flow-states.ts';
import { whyKept } from '../../domain/kept.ts';
import { describePayeeCheck, type PayeeCheck } from '../../domain/order/payee-check.ts';
import { refusedCallIn, withoutCall } from '../../domain/refused-call.ts';
import { isForLater, needsSettlement, type Transfer } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import type { Batches } from '../../store/ports/batches.ts';
import type { Flows } from '../../store/ports/flows.ts';
import type { Going } from './way.ts';

/**
 * What became of a line, for exit codes and counts: `kept`, because it has ended and may be paid all the same; `paid`; `accepted` by the bank, which may still reject it; `ordered` for a later day, at a bank that does not say afterwards that it has paid; `not paid`, for sure; `refused`, which is the bank's word for one
 * delivery, so its reference stays taken; `unknown`; `awaited`, because its customer has not decided; `unfinished`, because psd2 has
 * not come to its end.
 */
export type LineOutcome =
  | 'paid'
  | 'kept'
  | 'accepted'
  | 'ordered'
  | 'not paid'
  | 'refused'
  | 'unknown'
  | 'awaited'
  | 'unfinished';

/** Whether nothing more becomes of a line by itself, unless the bank takes back what it has accepted. */
export function hasLineEnded(outcome: LineOutcome): boolean {
  return ['paid', 'accepted', 'ordered', 'not paid', 'refused', 'kept'].includes(outcome);
}

/** The reference under which a line is paid. */
export function referenceOf(batch: Batch, { line, reference }: BatchLine): string {
  return reference ?? referenceOfLine(batch, line);
}

/** The kept result of the payee check of a line; null if there was none. */
export function keptCheck({ payees }: Batch, { line }: BatchLine): PayeeCheck | null {
  const check = payees.find((each) => each.line === line);
  return check ? { result: check.result, name: check.name, problem: check.problem } : null;
}

/** What became of a line. @param transfer the last one that was to pay it */
export function lineOutcome(batch: Batch, { line }: BatchLine, transfer: Transfer | undefined): LineOutcome {
  if (!transfer || isBeforeAll(transfer))
    return batch.cancelled.has(line) || batch.refused.has(line) ? 'not paid' : 'unfinished';
  switch (standingOf(transfer)) {
    case 'done':
      if (transfer.state === 'executed' && needsSettlement(transfer.order)) return 'unknown';
      if (isAccepted(transfer)) return 'accepted';
      return isForLater(transfer) ? 'ordered' : 'paid';
    case 'refused':
      return 'not paid';
    case 'kept':
      return 'kept';
    case 'sent':
      if (transfer.state === 'failed') return 'refused';
      // What goes with others is open only once the bank has what they go with.
      if (transfer.state === 'verified' && transfer.bulk !== null) return 'unknown';
      return isUndecided(transfer) ? 'awaited' : 'unknown';
    case 'open':
      return isUndecided(transfer) ? 'awaited' : 'unfinished';
  }
}

/** Whether a transfer ended before anything of it was sent. Another one may pay its line. */
export function isBeforeAll({ state, reached }: Transfer): boolean {
  return state === 'cancelled' && !reached;
}

/** Whether a run can still do something for a transfer. */
export function canGoOn(transfer: Transfer): boolean {
  if (isBeforeAll(transfer) || standingOf(transfer) === 'sent') return true;
  if (transfer.state !== 'executed' && transfer.state !== 'ordered') return !isOver(transfer);
  return isAccepted(transfer) || needsSettlement(transfer.order);
}

/** The lines that go with an operation and have a transfer. */
export function linesOfGroup({ bulks, flows }: Batch, group: string): Going[] {
  return [...new Set(bulks.get(group))].flatMap((line) => {
    const flow = flows.get(line);
    return flow === undefined ? [] : [{ line: { line }, flow, checked: null }];
  });
}

/** Says whose login gave the tokens for calls about a transfer: that of its signing basket, if it goes with one. */
export async function withLogin(
  flows: Pick<Flows, 'find'>,
  transfer: Transfer,
): Promise<Transfer & { authorisedBy?: string }> {
  if (transfer.bulk === null) return transfer;
  const { transactionId } = await flows.find('operation', transfer.bulk);
  return { ...transfer, authorisedBy: transactionId };
}

/** A line with its transfer, if it has one. */
export interface KnownLine {
  line: BatchLine;
  transfer: Transfer | undefined;
  row: ReportRow;
  outcome: LineOutcome;
}

/** The lines of a batch with their transfers as they are now. */
export async function readLines(
  flows: Flows,
  batch: Batch,
  lines: readonly BatchLine[],
): Promise<KnownLine[]> {
  const outcomes: KnownLine[] = [];
  for (const line of lines) outcomes.push(await readLine(flows, batch, line));
  return outcomes;
}

/** A line with its transfer as it is now. If the transfer cannot be read, nobody knows whether the line is paid. */
export async function readLine(flows: Flows, batch: Batch, line: BatchLine): Promise<KnownLine> {
  const flow = batch.flows.get(line.line);
  try {
    const transfer = flow === undefined ? undefined : await flows.find('transfer', flow);
    return {
      line,
      transfer,
      row: reportRow(batch, line, transfer),
      outcome: lineOutcome(batch, line, transfer),
    };
  } catch (error) {
    if (!(error instanceof Psd2Error) || error.code === 'interrupted') throw error;
    const row = { ...reportRow(batch, line, undefined), flow: flow ?? null, reason: error.message };
    return { line, transfer: undefined, row: { ...row, state: 'unknown' }, outcome: 'unknown' };
  }
}

function reportRow(batch: Batch, line: BatchLine, transfer: Transfer | undefined): ReportRow {
  const own = transfer && !isBeforeAll(transfer) ? transfer : undefined;
  const check = own?.payeeCheck ?? keptCheck(batch, line);
  const reference = referenceOf(batch, line);
  const reason = lineReason(batch, line, own, check);
  return {
    line: line.line,
    batch: batch.batch,
    reference,
    flow: own?.flow ?? null,
    state: lineState(batch, line, own),
    from: line.fromIban ?? line.from ?? own?.debtor ?? null,
    name: line.name,
    iban: line.iban,
    amount: line.amount,
    currency: line.currency,
    description: line.description,
    remittanceStructured: line.creditorReference?.reference ?? null,
    executionDate: own?.order.executionDate ?? line.executionDate,
    endToEndId: line.ids.endToEndId ?? reference,
    payeeCheck: check,
    reason: reason && withoutCall(reason),
    refusedCall: reason && refusedCallIn(reason),
    bankReasons: own && standingOf(own) !== 'done' ? [...own.reasons] : [],
    paidAt: own && lineOutcome(batch, line, own) === 'paid' ? own.updatedAt : null,
    ids: line.ids,
    ...(line.creditorReference && { creditorReference: line.creditorReference }),
    isUncertain: own !== undefined && (own.refusedUnconfirmed || standingOf(own) === 'kept'),
  };
}

function lineState(batch: Batch, { line }: BatchLine, transfer: Transfer | undefined): LineState {
  if (transfer) return isForLater(transfer) ? 'ordered' : transfer.state;
  if (batch.refused.has(line)) return 'failed';
  return batch.cancelled.has(line) ? 'cancelled' : 'waiting';
}

function lineReason(
  batch: Batch,
  { line }: BatchLine,
  transfer: Transfer | undefined,
  check: PayeeCheck | null,
): string | null {
  const refusal = batch.refused.get(line) ?? null;
  if (!transfer || (transfer.state === 'cancelled' && refusal !== null)) return refusal;
  // The bank may have refused a payment by one answer, and executed it after all.
  if (isAccepted(transfer)) return 'The bank has accepted it, and has not said that it is final';
  if (isForLater(transfer)) return `The bank has accepted it for ${transfer.order.executionDate}`;
  if (standingOf(transfer) === 'done') return null;
  const linkReason = whyKept(transfer, 'payment');
  if (linkReason !== null) return linkReason;
  if (transfer.executionStatusDescription !== null) return transfer.executionStatusDescription;
  if (transfer.state === 'cancelled' && check && check.result !== 'match') return describePayeeCheck(check);
  if (transfer.state === 'unknown')
    return transfer.bulk === null || transfer.initiation !== null
      ? 'The bank has not said whether it was paid'
      : 'The bank has not said what became of this payment of a bulk payment';
  return whyUnauthorised(transfer);
}

/** Why a payment is not paid that its customer has not authorised. Where they commit, the bank's word is one for the payment. */
function whyUnauthorised({ state, commits, authorizationStatus }: Transfer): string | null {
  if (state !== 'rejected' && state !== 'expired') return null;
  if (commits === 'on execute') return authorizationStatus;
  return state === 'rejected'
    ? 'The customer did not authorise it'
    : 'The customer did not authorise it in time';
}

/** A batch with all that psd2 knows of it. */
export interface KnownBatch {
  batch: Batch;
  lines: BatchLine[];
  outcomes: KnownLine[];
}

/** Reads a batch with its lines and transfers. @throws Psd2Error `usage` if there is none, `config` if it was changed */
export async function readBatch(
  { batches, flows }: { batches: Batches; flows: Flows },
  reference: string,
): Promise<KnownBatch> {
  const batch = await batches.find(reference);
  const lines = await batches.lines(batch);
  return { batch, lines, outcomes: await readLines(flows, batch, lines) };
}
