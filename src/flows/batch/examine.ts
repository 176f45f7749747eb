import Big from 'big.js';
import type { BankInterface } from '../../bank/ports/bank.ts';
import type { BulkTerms } from '../../bank/ports/bulk.ts';
import type { Finding, GroupPlaces, Place } from '../../batch-file/finding.ts';
import type { Batch } from '../../domain/batch/batch.ts';
import { contentHash, orderedHash } from '../../domain/batch/content.ts';
import type { BatchLine, BatchSource } from '../../domain/batch/line.ts';
import type { BatchProblem, PaymentProblem } from '../../domain/batch/read-line.ts';
import { addUp, type BatchTotal } from '../../domain/batch/totals.ts';
import type { IsoDate } from '../../domain/calendar.ts';
import type { Decimal } from '../../domain/decimal.ts';
import type { PayeeResult } from '../../domain/order/payee-check.ts';
import { takesNoDebtor } from '../../domain/order/terms.ts';
import { Psd2Error } from '../../errors.ts';
import { AddedMeanwhile, contentIsStored, orderedHashOf } from '../../store/batch/refusals.ts';
import type { Batches, NewBatch } from '../../store/ports/batches.ts';
import type { Flows } from '../../store/ports/flows.ts';
import type { EarlierPayments } from './earlier-payments.ts';
import { plannedOf } from './order.ts';
import { WANTS_BOOKING } from './pay-share.ts';
import type { PayeeChecks } from './payees.ts';

/** More problems than a person reads. The rest is counted. */
const MAX_PROBLEMS = 10_000;

/** What psd2 found out about a file. */
export interface Examined {
  source: BatchSource | null;
  /** SHA-256 of the content; null if something is wrong with it. */
  sha256: string | null;
  /** The batch that orders the same, if it was or can be paid. Without `again` that is an error. */
  sameContent: string | undefined;
  /** The ids of the batches that the file was compared with. */
  compared: ReadonlySet<string>;
  /** How many payments are right. */
  lines: number;
  totals: BatchTotal[];
  /** At most {@link MAX_PROBLEMS}, in the order of the file. */
  problems: BatchProblem[];
  errors: number;
  warnings: number;
  /** The results of the payee check; null if it did not run. */
  payees: Record<PayeeResult, number> | null;
}

/** What the lines of a file are compared with. Without a profile, nothing of it is known. */
export interface Yardstick {
  bank: BankInterface;
  /** The day at the bank. */
  today: IsoDate;
  /** A transfer of a line would ask a program about its payee. */
  checksPayees: boolean;
  /** The most that one payment may be. Null: the profile names no limit. */
  limit: Decimal | null | undefined;
  earlier: EarlierPayments | undefined;
  accounts: KnownAccounts | undefined;
}

/** How the lines of a file are read. */
export interface Examination {
  /** The operator means to pay once more what was paid before. */
  again: boolean;
  /** Adds to a line what its file does not say. */
  complete: (line: BatchLine) => BatchLine;
  /** Gets each line. */
  keep: (line: BatchLine) => void;
}

/**
 * Checks the payments of a file, and compares them with what the profile knows. It asks no bank.
 *
 * @param payees the payee checks, if they shall run for all lines
 */
