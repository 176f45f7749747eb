import type { Batch } from '../../domain/batch/batch.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import type { Initiation } from '../../domain/operation.ts';
import { isSameReference } from '../../domain/order/creditor-reference.ts';
import { describePayeeCheck, type PayeeCheck } from '../../domain/order/payee-check.ts';
import type { Transfer, TransferOrder } from '../../domain/transfer.ts';
import { endSentence, Psd2Error } from '../../errors.ts';
import type { Open } from '../../store/ports/flows.ts';
import { beginTransferFlow } from './free-reference.ts';
import { keptCheck, referenceOf } from './known-lines.ts';
import { orderOfLine } from './order.ts';
import type { BatchRun, BatchStore, Payer } from './ports.ts';

// What must hold before a line of a batch is paid, alone or with others, and what begins then.

/** The transfer that pays a line, as it is now. */
export async function transferOf(
  { batches, flows, batch }: BatchStore,
  { line }: BatchLine,
): Promise<Transfer | undefined> {
  const flow = (await batches.find(batch)).flows.get(line);
  return flow === undefined ? undefined : flows.find('transfer', flow);
}

/** Why a line waits for a person, without a refusal. */
export class WaitsForPerson extends Psd2Error {
  constructor(message: string, hint: string) {
    super('confirmation_needed', message, { hint });
  }
}

/** What is wrong with some lines of a share, each for a reason of its own. As an error it is the first of them. */
export class ProblemsOfLines extends Psd2Error {
  readonly #problems: ReadonlyMap<number, Psd2Error>;

  constructor(first: Psd2Error, problems: ReadonlyMap<number, Psd2Error>) {
    super(first.code, first.message, first.context);
    this.#problems = problems;
  }

  /** What is wrong with a line; null: nothing. */
  of({ line }: BatchLine): Psd2Error | null {
    return this.#problems.get(line) ?? null;
  }
}

/** @throws ProblemsOfLines if there are any, by the numbers of their lines */
export function throwProblems(problems: ReadonlyMap<number, Psd2Error>): void {
  const [first] = problems.values();
  if (first) throw new ProblemsOfLines(first, problems);
}

/** Records that a transfer pays a line. @returns false if the line has another one by now, or none is wanted any more */
export async function takesLine(
  { batches, batch }: Pick<BatchStore, 'batches' | 'batch'>,
  { line }: BatchLine,
  flow: string,
  before: string | undefined,
): Promise<boolean> {
  const { recorded } = await batches.change(batch, (now) => {
    const isFree = now.flows.get(line) === before && now.rejection === null;
    return isFree && !now.cancelled.has(line) && !now.refused.has(line)
      ? { type: 'line-begun', line, flow }
      : null;
  });
  return recorded;
}

/** Records for good that psd2 does not pay a line. */
export async function refuseLine(
  { batches, batch }: Pick<BatchStore, 'batches' | 'batch'>,
  { line }: BatchLine,
  reason: string,
): Promise<void> {
  await batches.change(batch, (now) =>
    now.refused.has(line) || now.cancelled.has(line) ? null : { type: 'line-refused', line, reason },
  );
}

/** Refuses a line whose reference another payment has: psd2 pays a reference once, also in a batch that was added again. */
export async function refuseDuplicate(
  run: BatchRun,
  line: BatchLine,
  duplicate: Psd2Error,
  holder: Transfer | undefined,
): Promise<void> {
  const paying = holder?.order.batch;
  const where = paying ? ` That is payment ${paying.line} of the batch ${paying.batch}.` : '';
  const advice = 'psd2 pays a reference once. To pay this too, add it with another reference';
  return refuseLine(run, line, `${endSentence(duplicate.message)}${where} ${advice}`);
}

const WRONG_ORDER = [
  'usage',
  'invalid_iban',
  'invalid_amount',
  'invalid_date',
  'invalid_product_id',
  'invalid_text',
];

/** Refuses a line if `work` says that its order is wrong. @returns null then */
export async function orRefused<T>(
  run: BatchRun,
  line: BatchLine,
  work: () => Promise<T> | T,
): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Psd2Error) || !WRONG_ORDER.includes(error.code)) throw error;
    await refuseLine(run, line, error.message);
    return null;
  }
}

/**
 * The result of the payee check of a line: the kept one, else a new one if there is a payee check.
 *
 * @returns `refused` if psd2 has refused the line
 * @throws WaitsForPerson if a person must decide
 */
