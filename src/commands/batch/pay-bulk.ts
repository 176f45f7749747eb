import Big from 'big.js';
import * as z from 'zod/mini';
import type { BulkPayments } from '../../bank/ports/bulk.ts';
import { written } from '../../domain/account-history.ts';
import type { Batch } from '../../domain/batch/batch.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import { isUntouched } from '../../domain/flow-states.ts';
import type { PayeeCheck } from '../../domain/order/payee-check.ts';
import type { Transfer, TransferOrder } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import type { Share } from '../../flows/batch.ts';
import { BULK_PAYMENT } from '../../flows/bulk.ts';
import { returnAddress } from '../../flows/linked-sca.ts';
import { runOperation } from '../../flows/operation.ts';
import { isInterruption, isOvertaken } from '../../flows/refusals.ts';
import { redirectUriOf } from '../../store/machine/settings.ts';
import type { GenericOperation, Open } from '../../store/ports/flows.ts';
import { endIfUntouched } from '../flow/drive.ts';
import { endPaymentTokens } from '../open/payment-tokens.ts';
import { awaitsCustomer, isOfLine, payingPorts, refuseOtherOrder } from './pay-line.ts';
import type { Payer } from './payers.ts';
import {
  checkedPayee,
  type LinePayment,
  orderOf,
  orRefused,
  refuseLine,
  takesLine,
  WaitsForPerson,
} from './prepare-line.ts';
import { isBeforeAll } from './rows.ts';
import { followAll } from './settle-bulk.ts';

/** A line that goes into a bulk payment. */
interface Prepared {
  line: BatchLine;
  order: TransferOrder;
  checked: PayeeCheck | null;
  /** The transfer of the line before, which ended before anything of it was sent. */
  before: string | undefined;
}

/** A line with the transfer that holds its reference. */
interface Taken extends Prepared {
  flow: string;
}

/**
 * Pays lines in one bulk payment, which the customer authorises once. Each line has a transfer that holds its reference. The bulk
 * payment is an operation with a journal of its own. Before it is sent, all of this is durable: the transfers, the operation with
 * the bytes of its body, that the lines go with it (in the batch), and that each transfer is one of it.
 *
 * @throws Psd2Error what stopped it
 */
export async function payBulk(payment: LinePayment, share: Share): Promise<void> {
  await goOnWithBegun(payment, share);
  const { batches, flows } = payment;
  const batch = await batches.find(payment.batch);
  const free: { line: BatchLine; before: string | undefined }[] = [];
  for (const line of share) {
    const before = batch.flows.get(line.line);
    const transfer = before === undefined ? undefined : await flows.find('transfer', before);
    const isFree = !transfer || isBeforeAll(transfer);
    if (isFree && !batch.refused.has(line.line) && !batch.cancelled.has(line.line))
      free.push({ line, before });
  }
  if (free.length > 0) await beginBulk(payment, free);
}

/** Goes on with the bulk payments that earlier runs have begun for some lines, and ends what they have only prepared. */
async function goOnWithBegun(payment: LinePayment, share: Share): Promise<void> {
  const { batches, flows } = payment;
  const batch = await batches.find(payment.batch);
  const begun = new Set<string>();
  for (const line of share) {
    const flow = batch.flows.get(line.line);
    const transfer = flow === undefined ? undefined : await flows.find('transfer', flow);
    if (!transfer || isBeforeAll(transfer)) continue;
    const bulk = bulkOfLine(batch, line);
    if (bulk !== undefined && (transfer.bulk ?? bulk) === bulk) begun.add(bulk);
    else await giveUp(payment, transfer);
  }
  for (const flow of begun) await resumeBulk(payment, flow, share);
}

/** The last bulk payment that a line was to go with. */
export function bulkOfLine({ bulks }: Batch, { line }: BatchLine): string | undefined {
  return [...bulks].findLast(([, lines]) => lines.includes(line))?.[0];
}

/** Ends a transfer that an earlier run began for a bulk payment and then stopped. Its line begins anew. */
async function giveUp({ flows }: LinePayment, { flow, bulk, initiation }: Transfer): Promise<void> {
  if (bulk !== null || initiation !== null) return;
  await flows.resume('transfer', flow, async (open) => {
    if (isUntouched(open.current) && open.current.bulk === null) await open.record({ type: 'cancelled' });
  });
}

