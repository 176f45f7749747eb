import type { Batch } from '../../domain/batch/batch.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import type { LineState, ReportRow } from '../../domain/batch/report-row.ts';
import { isAccepted, standingOf } from '../../domain/flow-states.ts';
import { describePayeeCheck, type PayeeCheck } from '../../domain/order/payee-check.ts';
import type { Transfer } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import type { Batches } from '../../store/ports/batches.ts';
import type { Flows } from '../../store/ports/flows.ts';
import { isBeforeAll, keptCheck, type LineOutcome, outcomeOf, referenceOf } from './outcome.ts';

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
  const known: KnownLine[] = [];
  for (const line of lines) known.push(await readLine(flows, batch, line));
  return known;
}

/** A line with its transfer as it is now. If the transfer cannot be read, nobody knows whether the line is paid. */
export async function readLine(flows: Flows, batch: Batch, line: BatchLine): Promise<KnownLine> {
  const flow = batch.flows.get(line.line);
  try {
    const transfer = flow === undefined ? undefined : await flows.find('transfer', flow);
    return { line, transfer, row: rowOf(batch, line, transfer), outcome: outcomeOf(batch, line, transfer) };
  } catch (error) {
    if (!(error instanceof Psd2Error) || error.code === 'interrupted') throw error;
    const row = { ...rowOf(batch, line, undefined), flow: flow ?? null, reason: error.message };
    return { line, transfer: undefined, row: { ...row, state: 'unknown' }, outcome: 'unknown' };
  }
}

function rowOf(batch: Batch, line: BatchLine, transfer: Transfer | undefined): ReportRow {
  const own = transfer && !isBeforeAll(transfer) ? transfer : undefined;
  const check = own?.payeeCheck ?? keptCheck(batch, line);
  const reference = referenceOf(batch, line);
  return {
    ...{ line: line.line, batch: batch.batch, reference },
    ...{ flow: own?.flow ?? null, state: stateOf(batch, line, own) },
    from: line.fromIban ?? line.from ?? own?.debtor ?? null,
    ...{ name: line.name, iban: line.iban, amount: line.amount, currency: line.currency },
    description: line.description,
    remittanceStructured: line.creditorReference?.reference ?? null,
    executionDate: own?.order.executionDate ?? line.executionDate,
    endToEndId: line.ids.endToEndId ?? reference,
    payeeCheck: check,
    reason: reasonOf(batch, line, own, check),
    bankReasons: own && standingOf(own) !== 'done' ? [...own.reasons] : [],
    paidAt: own && outcomeOf(batch, line, own) === 'paid' ? own.updatedAt : null,
    ids: line.ids,
    ...(line.creditorReference && { creditorReference: line.creditorReference }),
    isRefusalAlone: own?.refusedUnconfirmed ?? false,
  };
}

function stateOf(batch: Batch, { line }: BatchLine, transfer: Transfer | undefined): LineState {
  if (transfer) return transfer.state;
  if (batch.refused.has(line)) return 'failed';
  return batch.cancelled.has(line) ? 'cancelled' : 'waiting';
}

function reasonOf(
  batch: Batch,
  { line }: BatchLine,
  transfer: Transfer | undefined,
  check: PayeeCheck | null,
): string | null {
  const refusal = batch.refused.get(line) ?? null;
  if (!transfer || (transfer.state === 'cancelled' && refusal !== null)) return refusal;
  // The bank may have refused a payment by one answer, and executed it after all.
  if (isAccepted(transfer)) return 'The bank has accepted it, and has not said that it is final';
  if (standingOf(transfer) === 'done') return null;
  if (transfer.executionStatusDescription !== null) return transfer.executionStatusDescription;
  if (transfer.state === 'cancelled' && check && check.result !== 'match') return describePayeeCheck(check);
  if (transfer.state === 'unknown')
    return transfer.bulk === null || transfer.initiation !== null
      ? 'The bank has not said whether it was paid'
      : 'The bank has not said what became of this payment of a bulk payment';
  const isRefused = transfer.state === 'rejected' || transfer.state === 'expired';
  return isRefused ? transfer.authorizationStatus : null;
}

/** A batch with all that psd2 knows of it. */
export interface KnownBatch {
  batch: Batch;
  lines: BatchLine[];
  known: KnownLine[];
}

/** Reads a batch with its lines and transfers. @throws Psd2Error `usage` if there is none, `config` if it was changed */
export async function readBatch(
  { batches, flows }: { batches: Batches; flows: Flows },
  reference: string,
): Promise<KnownBatch> {
  const batch = await batches.find(reference);
  const lines = await batches.lines(batch);
  return { batch, lines, known: await readLines(flows, batch, lines) };
}
