import type { Batch } from '../../domain/batch/batch.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import { isOver, standingOf } from '../../domain/flow-states.ts';
import { isPending } from '../../domain/operation.ts';
import { describePayeeCheck, type PayeeCheck } from '../../domain/order/payee-check.ts';
import type { Transfer, TransferOrder } from '../../domain/transfer.ts';
import { needsSettlement } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import { runOperation } from '../../flows/operation.ts';
import type { FlowPorts } from '../../flows/ports.ts';
import type { Batches } from '../../store/ports/batches.ts';
import type { Flows, Open } from '../../store/ports/flows.ts';
import type { Context, CustomerBank } from '../context.ts';
import { endIfUntouched } from '../flow/drive.ts';
import { flowPortsOf } from '../flow/ports.ts';
import { readOrder, refuseAboveLimit } from '../transfer/order.ts';
import { checkPayee } from '../transfer/payee-check.ts';
import { byLink, type Links } from './links.ts';
import { isBeforeAll, keptCheck, referenceOf } from './rows.ts';

/** A customer who pays lines of a batch. */
export interface Payer {
  context: Context;
  opened: CustomerBank;
  /** The id of an account of theirs. @throws Psd2Error `usage` if they have none with this IBAN */
  accountOf(iban: string): Promise<string>;
}

/** What paying a line needs. */
export interface LinePayment {
  batches: Batches;
  flows: Flows;
  batch: string;
  links: Links | null;
  acceptsClose: boolean;
  payerOf(line: BatchLine): Promise<Payer>;
  /** Shows how far the run is while `work` runs. */
  whileWaiting: FlowPorts['customer']['whileWaiting'];
}

/** Why a line waits for a person, without a refusal. */
export class WaitsForPerson extends Psd2Error {
  constructor(message: string, hint: string) {
    super('confirmation_needed', message, { hint });
  }
}

/**
 * Pays a line by a transfer of its own, as far as possible now. The transfer is durable and holds the line's reference, and the
 * batch says that it pays the line, before anything is sent. So a line whose run stopped goes on with the same transfer.
 *
 * @throws Psd2Error what stopped it. `confirmation_needed` if a person must decide first
 */
export async function payLine(payment: LinePayment, line: BatchLine): Promise<void> {
  const { batches, flows } = payment;
  const batch = await batches.find(payment.batch);
  const flow = batch.flows.get(line.line);
  const known = flow === undefined ? undefined : await flows.find('transfer', flow);
  if (known && !isBeforeAll(known)) return resumeLine(payment, line, known);

  const payer = await payment.payerOf(line);
  const order = await orderOf(payment, payer, batch, line);
  const checked = await checkedPayee(payment, payer.context, batch, line);
  if (order === null || checked === 'refused') return undefined;
  const { opened, context } = payer;
  try {
    await opened.flows.begin(
      'transfer',
      {
        transactionId: context.world.newId(),
        commits: opened.bank.payments.commits,
        order: { ...order, customerId: opened.customerId, batch: { batch: batch.batch, line: line.line } },
        furtherData: [],
      },
      async (open) => {
        if (await takesLine(payment, line, open.current.flow, flow))
          await drive(payment, payer, line, open, checked);
        else await open.record({ type: 'cancelled' });
      },
    );
  } catch (error) {
    if (!(error instanceof Psd2Error) || error.code !== 'duplicate_reference') throw error;
    await goOnWith(payment, line, error, flow);
  }
}

