import { countedApprovals, shortBatchId } from '../../domain/batch/batch.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import type { PrintedRow, ReportRow } from '../../domain/batch/report-row.ts';
import { addUp } from '../../domain/batch/totals.ts';
import { OPERATION_STATES } from '../../domain/operation.ts';
import { describePayeeCheck, PAYEE_RESULTS } from '../../domain/order/payee-check.ts';
import { BATCH_STATES, neededApprovals, stateOf } from '../../flows/batch/approval.ts';
import type { KnownBatch } from '../../flows/batch/known-lines.ts';
import { controlsOf, type Profile } from '../../store/machine/settings.ts';
import type { Column } from '../../terminal/output/fields.ts';
import {
  day,
  decimal,
  list,
  object,
  oneOf,
  orNull,
  record,
  text,
  time,
  whole,
  writeMoney,
} from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import type { Printed } from '../declare.ts';
import { bankReasons } from '../flow/fields.ts';

const decision = () => ({
  by: text('name that the person gave; else the system user'),
  user: text('system user'),
  machine: text('name of the host'),
  at: time('when'),
});

const shape = object({
  batch: text('id; other commands take it, or the beginning of it'),
  note: orNull(text('what the person who added it wrote')),
  sha256: text('SHA-256 of the content in canonical form'),
  addedBy: text('who added it'),
  addedAt: time('when it was added'),
  approvals: list(object(decision()), 'who approved it'),
  approvalsNeeded: whole('how many people other than the one who added it must approve it'),
  rejection: orNull(object({ ...decision(), note: text('why') })),
  retryOf: orNull(text('the batch whose unpaid lines these are')),
  state: oneOf(BATCH_STATES, 'state of the batch'),
  lines: whole('number of payments'),
  customers: list(text(), 'customers that the file names'),
  totals: list(
    object({
      from: orNull(text('id or IBAN of the debited account; null if the file does not say')),
      currency: text('ISO 4217 code'),
      count: whole('number of payments'),
      amount: decimal('their sum, exact'),
    }),
    'one for each account',
  ),
  counts: record(whole('number of lines in this state')),
});

/** A batch, as its verbs print it. */
export const BATCH: Printed = { what: 'a batch', shape };
export const batchRows = list(shape);
export const BATCH_LIST: Printed = { what: 'batches', shape: batchRows };

const lineShape = object({
  line: whole('number of the payment in the batch, from 1'),
  batch: text('id of the batch'),
  reference: orNull(text('reference under which psd2 pays it, once')),
  flow: orNull(text('local id of its transfer; null before it begins')),
  state: oneOf(
    ['waiting', ...OPERATION_STATES],
    'waiting before its transfer begins; then that of the transfer',
  ),
  from: orNull(text('id or IBAN of the debited account')),
  name: text('name of the payee'),
  iban: text('IBAN of the payee'),
  amount: decimal('exact'),
  currency: text('ISO 4217 code'),
  description: text('remittance information'),
  remittanceStructured: orNull(text('reference of the payee, in place of a text')),
  executionDate: orNull(day('execution day; null: the day on which psd2 pays it')),
  endToEndId: orNull(text('EndToEndId of the file; else the reference')),
  payeeCheck: orNull(
    object({
      result: oneOf(PAYEE_RESULTS, 'result of the check'),
      name: orNull(text('name of the account holder, if the check gave it')),
      problem: orNull(text('why the check was not possible')),
    }),
  ),
  reason: orNull(text('why it was not paid, or why that is not known')),
  bankReasons: bankReasons,
  paidAt: orNull(time('when the bank had executed it')),
});

/** The lines of a batch, as `run`, `status` and `report` print them. */
export const lineRows = list(lineShape);
export const LINES: Printed = { what: 'the lines of a batch', shape: lineRows };

export function lineData({
  ids: _,
  isRefusalAlone: _alone,
  creditorReference: _reference,
  ...row
}: ReportRow): PrintedRow {
  return row;
}

export const LINE_COLUMNS: Column<PrintedRow>[] = [
  { title: 'LINE', value: ({ line }) => `${line}`, right: true },
  { title: 'STATE', value: ({ state }) => state, kind: 'state' },
  { title: 'AMOUNT', value: writeMoney, right: true },
  { title: 'TO', value: ({ name }) => name },
  { title: 'IBAN', value: ({ iban }) => iban, whole: true },
  { title: 'PAYEE', value: ({ payeeCheck }) => payeeCheck && describePayeeCheck(payeeCheck), dispensable: 1 },
  { title: 'FLOW', value: ({ flow }) => flow, whole: true },
  { title: 'REASON', value: ({ reason }) => reason },
  { title: 'REFERENCE', value: ({ reference }) => reference, dispensable: 2 },
  { title: 'PAYEE REFERENCE', value: ({ remittanceStructured }) => remittanceStructured, dispensable: 1 },
];