export async function examine(
  findings: AsyncIterable<Finding>,
  yardstick: Yardstick,
  payees: PayeeChecks | null,
  { again, complete, keep }: Examination,
): Promise<Examined> {
  const { earlier } = yardstick;
  const hash = contentHash();
  const ordered = orderedHash();
  const repeated: BatchProblem[] = [];
  const totals = addUp();
  const problems = collectProblems();
  const fileLines = new Map<number, number>();
  let source: BatchSource | null = null;
  let lines = 0;
  let isReadable = true;
  for await (const finding of findings) {
    if (finding.type === 'source') source = finding.source;
    else if (finding.type === 'problem') {
      problems.add(finding.problem);
      isReadable &&= finding.problem.severity === 'warning';
    } else {
      const line = complete(finding.line);
      const { fileLine } = finding;
      keep(line);
      lines += 1;
      hash.add(line);
      ordered.add(line);
      totals.add(line);
      // A reference of its own that is taken says more.
      const isNew = !again && earlier?.withReference(line) === undefined;
      const other = isNew ? earlier?.sameLine(line) : undefined;
      for (const problem of problemsOf(line, yardstick, other !== undefined))
        problems.add({ ...problem, fileLine });
      for (const problem of commonProblems(line, yardstick, finding)) problems.addOnce(problem);
      if (other) repeated.push({ ...repeatOf(line, other), fileLine });
      if (payees) fileLines.set(line.line, fileLine);
      await payees?.add(line);
    }
  }
  const checked = (await payees?.end()) ?? null;
  for (const problem of checked?.problems ?? [])
    problems.add({ ...problem, fileLine: fileLines.get(problem.line ?? 0) ?? null });
  const isCompared = !again && isReadable && lines > 0;
  const sameContent = isCompared ? earlier?.sameContent(ordered.digest()) : undefined;
  // That the file is stored says more than that each of its lines is.
  for (const problem of sameContent === undefined ? repeated : [contentProblem(sameContent)])
    problems.add(problem);
  const collected = problems.read();
  return {
    source,
    lines,
    totals: totals.read(),
    ...collected,
    sameContent,
    compared: earlier?.batches ?? new Set(),
    sha256: collected.errors === 0 ? hash.digest() : null,
    payees: checked?.counts ?? null,
  };
}

/**
 * Compares lines with what other operators have stored since the file was checked.
 *
 * @returns the ids of all batches that it was compared with
 * @throws Psd2Error `usage` if a batch has them, or one of them
 */
function refuseRepeats(earlier: EarlierPayments, lines: readonly BatchLine[]): ReadonlySet<string> {
  const same = earlier.sameContent(orderedHashOf(lines));
  if (same !== undefined) throw contentIsStored(same);
  for (const line of lines) {
    const other = earlier.sameLine(line);
    if (other)
      throw new Psd2Error('usage', repeatOf(line, other).message, { hint: 'psd2 has stored nothing.' });
  }
  return earlier.batches;
}

const UNCHECKED_PAYEE =
  'An instant payment needs a verified payee: set PSD2_PAYEE_CHECK, or give payee-verified';

function warningAt({ line, place }: BatchLine, message: string): PaymentProblem {
  return { severity: 'warning', line, place, message };
}

type LineFinding = Extract<Finding, { type: 'line' }>;

/** What is wrong with how the bank shall book the payments. */
function bookingProblem(line: BatchLine, bulk: BulkTerms | undefined): PaymentProblem | null {
  const { batchBooking, urgent } = line;
  const rule = !urgent && bulk?.takes(line) ? bulk.batchBooking : null;
  if (rule === 'required' && batchBooking === undefined)
    return { ...warningAt(line, `${WANTS_BOOKING}: add --batch-booking yes or no`), severity: 'error' };
  // Where each payment is one of its own, nothing else than each can be booked.
  const isUnheard = rule === 'never' ? batchBooking !== undefined : rule === null && batchBooking === true;
  return isUnheard
    ? warningAt(line, 'This bank decides itself whether it books one sum or each payment')
    : null;
}

/** Only pain.001 has addresses. */
function withoutAddress(line: BatchLine): PaymentProblem {
  return { ...warningAt(line, "psd2 pays without the payee's address"), place: `${line.place}/Cdtr/PstlAdr` };
}

/** A line that is paid once already, or can be. */
function repeatOf(line: BatchLine, other: { batch: string; line: number }): PaymentProblem {
  const message = `Payment ${other.line} of the batch ${other.batch} pays the same payee the same amount for the same text. If you mean to pay it once more, add --again`;
  return { ...warningAt(line, message), severity: 'error' };
}

function contentProblem(batch: string): BatchProblem {
  const message = `${contentIsStored(batch).message}. If you mean to pay all of it once more, add --again`;
  return { severity: 'error', line: null, place: '', fileLine: null, message };
}

/**
 * What is wrong with a line, if it can be read.
 *
 * @param isRepeated a batch has the same line, which is a problem of its own
 */
