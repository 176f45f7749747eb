import type { PsuIdentification } from '../../bank/ports/call.ts';
import type { Batch } from '../../domain/batch/batch.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import { bankDay } from '../../domain/calendar.ts';
import { describePayeeCheck, type PayeeCheck } from '../../domain/order/payee-check.ts';
import type { Transfer, TransferOrder } from '../../domain/transfer.ts';
import { endSentence, Psd2Error } from '../../errors.ts';
import type { FlowPorts } from '../../flows/ports.ts';
import type { Batches } from '../../store/ports/batches.ts';
import type { Flows } from '../../store/ports/flows.ts';
import type { Context } from '../context.ts';
import { withDebtor } from '../transfer/debtor.ts';
import { readOrder, refuseAboveLimit } from '../transfer/order.ts';
import { checkPayee } from '../transfer/payee-check.ts';
import { plannedOf } from './examine.ts';
import type { Links } from './links.ts';
import type { Payer } from './payers.ts';
import { keptCheck, referenceOf } from './rows.ts';

// What must hold before a line of a batch is paid, alone or in a bulk payment.

/** What paying a line needs. */
export interface LinePayment {
  batches: Batches;
  flows: Flows;
  batch: string;
  links: Links | null;
  acceptsClose: boolean;
  /** Who authorises now what somebody has authorised. */
  person: PsuIdentification | undefined;
  payerOf(line: Pick<BatchLine, 'customer'>): Promise<Payer>;
  /** Shows how far the run is while `work` runs. */
  whileWaiting: FlowPorts['customer']['whileWaiting'];
}

/** The transfer that pays a line, as it is now. */
export async function transferOf(
  { batches, flows, batch }: LinePayment,
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
  { batches, batch }: LinePayment,
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
  { batches, batch }: LinePayment,
  { line }: BatchLine,
  reason: string,
): Promise<void> {
  await batches.change(batch, (now) =>
    now.refused.has(line) || now.cancelled.has(line) ? null : { type: 'line-refused', line, reason },
  );
}

/** Refuses a line whose reference another payment has: psd2 pays a reference once, also in a batch that was added again. */
export async function refuseDuplicate(
  payment: LinePayment,
  line: BatchLine,
  duplicate: Psd2Error,
  holder: Transfer | undefined,
): Promise<void> {
  const paying = holder?.order.batch;
  const where = paying ? ` That is payment ${paying.line} of the batch ${paying.batch}.` : '';
  const advice = 'psd2 pays a reference once. To pay this too, add it with another reference';
  return refuseLine(payment, line, `${endSentence(duplicate.message)}${where} ${advice}`);
}

/** The order of a line, by the rules of a transfer. @returns null if psd2 has refused the line */
export async function orderOf(
  payment: LinePayment,
  payer: Payer,
  batch: Batch,
  line: BatchLine,
): Promise<TransferOrder | null> {
  return orRefused(payment, line, async () => {
    const { context, opened } = payer;
    const isNamed = opened.bank.payments.initiation !== undefined;
    const bankInterface = await context.bankInterface();
    const now = context.world.now();
    const order = readOrder(
      {
        from: await accountIn(payer, line, isNamed),
        ...{ to: line.iban, name: line.name, amount: line.amount, currency: line.currency },
        ...{ description: line.description, instant: line.instant, urgent: line.urgent },
        date: line.executionDate ?? undefined,
        reference: referenceOf(batch, line),
        fromIban: isNamed ? undefined : (line.fromIban ?? undefined),
        ...(bankInterface.has.has('addresses of payees') && addressIn(line)),
      },
      now,
      bankInterface,
    );
    // An interface without a place for it would pay without it.
    if (line.creditorReference) bankInterface.refusePayment?.(plannedOf(line), bankDay(now));
    refuseAboveLimit(context.profile(), order);
    const ordered = {
      ...order,
      ...(line.creditorReference && { creditorReference: line.creditorReference }),
      ...(line.batchBooking !== undefined && { batchBooking: line.batchBooking }),
      customerId: opened.customerId,
      batch: { batch: batch.batch, line: line.line },
    };
    return withDebtor(context, opened, ordered, context.world.newId(), payer.accounts);
  });
}

/** The account to debit: its id, or its IBAN at a bank whose payments name that. */
async function accountIn(
  { accountOf }: Payer,
  { from, fromIban }: BatchLine,
  isNamed: boolean,
): Promise<string | undefined> {
  if (from !== null) return from;
  if (fromIban === null) return undefined;
  return isNamed ? fromIban : accountOf(fromIban);
}

/** The payee's address, at a bank that takes one. */
function addressIn({ address }: BatchLine) {
  if (!address) return {};
  return {
    payeeStreet: address.streetName ?? undefined,
    payeeBuilding: address.buildingNumber ?? undefined,
    payeePostcode: address.postCode ?? undefined,
    payeeTown: address.townName,
    payeeCountry: address.country,
  };
}

const WRONG_ORDER = [
  ...['usage', 'invalid_iban', 'invalid_amount', 'invalid_date'],
  ...['invalid_product_id', 'invalid_text'],
];

/** Refuses a line if `work` says that its order is wrong. @returns null then */
export async function orRefused<T>(
  payment: LinePayment,
  line: BatchLine,
  work: () => Promise<T> | T,
): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Psd2Error) || !WRONG_ORDER.includes(error.code)) throw error;
    await refuseLine(payment, line, error.message);
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
  payment: LinePayment,
  context: Context,
  batch: Batch,
  line: BatchLine,
): Promise<PayeeCheck | null | 'refused'> {
  const command = context.profile().settings.payeeCheck;
  const kept = keptCheck(batch, line);
  const mayCheck = kept === null && command !== undefined && !line.payeeVerified;
  const checked = mayCheck ? await checkPayee(context, command, { to: line.iban, name: line.name }) : kept;
  if (checked?.result === 'none') {
    await refuseLine(payment, line, `The payee check says: ${describePayeeCheck(checked)}`);
    return 'refused';
  }
  if (line.payeeVerified || checked?.result === 'match') return checked;
  if (checked?.result === 'close' && !payment.acceptsClose)
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