async function beginBulk(
  payment: LinePayment,
  free: { line: BatchLine; before: string | undefined }[],
): Promise<void> {
  const [first] = free;
  if (!first) return;
  const payer = await payment.payerOf(first.line);
  const { bulk } = payer.opened.bank.payments;
  if (!bulk) throw new TypeError('The bank has no bulk payments');
  const { prepared, waiting } = await prepareAll(payment, payer, bulk, free);
  const taken = await takeAll(payment, payer, prepared);
  const [one] = taken;
  if (one) {
    const { context, opened } = payer;
    const { customerId, from } = one.order;
    await opened.flows.begin(
      'operation',
      {
        transactionId: context.world.newId(),
        commits: opened.bank.payments.commits,
        order: { customerId, from, operation: BULK_PAYMENT, data: describeBulk(payment, one, taken) },
        furtherData: [],
        initiation: await initiationOf(payer, bulk, taken),
      },
      (open) => sendFirst(payment, payer, bulk, { open, taken }),
    );
  }
  if (waiting) throw waiting;
}

/** What a bulk payment is for: the `data` of its operation. */
const purpose = z.object({
  batch: z.string(),
  lines: z.array(z.number()),
  amount: z.string(),
  currency: z.string(),
  instant: z.boolean(),
  futureDated: z.boolean(),
});

function describeBulk({ batch }: LinePayment, first: Taken, taken: readonly Taken[]): string {
  const sum = taken.reduce((total, { order }) => total.plus(order.amount), new Big(0));
  const lines = taken.map(({ line }) => line.line);
  const { currency, instant, futureDated } = first.order;
  const data: z.infer<typeof purpose> = {
    ...{ batch, lines, amount: written(sum), currency, instant, futureDated },
  };
  return JSON.stringify(data);
}

function initiationOf({ context, opened }: Payer, bulk: BulkPayments, lines: readonly Prepared[]) {
  const { newId } = context.world;
  const state = newId();
  const back = { address: returnAddress(redirectUriOf(opened.profile), state), state };
  return bulk.initiation(
    lines.map(({ order }) => order),
    back,
    newId,
  );
}

/** Checks each line. What is wrong with one refuses it alone. @returns also why a line waits for a person */
async function prepareAll(
  payment: LinePayment,
  payer: Payer,
  bulk: BulkPayments,
  free: { line: BatchLine; before: string | undefined }[],
): Promise<{ prepared: Prepared[]; waiting: Psd2Error | undefined }> {
  const batch = await payment.batches.find(payment.batch);
  const prepared: Prepared[] = [];
  let waiting: Psd2Error | undefined;
  for (const { line, before } of free) {
    try {
      const order = await orderOf(payment, payer, batch, line);
      const candidate = order && { line, order, checked: null, before };
      const isTaken =
        candidate && (await orRefused(payment, line, () => initiationOf(payer, bulk, [candidate])));
      if (!candidate || !isTaken) continue;
      const checked = await checkedPayee(payment, payer.context, batch, line);
      if (checked !== 'refused') prepared.push({ ...candidate, checked });
    } catch (error) {
      if (!(error instanceof WaitsForPerson)) throw error;
      waiting ??= error;
    }
  }
  return { prepared, waiting };
}

/** Begins the transfer of each line, which takes its reference. */
async function takeAll(
  payment: LinePayment,
  { context, opened }: Payer,
  prepared: readonly Prepared[],
): Promise<Taken[]> {
  const taken: Taken[] = [];
  for (const each of prepared) {
    const { line, order, before } = each;
    const begin = {
      ...{ transactionId: context.world.newId(), commits: opened.bank.payments.commits },
      ...{ order, furtherData: [] },
    };
    const take = () =>
      opened.flows.begin('transfer', begin, async (open) => {
        const { flow } = open.current;
        if (await takesLine(payment, line, flow, before)) taken.push({ ...each, flow });
        else await open.record({ type: 'cancelled' });
      });
    try {
      await take();
    } catch (error) {
      if (await freesReference(payment, line, error)) await take();
    }
  }
  return taken;
}

/**
 * A line's reference is taken. An earlier run may have begun a transfer for the line, which it could not note any more: this ends it.
 *
 * @returns false if another payment has the reference: then psd2 has refused the line
 * @throws `error` if it says something else
 */
async function freesReference(payment: LinePayment, line: BatchLine, error: unknown): Promise<boolean> {
  if (!(error instanceof Psd2Error) || error.code !== 'duplicate_reference') throw error;
  const { flow } = error;
  const other = flow === undefined ? undefined : await payment.flows.find('transfer', flow);
  if (other && isOfLine(payment, line, other)) {
    await giveUp(payment, other);
    return true;
  }
  await refuseLine(payment, line, error.message);
  return false;
}

/** Notes which lines go with the bulk payment, and then sends it. */
async function sendFirst(
  payment: LinePayment,
  payer: Payer,
  bulk: BulkPayments,
  { open, taken }: { open: Open<'operation'>; taken: readonly Taken[] },
): Promise<void> {
  const { flow } = open.current;
  const lines = taken.map(({ line }) => line.line);
  const { recorded } = await payment.batches.change(payment.batch, (now) => {
    const isWanted = taken.every(
      ({ line, flow: its }) => now.flows.get(line.line) === its && !now.cancelled.has(line.line),
    );
    return isWanted && now.rejection === null ? { type: 'bulk-begun', flow, lines } : null;
  });
  if (recorded) {
    await drive(payment, payer, bulk, { open, lines: taken, isNew: true });
    return;
  }
  await open.record({ type: 'cancelled' });
  for (const each of taken) await giveUp(payment, await payment.flows.find('transfer', each.flow));
}