function* problemsOf(line: BatchLine, yardstick: Yardstick, isRepeated: boolean): Generator<PaymentProblem> {
  const { bank, earlier, limit } = yardstick;
  yield* problemsWith(line, limit, earlier, isRepeated);
  const refusal = refusalOfLine(line, yardstick);
  if (refusal && factOf(line, refusal, yardstick) === null)
    yield { ...warningAt(line, refusal.message), severity: 'error' };
  if (line.address && !bank.has.has('addresses of payees')) yield withoutAddress(line);
  if (line.instant && !line.payeeVerified && !yardstick.checksPayees) yield warningAt(line, UNCHECKED_PAYEE);
}

/** What a group of payments has, in its file or by an option: the bank's rules for it are those of the group. */
type Fact = keyof GroupPlaces;

/** A rule for a fact, which a payment breaks. */
interface BrokenRule {
  fact: Fact;
  message: string;
}

/** What is wrong with what a line has in common with others. */
function* commonProblems(
  line: BatchLine,
  yardstick: Yardstick,
  finding: LineFinding,
): Generator<BatchProblem> {
  for (const rule of brokenRules(line, yardstick)) yield ruleProblem(rule, line, finding);
  const booking = bookingProblem(line, yardstick.bank.bulk);
  if (booking) yield { ...booking, fileLine: finding.fileLine };
}

/** The rules of the bank and the customer for what a payment has in common with others. */
function* brokenRules(line: BatchLine, yardstick: Yardstick): Generator<BrokenRule> {
  const { bank, accounts } = yardstick;
  const refusal = refusalOfLine(line, yardstick);
  const fact = refusal && factOf(line, refusal, yardstick);
  if (refusal && fact) yield { fact, message: refusal.message };
  const isNamed = line.from !== null || line.fromIban !== null;
  if (bank.debtorAccount === 'never' && isNamed) yield { fact: 'debited', message: takesNoDebtor().message };
  const problem = accounts?.problemWith(line);
  if (problem !== undefined) yield { fact: 'debited', message: problem };
}

/** Why the bank does not take a payment; undefined if it does. */
function refusalOfLine(
  line: BatchLine,
  { bank: { refusePayment }, today }: Yardstick,
): Psd2Error | undefined {
  return refusePayment && errorOf(() => refusePayment(plannedOf(line), today));
}

/** What a refusal is about, if it is nothing of this payment alone. */
function factOf(line: BatchLine, { code, message }: Psd2Error, yardstick: Yardstick): Fact | null {
  if (code === 'invalid_date') return 'executionDate';
  const isUrgency = line.urgent && refusalOfLine({ ...line, urgent: false }, yardstick)?.message !== message;
  return isUrgency ? 'type' : null;
}

/** A broken rule at the place that says the fact: that of the group, or none if an option says it. */
function ruleProblem(
  { fact, message }: BrokenRule,
  line: BatchLine,
  { line: written, fileLine, group }: LineFinding,
): BatchProblem {
  const error = {
    severity: 'error',
    message: `${message}${fact === 'executionDate' ? atOnce(group) : ''}`,
  } as const;
  const isOption = {
    debited: written.from === null && written.fromIban === null,
    executionDate: written.executionDate === null,
    type: false,
  };
  const shared: Place | null = isOption[fact] ? { place: '', fileLine: null } : (group?.[fact] ?? null);
  return shared
    ? { ...error, line: null, ...shared }
    : { ...error, line: line.line, place: line.place, fileLine };
}

/** How a file says that it wants no day. */
function atOnce(group: GroupPlaces | undefined): string {
  return group
    ? '. The day 1999-01-01 means as soon as possible'
    : '. Without a date, psd2 pays as soon as possible';
}

/** What is wrong with a line because of the profile and its earlier transfers. */
function* problemsWith(
  line: BatchLine,
  limit: Decimal | null | undefined,
  earlier: EarlierPayments | undefined,
  isRepeated: boolean,
): Generator<PaymentProblem> {
  const { amount, currency, reference } = line;
  if (limit && new Big(amount).gt(limit))
    yield {
      ...warningAt(
        line,
        `The amount ${amount} ${currency} is more than the ${limit} ${currency} that the profile allows`,
      ),
      severity: 'error',
    };
  const flow = earlier?.withReference(line);
  if (flow !== undefined)
    yield {
      ...warningAt(
        line,
        `The transfer ${flow} already has the reference ${JSON.stringify(reference)}, and psd2 pays a reference once. If you mean another payment, give it another reference`,
      ),
      severity: 'error',
    };
  const same = isRepeated ? undefined : earlier?.same(line);
  if (same !== undefined && same !== flow)
    yield warningAt(line, `The transfer ${same} of the last 30 days paid the same amount to the same payee`);
}

