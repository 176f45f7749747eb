import type { Batch } from '../../domain/batch/batch.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import { describePayeeCheck, type PayeeCheck } from '../../domain/order/payee-check.ts';
import type { Transfer, TransferOrder } from '../../domain/transfer.ts';
import { endSentence, Psd2Error } from '../../errors.ts';
import { keptCheck } from './outcome.ts';
import type { BatchRun, Payer } from './ports.ts';

// What must hold before a line of a batch is paid, alone or in a bulk run.

/** The transfer that pays a line, as it is now. */
export async function transferOf(
  { batches, flows, batch }: BatchRun,
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
  { batches, batch }: BatchRun,
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
  { batches, batch }: BatchRun,
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

/** The order of a line. @returns null if psd2 has refused the line */
export function orderOf(
  run: BatchRun,
  payer: Payer,
  batch: Batch,
  line: BatchLine,
): Promise<TransferOrder | null> {
  return orRefused(run, line, () => payer.orderOf(batch, line));
}

const WRONG_ORDER = [
  ...['usage', 'invalid_iban', 'invalid_amount', 'invalid_date'],
  ...['invalid_product_id', 'invalid_text'],
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
  const kept = keptCheck(batch, line);
  const mayCheck = kept === null && checkPayee !== null && !line.payeeVerified;
  const checked = mayCheck ? await checkPayee(line) : kept;
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