/** A batch in the shape of the command contract. */
export function batchData(profile: Profile, { batch, lines, known }: KnownBatch) {
  const rules = controlsOf(profile);
  const counts: Record<string, number> = {};
  for (const { row } of known) counts[row.state] = (counts[row.state] ?? 0) + 1;
  return {
    ...{ batch: batch.batch, note: batch.note, sha256: batch.sha256 },
    ...{ addedBy: batch.addedBy, addedAt: batch.addedAt },
    approvals: countedApprovals(batch).map(({ by, user, machine, at }) => ({ by, user, machine, at })),
    approvalsNeeded: neededApprovals(rules, batch, lines),
    rejection: batch.rejection && withoutHash(batch.rejection),
    ...{ retryOf: batch.retryOf, state: stateOf(rules, { batch, lines, known }), lines: lines.length },
    customers: [...new Set(lines.flatMap(({ customer }) => customer ?? []))],
    totals: totalsOf(lines),
    counts,
  };
}

function withoutHash<T extends { sha256: string; role: string | null }>({
  sha256: _,
  role: _role,
  ...rest
}: T) {
  return rest;
}

/** What each account pays, whatever the customer, day and product. */
function totalsOf(lines: readonly BatchLine[]) {
  const totals = addUp();
  for (const { batchBooking: _, ...line } of lines)
    totals.add({ ...line, customer: null, executionDate: null, instant: false });
  return totals.read().map(({ from, currency, count, amount }) => ({ from, currency, count, amount }));
}

type BatchData = ReturnType<typeof batchData>;

/** Prints a batch in the shape of the command contract. */
export function printBatch({ output }: Context, data: BatchData): void {
  const fields: Column<BatchData>[] = [
    { title: 'Batch', value: ({ batch }) => batch, whole: true },
    { title: 'State', value: ({ state }) => state, kind: 'state' },
    { title: 'Note', value: ({ note }) => note },
    { title: 'Payments', value: ({ lines }) => `${lines}` },
    { title: 'Total', value: ({ totals }) => totals.map(writeTotal).join('; ') },
    { title: 'Lines', value: ({ counts }) => writeCounts(counts) },
    { title: 'Added by', value: ({ addedBy }) => addedBy },
    { title: 'Added', value: ({ addedAt }) => addedAt, kind: 'time' },
    { title: 'Approvals', value: writeApprovals },
    { title: 'Rejected by', value: ({ rejection }) => rejection && `${rejection.by}: ${rejection.note}` },
    { title: 'Retry of', value: ({ retryOf }) => retryOf },
    { title: 'SHA-256', value: ({ sha256 }) => sha256, whole: true },
  ];
  output.record(data, fields, shape);
}

export const BATCH_COLUMNS: Column<BatchData>[] = [
  { title: 'BATCH', value: ({ batch }) => shortBatchId(batch), whole: true },
  { title: 'STATE', value: ({ state }) => state, kind: 'state' },
  { title: 'PAYMENTS', value: ({ lines }) => `${lines}`, right: true },
  { title: 'TOTAL', value: ({ totals }) => totals.map(writeTotal).join('; ') },
  { title: 'LINES', value: ({ counts }) => writeCounts(counts) },
  { title: 'ADDED', value: ({ addedAt }) => addedAt, kind: 'time', dispensable: 2 },
  { title: 'BY', value: ({ addedBy }) => addedBy, dispensable: 1 },
  { title: 'CUSTOMER', value: ({ customers }) => customers.join(' '), dispensable: 2 },
  { title: 'NOTE', value: ({ note }) => note, dispensable: 3 },
];

function writeTotal({ from, amount, currency }: BatchData['totals'][number]): string {
  return `${writeMoney({ amount, currency })}${from === null ? '' : ` from ${from}`}`;
}

export function writeCounts(counts: Record<string, number>): string {
  return Object.entries(counts)
    .map(([state, count]) => `${count} ${state}`)
    .join(', ');
}

function writeApprovals({ approvals, approvalsNeeded }: BatchData): string {
  const by = approvals.map((each) => each.by).join(', ');
  return `${approvals.length} of ${approvalsNeeded}${by && `: ${by}`}`;
}