/** Goes on with a bulk payment that an earlier run began. */
async function resumeBulk(payment: LinePayment, flow: string, share: Share): Promise<void> {
  const { batches, flows } = payment;
  const batch = await batches.find(payment.batch);
  const known = await flows.find('operation', flow);
  const payer = await payment.payerOf({ customer: known.order.customerId });
  const { bulk } = payer.opened.bank.payments;
  if (!bulk) throw new Psd2Error('config', 'The bank file has no bulk payments any more', { flow });
  if (await awaitsCustomer(payment, payer, known, callsOf(bulk, known))) return;
  if (known.state === 'cancelled' && !known.reached) return followAll(payment, payer, known);
  const numbers = batch.bulks.get(flow) ?? [];
  const lines: { line: number; flow: string; checked: PayeeCheck | null }[] = [];
  for (const line of numbers) {
    const its = batch.flows.get(line);
    if (its !== undefined) lines.push({ line, flow: its, checked: null });
  }
  for (const line of share) {
    const its = lines.find((each) => each.line === line.line);
    if (its) refuseOtherOrder(line, (await flows.find('transfer', its.flow)).order);
  }
  await payer.opened.flows.resume('operation', flow, (open) =>
    drive(payment, payer, bulk, {
      open,
      lines: lines.map((each) => ({ ...each, line: { line: each.line } })),
      isNew: false,
    }),
  );
}

/** What a bulk payment is for, as its operation keeps it. @throws Psd2Error `config` if psd2 did not write it */
function purposeOf({ flow, order }: Pick<GenericOperation, 'flow' | 'order'>): z.infer<typeof purpose> {
  const { data } = purpose.safeParse(JSON.parse(order.data));
  if (data) return data;
  throw new Psd2Error('config', `The journal of the bulk payment ${flow} is damaged`, {
    hint: 'Restore it from a backup.',
  });
}

function callsOf(bulk: BulkPayments, operation: GenericOperation) {
  const { initiation, transactionId } = operation;
  if (!initiation) throw new TypeError(`The bulk payment ${operation.flow} has no initiation`);
  return bulk.calls({ order: purposeOf(operation), transactionId, initiation });
}

/** Runs a bulk payment as far as possible, and writes into its transfers what became of them. */
async function drive(
  payment: LinePayment,
  payer: Payer,
  bulk: BulkPayments,
  {
    open,
    lines,
    isNew,
  }: {
    open: Open<'operation'>;
    lines: readonly { line: Pick<BatchLine, 'line'>; flow: string; checked: PayeeCheck | null }[];
    isNew: boolean;
  },
): Promise<void> {
  const { flow, order } = open.current;
  const { amount, currency } = purposeOf(open.current);
  if (isUntouched(open.current) && !(await joinAll(payment, flow, lines))) {
    await open.record({ type: 'cancelled' });
    await followAll(payment, payer, open.current);
    return;
  }
  const link = {
    ...{ batch: payment.batch, lines: lines.map(({ line }) => line.line), flow },
    ...{ customer: order.customerId, amount, currency },
  };
  const ports = await payingPorts(payment, payer, open.current, {
    ...{ link, line: lines[0]?.line.line ?? 0, isNew },
  });
  try {
    await runOperation(
      open,
      callsOf(bulk, open.current),
      { ...ports, accept: async () => true },
      payment.links ? ['await-authorization'] : [],
    );
  } catch (error) {
    await endIfUntouched(open, error);
    // What stopped it counts more than what else goes wrong now.
    if (!isInterruption(error) && !isOvertaken(error)) await followAll(payment, payer, open.current);
    throw error;
  } finally {
    await endPaymentTokens(payer.context, open.current, false);
  }
  await followAll(payment, payer, open.current);
}

/** Notes in each transfer that it goes with the bulk payment. @returns false if one of them cannot any more */
async function joinAll(
  { flows }: LinePayment,
  bulk: string,
  lines: readonly { flow: string; checked: PayeeCheck | null }[],
): Promise<boolean> {
  for (const { flow, checked } of lines) {
    const isIn = await flows.resume('transfer', flow, async (open) => {
      if (open.current.bulk === bulk) return true;
      if (!isUntouched(open.current) || open.current.initiation !== null) return false;
      if (checked) await open.record({ type: 'payee-checked', ...checked });
      await open.record({ type: 'bulk-joined', bulk });
      return true;
    });
    if (!isIn) return false;
  }
  return true;
}
