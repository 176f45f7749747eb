import type { PaymentCalls } from '../../bank/ports/payment-calls.ts';
import type { Batch } from '../../domain/batch/batch.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import { isAccepted, isOpen, isOver, standingOf } from '../../domain/flow-states.ts';
import { nextOperationStep } from '../../domain/next-step.ts';
import { isPending, type Operation, type OrderTarget } from '../../domain/operation.ts';
import { isSameReference } from '../../domain/order/creditor-reference.ts';
import type { PayeeCheck } from '../../domain/order/payee-check.ts';
import type { Transfer, TransferOrder } from '../../domain/transfer.ts';
import { needsSettlement } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import type { Open } from '../../store/ports/flows.ts';
import { runOperation } from '../payment/loop.ts';
import { lookAt } from '../payment/status.ts';
import type { CustomerPorts } from '../ports.ts';
import { endIfUntouched } from '../refusals.ts';
import { checkedPayee, orderOf, orRefused, refuseDuplicate, takesLine } from './lines.ts';
import { isBeforeAll, referenceOf } from './outcome.ts';
import type { BatchRun, Links, Payer } from './ports.ts';

/**
 * Pays a line by a transfer of its own, as far as possible now. The transfer is durable and holds the line's reference, and the
 * batch says that it pays the line, before anything is sent. So a line whose run stopped goes on with the same transfer.
 *
 * @throws Psd2Error what stopped it. `confirmation_needed` if a person must decide first
 */
export function payLine(run: BatchRun, line: BatchLine): Promise<void> {
  return workOn(run, line, 'to the end');
}

/**
 * Initiates the payment of a line, at a bank where the customer commits, and asks no customer: a signing basket does. As
 * {@link payLine} otherwise.
 */
export function initiateLine(run: BatchRun, line: BatchLine): Promise<void> {
  return workOn(run, line, 'for a basket');
}

/** How far a transfer goes. */
type Extent = 'to the end' | 'for a basket';

async function workOn(run: BatchRun, line: BatchLine, extent: Extent): Promise<void> {
  const { batches, flows } = run;
  const batch = await batches.find(run.batch);
  const flow = batch.flows.get(line.line);
  const known = flow === undefined ? undefined : await flows.find('transfer', flow);
  if (known && !isBeforeAll(known)) return resumeLine(run, line, known, extent);

  const payer = await run.payerOf(line);
  const { bank, world } = payer;
  const order = await orderOf(run, payer, batch, line);
  const initiation = order && (await orRefused(run, line, () => begunWith(payer, order, extent)));
  if (!order || !initiation) return undefined;
  const checked = await checkedPayee(run, payer, batch, line);
  if (checked === 'refused') return undefined;
  try {
    await run.flows.begin(
      'transfer',
      {
        transactionId: world.newId(),
        commits: bank.payments.commits,
        order,
        furtherData: [],
        ...initiation,
      },
      async (open) => {
        if (await takesLine(run, line, open.current.flow, flow))
          await drive(run, payer, line, open, { checked, isNew: true, extent });
        else await open.record({ type: 'cancelled' });
      },
    );
  } catch (error) {
    if (!(error instanceof Psd2Error) || error.code !== 'duplicate_reference') throw error;
    await goOnWith(run, line, error, flow, extent);
  }
}

/** What a transfer keeps of its payment from its first event on, at a bank where the customer commits. */
function begunWith(payer: Payer, order: TransferOrder, extent: Extent) {
  const { initiation } = payer.initiationOf(order);
  if (!initiation) return {};
  return { initiation: extent === 'for a basket' ? { ...initiation, forBasket: true as const } : initiation };
}

/** The reference is taken: by the transfer that an earlier run began for this line, or by another run. */
async function goOnWith(
  run: BatchRun,
  line: BatchLine,
  duplicate: Psd2Error,
  before: string | undefined,
  extent: Extent,
): Promise<void> {
  const holder = duplicate.flow;
  const other = holder === undefined ? undefined : await run.flows.find('transfer', holder);
  if (!other || !isOfLine(run, line, other)) return refuseDuplicate(run, line, duplicate, other);
  if (await takesLine(run, line, other.flow, before)) await resumeLine(run, line, other, extent);
}

/** Whether an earlier run began a transfer for this line. */
export function isOfLine({ batch }: BatchRun, { line }: BatchLine, { order }: Transfer): boolean {
  return order.batch?.batch === batch && order.batch.line === line;
}