export async function checkedPayee(
  run: BatchRun,
  { checkPayee }: Payer,
  batch: Batch,
  line: BatchLine,
): Promise<PayeeCheck | null | 'refused'> {
  const earlierCheck = keptCheck(batch, line);
  const mayCheck = earlierCheck === null && checkPayee !== null && !line.payeeVerified;
  const checked = mayCheck ? await checkPayee(line) : earlierCheck;
  if (checked?.result === 'none') {
    await refuseLine(run, line, `The payee check says: ${describePayeeCheck(checked)}`);
    return 'refused';
  }
  if (line.payeeVerified || checked?.result === 'match') return checked;
  if (checked?.result === 'close' && !run.acceptsClose)
    throw new WaitsForPerson(
      `The payee check of payment ${line.line} says: ${describePayeeCheck(checked)}`,
      'If the payee is right after all, add --accept-close.',
    );
  if (line.instant && checked?.result !== 'close')
    throw new WaitsForPerson(
      `Payment ${line.line} is instant, and nobody has verified its payee`,
      'Set PSD2_PAYEE_CHECK, or add the payments again with --payee-verified.',
    );
  return checked;
}

/** A line that may be paid, with what its transfer begins with. */
export interface Prepared {
  line: BatchLine;
  order: TransferOrder;
  checked: PayeeCheck | null;
  /** The transfer of the line before, which ended before anything of it was sent. */
  before: string | undefined;
}

/**
 * Checks a line that no transfer pays.
 *
 * @param fits says what is wrong with its order at this bank
 * @returns null if psd2 has refused the line
 * @throws WaitsForPerson if a person must decide
 */
export async function prepareLine<T extends object>(
  run: BatchRun,
  payer: Payer,
  batch: Batch,
  { line, before }: Pick<Prepared, 'line' | 'before'>,
  fits: (order: TransferOrder) => T | Promise<T>,
): Promise<(Prepared & { fitting: T }) | null> {
  const order = await orRefused(run, line, () => orderOfLine(payer, batch, line));
  const fitting = order && (await orRefused(run, line, () => fits(order)));
  if (!fitting) return null;
  const checked = await checkedPayee(run, payer, batch, line);
  return checked === 'refused' ? null : { line, order, checked, before, fitting };
}

/**
 * Begins the transfer of a line, which takes its reference.
 *
 * @param onTaken called once the batch says that it pays the line. If the line is not wanted any more, the transfer ends
 * @throws Psd2Error `duplicate_reference` and what `onTaken` throws
 */
export async function beginLine(
  { batches, batch, flows }: BatchRun,
  { bank, world }: Payer,
  { line, order, before }: Prepared,
  own: { initiation?: Initiation },
  onTaken: (open: Open<'transfer'>) => Promise<void>,
): Promise<void> {
  const { commits } = bank.payments;
  const first = { transactionId: world.newId(), commits, order, furtherData: [], ...own };
  await beginTransferFlow(flows, bank, first, async (open) => {
    if (await takesLine({ batches, batch }, line, open.current.flow, before)) await onTaken(open);
    else await open.record({ type: 'cancelled' });
  });
}

/**
 * The transfer that an earlier run began for a line and could not note any more, so that the line's reference is taken.
 *
 * @returns null if another payment has the reference: then psd2 has refused the line
 * @throws `error` if it says something else
 */
export async function referenceHolder(
  run: BatchRun,
  line: BatchLine,
  error: unknown,
): Promise<Transfer | null> {
  if (!(error instanceof Psd2Error) || error.code !== 'duplicate_reference') throw error;
  const holder = error.flow === undefined ? undefined : await run.flows.find('transfer', error.flow);
  const { batch, line: number } = holder?.order.batch ?? {};
  if (holder && batch === run.batch && number === line.line) return holder;
  await refuseDuplicate(run, line, error, holder);
  return null;
}

/** @throws Psd2Error `config` if the transfer of a line is not the payment that the line orders */
export function refuseOtherOrder(batch: Batch, line: BatchLine, order: TransferOrder): void {
  const isSamePayment =
    order.to === line.iban &&
    order.amount === line.amount &&
    order.currency === line.currency &&
    order.name === line.name &&
    order.description === line.description &&
    isSameReference(order.creditorReference, line.creditorReference) &&
    order.reference === referenceOf(batch, line) &&
    order.batchBooking === line.batchBooking &&
    order.instant === line.instant &&
    order.urgent === line.urgent;
  // What the line does not say, the run that began the transfer chose.
  const isSameDebit =
    (line.from === null || order.from === line.from) &&
    (line.fromIban === null || order.fromIban === line.fromIban) &&
    (line.customer === null || order.customerId === line.customer) &&
    (line.executionDate === null || order.executionDate === line.executionDate);
  if (!isSamePayment || !isSameDebit) throw otherThanOrdered(line.line);
}

/** @param line its number */
export function otherThanOrdered(line: number): Psd2Error {
  return new Psd2Error('config', `The transfer of payment ${line} is not what the batch orders`, {
    hint: 'Somebody or something has changed the store. psd2 sends nothing. Restore it from a backup.',
  });
}