function errorOf(work: () => void): Psd2Error | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof Psd2Error) return error;
    throw error;
  }
}

/** Counts problems, and keeps the first of them. */
function collectProblems() {
  const firstProblems: BatchProblem[] = [];
  const counts = { error: 0, warning: 0 };
  /** How many payments have what is said once. */
  const shared = new Map<string, { problem: BatchProblem; payments: number }>();
  const add = (problem: BatchProblem) => {
    counts[problem.severity] += 1;
    if (firstProblems.length < MAX_PROBLEMS) firstProblems.push(problem);
  };
  return {
    add,
    /** Of what is the same for many payments, the first one counts, or the place that they share. */
    addOnce(problem: BatchProblem) {
      const key = problem.line === null ? `${problem.place} ${problem.message}` : problem.message;
      const first = shared.get(key);
      if (first) first.payments += 1;
      else {
        shared.set(key, { problem, payments: 1 });
        add(problem);
      }
    },
    /** Payee checks end in any order. What is about no line of the file comes first. */
    read() {
      const more = new Map([...shared.values()].map(({ problem, payments }) => [problem, payments - 1]));
      const sorted = firstProblems
        .map((problem) => withOthers(problem, more.get(problem) ?? 0))
        .toSorted((one, other) => (one.fileLine ?? 0) - (other.fileLine ?? 0));
      return { errors: counts.error, warnings: counts.warning, problems: sorted };
    },
  };
}

/** A problem of one payment, with how many other payments have it too. That of a group says it by its place. */
function withOthers(problem: BatchProblem, others: number): BatchProblem {
  if (others === 0 || problem.line === null) return problem;
  const what = others === 1 ? '1 other payment' : `${others} other payments`;
  return { ...problem, message: `${problem.message} (the same for ${what})` };
}

/** The accounts that the store knows of each customer, by their consents. */
export interface KnownAccounts {
  /** What is wrong with the account that a line debits; undefined if nothing is, or nobody knows. */
  problemWith(line: BatchLine): string | undefined;
}

/** Reads the consents of all customers. It asks no bank. @param usual the customer who pays what names none */
export async function readKnownAccounts(flows: Flows, usual: string | undefined): Promise<KnownAccounts> {
  const accounts = new Map<string, Set<string>>();
  for await (const consent of flows.list('consent', { onDamaged: () => {} })) {
    if (consent.state !== 'confirmed') continue;
    const ofCustomer = accounts.get(consent.customerId) ?? new Set();
    for (const { products } of consent.categories) for (const product of products) ofCustomer.add(product);
    accounts.set(consent.customerId, ofCustomer);
  }
  return {
    problemWith({ customer, from }) {
      const payer = customer ?? usual;
      const accountsOfPayer = payer === undefined ? undefined : accounts.get(payer);
      if (from === null || !accountsOfPayer || accountsOfPayer.size === 0 || accountsOfPayer.has(from))
        return undefined;
      return `The account ${from} is not one that customer ${payer} has given a consent for`;
    },
  };
}

/**
 * Stores a batch. If another one was added since it was compared, it is compared again.
 *
 * @param compare reads what it is compared with
 * @throws Psd2Error `usage` if a batch has its lines, or one of them
 */
export async function addCompared(
  batches: Pick<Batches, 'add'>,
  batch: NewBatch,
  compare: () => Promise<EarlierPayments>,
): Promise<Batch> {
  try {
    return await batches.add(batch);
  } catch (error) {
    if (!(error instanceof AddedMeanwhile)) throw error;
    const compared = refuseRepeats(await compare(), batch.lines);
    return addCompared(batches, { ...batch, compared }, compare);
  }
}