async function resumeLine(run: BatchRun, line: BatchLine, known: Transfer, extent: Extent): Promise<void> {
  const batch = await run.batches.find(run.batch);
  refuseOtherOrder(batch, line, known.order);
  if (isOver(known) && standingOf(known) !== 'sent') return;
  const payer = await run.payerOf({ customer: known.order.customerId });
  const calls = payer.bank.payments.transfer(known);
  if (await awaitsCustomer(run, payer, known, calls)) return;
  const checked = known.accepted ? null : await checkedPayee(run, payer, batch, line);
  if (checked === 'refused') return endRefused(run, known);
  await run.flows.resume('transfer', known.flow, (open) =>
    drive(run, payer, line, open, { checked, isNew: false, extent }),
  );
}

/** Ends the transfer of a line that psd2 has refused. Nobody has confirmed it, so nothing irreversible was sent. */
async function endRefused({ flows }: BatchRun, { flow }: Transfer): Promise<void> {
  await flows.resume('transfer', flow, async (open) => {
    if (isOpen(open.current)) await open.record({ type: 'cancelled' });
  });
}

/**
 * Whether a customer has a link, and has not decided yet: a new link would make the old one useless. If somebody has authorised it, and
 * the operator names the next person, that person gets one.
 */
export async function awaitsCustomer(
  { links, batches, batch, person }: BatchRun,
  { bank }: Payer,
  operation: Operation<OrderTarget>,
  { sca = bank.sca }: PaymentCalls,
): Promise<boolean> {
  if (!links || operation.state !== 'authorizing' || !operation.verification) return false;
  if (!(await batches.find(batch)).linked.has(operation.flow)) return false;
  const { found, partly } = await lookAt({ bank: { sca } }, operation);
  return isPending(found) && !(person && partly);
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

async function drive(
  run: BatchRun,
  payer: Payer,
  line: BatchLine,
  open: Open<'transfer'>,
  { checked, isNew, extent }: { checked: PayeeCheck | null; isNew: boolean; extent: Extent },
): Promise<void> {
  const { order, flow } = open.current;
  const link = {
    ...{ batch: run.batch, line: line.line, flow, customer: order.customerId },
    ...{ reference: order.reference, name: order.name, iban: order.to },
    ...{ amount: order.amount, currency: order.currency },
  };
  const accept = async () => {
    if (checked && !open.current.payeeCheck) await open.record({ type: 'payee-checked', ...checked });
    return true;
  };
  const isForBasket = extent === 'for a basket';
  if (isForBasket && nextOperationStep(open.current, needsSettlement(order)) === 'authorize') return;
  const calls = payer.bank.payments.transfer(open.current);
  const ports = await payingPorts(run, payer, open.current, { link, line: line.line, isNew });
  try {
    const until = isForBasket ? 'authorize' : 'await-authorization';
    await runOperation(open, calls, { ...ports, accept }, isForBasket || run.links ? [until] : []);
  } catch (error) {
    await endIfUntouched(open, error);
    throw error;
  } finally {
    await run.tidy(open.current);
  }
}

/**
 * The ports of a payment of a batch.
 *
 * @param link what the customer's link is written out with. @param line the first line that it pays
 */
export async function payingPorts(
  { links, batches, batch, whileWaiting, person }: BatchRun,
  payer: Payer,
  {
    flow,
    initiation,
    transactionId,
    state,
  }: Pick<Operation<OrderTarget>, 'flow' | 'initiation' | 'transactionId' | 'state'>,
  { link, line, isNew }: { link: object; line: number; isNew: boolean },
) {
  const { initiated, ...ports } = payer.ports();
  const near: CustomerPorts = { ...ports.customer, whileWaiting };
  const given = async () => {
    await batches.change(batch, (now) => (now.linked.has(flow) ? null : { type: 'link-given', line, flow }));
  };
  // What nobody has authorised, the customer does first.
  const other = state === 'authorizing' ? person : undefined;
  const returns = initiation && (await payer.returns(transactionId, other));
  const whose = returns?.psuId === undefined ? {} : { psuId: returns.psuId };
  return {
    ...ports,
    // The log has nothing of a new flow.
    ...(!isNew && { initiated }),
    customer: links ? byLink(near, links, { ...link, ...whose }, given) : near,
    ...(returns && { returns }),
  };
}

/** Whether a run can still do something for a transfer. */
export function canGoOn(transfer: Transfer): boolean {
  if (isBeforeAll(transfer) || standingOf(transfer) === 'sent') return true;
  if (transfer.state !== 'executed' && transfer.state !== 'ordered') return !isOver(transfer);
  return isAccepted(transfer) || needsSettlement(transfer.order);
}

/**
 * The customer's side of a payment whose link is written out.
 *
 * @param link what is written beside the address
 * @param given called once the link is out
 */
function byLink(ports: CustomerPorts, links: Links, link: object, given: () => Promise<void>): CustomerPorts {
  return {
    ...ports,
    atAnotherDevice: true,
    listen: async () => null,
    async sendBrowser(url) {
      await links.give({ ...link, url });
      await given();
    },
  };
}
