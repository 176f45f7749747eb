import type Big from 'big.js';
import { countedApprovals, shortBatchId } from '../../domain/batch/batch.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import type { PrintedRow, ReportRow } from '../../domain/batch/report-row.ts';
import { addUp } from '../../domain/batch/totals.ts';
import { OPERATION_STATES } from '../../domain/operation.ts';
import { BATCH_STATES, batchState, neededApprovals } from '../../flows/batch/approval.ts';
import type { KnownBatch } from '../../flows/batch/known-lines.ts';
import { controlsOf, type Profile } from '../../store/machine/settings.ts';
import {
  day,
  decimal,
  list,
  object,
  objectOf,
  oneOf,
  orNull,
  record,
  seen,
  text,
  time,
  whole,
  writeMoney,
} from '../../terminal/output/fields.ts';
import type { Printed } from '../declare.ts';
import { bankReasons, payeeCheckField } from '../flow/fields.ts';

const decision = () => ({
  by: text('name that the person gave; else the system user'),
  user: text('system user'),
  machine: text('name of the host'),
  at: time('when'),
});

/** A batch, as its verbs print it. */
export const BATCH_FORM = objectOf<BatchData>()(() => ({
  batch: text('id; other commands take it, or the beginning of it').as('Batch', { whole: true }),
  short: seen('Batch', ({ batch }: BatchData) => shortBatchId(batch), { whole: true }),
  note: orNull(text('what the person who added it wrote')).as('Note', { dispensable: 3 }),
  sha256: text('SHA-256 of the content in canonical form'),
  addedBy: text('who added it').as('Added by', { heading: 'BY', dispensable: 1 }),
  addedAt: time('when it was added').as('Added', { dispensable: 2 }),
  approvals: list(object(decision()), 'who approved it').as('Approvals').shown(writeApprovals),
  approvalsNeeded: whole('how many people other than the one who added it must approve it'),
  rejection: orNull(object({ ...decision(), note: text('why') }))
    .as('Rejected by')
    .written((rejection) => rejection && `${rejection.by}: ${rejection.note}`),
  retryOf: orNull(text('the batch whose unpaid lines these are')).as('Retry of'),
  state: oneOf(BATCH_STATES, 'state of the batch').as('State', { kind: 'state' }),
  lines: whole('number of payments').as('Payments'),
  customers: list(text(), 'customers that the file names').as('Customer', { dispensable: 2 }),
  totals: list(
    object({
      from: orNull(text('id or IBAN of the debited account; null if the file does not say')),
      currency: text('ISO 4217 code'),
      count: whole('number of payments'),
      amount: decimal('their sum, exact'),
    }),
    'one for each account',
  )
    .as('Total')
    .shown(({ totals }: BatchData) => totals.map(writeTotal).join('; ')),
  counts: record(whole('number of lines in this state')).as('Lines').written(writeCounts),
}))
  .inRecord('batch state note lines totals counts addedBy addedAt approvals rejection retryOf')
  .inList('short state lines totals counts addedAt addedBy customers note');

export const BATCH: Printed = { what: 'a batch', shape: BATCH_FORM };
export const BATCH_LIST: Printed = { what: 'batches', shape: list(BATCH_FORM) };

/** The lines of a batch, as `run`, `status` and `report` print them. */
export const LINE_FORM = objectOf<PrintedRow>()(() => ({
  line: whole('number of the payment in the batch, from 1').as('Line'),
  batch: text('id of the batch'),
  reference: orNull(text('reference under which psd2 pays it, once')).as('Reference', { dispensable: 2 }),
  flow: orNull(text('local id of its transfer; null before it begins')).as('Flow', { whole: true }),
  state: oneOf(
    ['waiting', ...OPERATION_STATES],
    'waiting before its transfer begins; then that of the transfer; ordered if the bank took it for a later day',
  ).as('State', { kind: 'state' }),
  from: orNull(text('id or IBAN of the debited account')),
  name: text('name of the payee').as('To'),
  iban: text('IBAN of the payee').as('IBAN', { whole: true }),
  amount: decimal('exact').as('Amount', { right: true }).shown(writeMoney),
  currency: text('ISO 4217 code'),
  description: text('remittance information'),
  remittanceStructured: orNull(text('reference of the payee, in place of a text')).as('Payee reference', {
    dispensable: 1,
  }),
  executionDate: orNull(day('execution day; null: the day on which psd2 pays it')),
  endToEndId: orNull(text('EndToEndId of the file; else the reference')),
  payeeCheck: payeeCheckField().as('Payee', { dispensable: 1 }),
  reason: orNull(text('why it was not paid, or why that is not known')).as('Reason'),
  refusedCall: orNull(text('the call that the bank refused, for its support: method, path and HTTP status')),
  bankReasons,
  paidAt: orNull(time('when the bank had executed it')),
})).inList('line state amount name iban payeeCheck flow reason reference remittanceStructured');

export const LINES: Printed = { what: 'the lines of a batch', shape: list(LINE_FORM) };

export function lineData({
  ids: _,
  isUncertain: _uncertain,
  creditorReference: _reference,
  ...row
}: ReportRow): PrintedRow {
  return row;
}

/** A batch in the shape of the command contract. */
export function batchData(profile: Profile, { batch, lines, outcomes }: KnownBatch) {
  const rules = controlsOf(profile);
  const counts: Record<string, number> = {};
  for (const { row } of outcomes) counts[row.state] = (counts[row.state] ?? 0) + 1;
  return {
    batch: batch.batch,
    note: batch.note,
    sha256: batch.sha256,
    addedBy: batch.addedBy,
    addedAt: batch.addedAt,
    approvals: countedApprovals(batch).map(({ by, user, machine, at }) => ({ by, user, machine, at })),
    approvalsNeeded: neededApprovals(rules, batch, lines),
    rejection: batch.rejection && withoutHash(batch.rejection),
    retryOf: batch.retryOf,
    state: batchState(rules, { batch, lines, outcomes }),
    lines: lines.length,
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

function writeTotal({ from, amount, currency }: BatchData['totals'][number]): string {
  return `${writeMoney({ amount, currency })}${from === null ? '' : ` from ${from}`}`;
}

/** What payments come to: `12.50 EUR`. */
export function writeSums(sums: ReadonlyMap<string, Big>): string {
  return [...sums].map(([currency, sum]) => `${sum.toFixed(2)} ${currency}`).join(', ');
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