/** Records that a transfer pays a line. @returns false if the line has another one by now, or none is wanted any more */
async function takesLine(
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

/** The reference is taken: by the transfer that an earlier run began for this line, or by another payment. */
async function goOnWith(
  payment: LinePayment,
  line: BatchLine,
  duplicate: Psd2Error,
  before: string | undefined,
): Promise<void> {
  const holder = duplicate.flow;
  const other = holder === undefined ? undefined : await payment.flows.find('transfer', holder);
  const isOwn = other?.order.batch?.batch === payment.batch && other.order.batch.line === line.line;
  if (!other || !isOwn) return refuseLine(payment, line, duplicate.message);
  if (await takesLine(payment, line, other.flow, before)) await resumeLine(payment, line, other);
}

/** Records for good that psd2 does not pay a line. */
async function refuseLine(
  { batches, batch }: LinePayment,
  { line }: BatchLine,
  reason: string,
): Promise<void> {
  await batches.change(batch, (now) =>
    now.refused.has(line) || now.cancelled.has(line) ? null : { type: 'line-refused', line, reason },
  );
}

async function resumeLine(payment: LinePayment, line: BatchLine, known: Transfer): Promise<void> {
  refuseOtherOrder(line, known.order);
  if (isOver(known) && standingOf(known) !== 'sent') return;
  const payer = await payment.payerOf({ ...line, customer: known.order.customerId });
  if (await awaitsCustomer(payment, payer, known)) return;
  const batch = await payment.batches.find(payment.batch);
  const checked = known.accepted ? null : await checkedPayee(payment, payer.context, batch, line);
  if (checked === 'refused') return;
  await payer.opened.flows.resume('transfer', known.flow, (open) =>
    drive(payment, payer, line, open, checked),
  );
}

/** Whether a customer has a link, and has not decided yet. A new link would make the old one useless. */
async function awaitsCustomer(
  { links, batches, batch }: LinePayment,
  { opened }: Payer,
  { state, flow, transactionId, verification }: Transfer,
): Promise<boolean> {
  if (!links || state !== 'authorizing' || !verification) return false;
  if (!(await batches.find(batch)).linked.has(flow)) return false;
  const { authorization } = await opened.bank.sca.status(verification.resourceId, transactionId);
  return isPending(authorization);
}

/** @throws Psd2Error `config` if the transfer of a line is not the payment that the line orders */
function refuseOtherOrder(line: BatchLine, order: TransferOrder): void {
  const isSame =
    order.to === line.iban &&
    order.amount === line.amount &&
    order.currency === line.currency &&
    order.name === line.name &&
    order.instant === line.instant;
  if (isSame) return;
  throw new Psd2Error('config', `The transfer of payment ${line.line} is not what the batch orders`, {
    hint: 'Somebody or something has changed the store. psd2 sends nothing. Restore it from a backup.',
  });
}

/** The order of a line, by the rules of a transfer. @returns null if psd2 has refused the line */
async function orderOf(
  payment: LinePayment,
  { context, accountOf }: Payer,
  batch: Batch,
  line: BatchLine,
): Promise<Omit<TransferOrder, 'customerId'> | null> {
  try {
    const from = line.from ?? (line.fromIban === null ? undefined : await accountOf(line.fromIban));
    const order = readOrder(
      {
        ...{ from, to: line.iban, name: line.name, amount: line.amount, currency: line.currency },
        ...{ description: line.description, instant: line.instant, urgent: line.urgent },
        date: line.executionDate ?? undefined,
        reference: referenceOf(batch, line),
        fromIban: line.fromIban ?? undefined,
      },
      context.world.now(),
      await context.bankInterface(),
    );
    refuseAboveLimit(context.profile(), order);
    return order;
  } catch (error) {
    if (!(error instanceof Psd2Error) || !WRONG_ORDER.includes(error.code)) throw error;
    await refuseLine(payment, line, error.message);
    return null;
  }
}

const WRONG_ORDER = [
  'usage',
  'invalid_iban',
  'invalid_amount',
  'invalid_date',
  'invalid_product_id',
  'invalid_text',
];

/**
 * The result of the payee check of a line: the kept one, else a new one if there is a payee check.
 *
 * @returns `refused` if psd2 has refused the line
 * @throws WaitsForPerson if a person must decide
 */
async function checkedPayee(
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

async function drive(
  payment: LinePayment,
  { context, opened }: Payer,
  line: BatchLine,
  open: Open<'transfer'>,
  checked: PayeeCheck | null,
): Promise<void> {
  const { links, batches, batch, whileWaiting } = payment;
  const ports = flowPortsOf(context, opened);
  const near = { ...ports.customer, whileWaiting };
  const { flow } = open.current;
  const customer = links
    ? byLink(near, links, { batch, line, transfer: open.current }, async () => {
        await batches.change(batch, (now) =>
          now.linked.has(flow) ? null : { type: 'link-given', line: line.line, flow },
        );
      })
    : near;
  const accept = async () => {
    if (checked && !open.current.payeeCheck) await open.record({ type: 'payee-checked', ...checked });
    return true;
  };
  try {
    await runOperation(
      open,
      opened.bank.payments.transfer(open.current),
      { ...ports, customer, accept },
      links ? ['await-authorization'] : [],
    );
  } catch (error) {
    await endIfUntouched(open, error);
    throw error;
  }
}

/** Whether a run can still do something for a transfer. */
export function canGoOn(transfer: Transfer): boolean {
  if (isBeforeAll(transfer) || standingOf(transfer) === 'sent') return true;
  return !isOver(transfer) && !(transfer.state === 'executed' && !needsSettlement(transfer.order));
}
