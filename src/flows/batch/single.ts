import type { BatchLine } from '../../domain/batch/line.ts';
import { isOpen, isOver } from '../../domain/flow-states.ts';
import { nextOperationStep } from '../../domain/next-step.ts';
import { needsSettlement, type Transfer } from '../../domain/transfer.ts';
import type { Open } from '../../store/ports/flows.ts';
import { endIfUntouched } from '../once.ts';
import { runOperation } from '../payment/loop.ts';
import { isBeforeAll } from './known-lines.ts';
import {
  beginLine,
  checkedPayee,
  prepareLine,
  referenceHolder,
  refuseOtherOrder,
  takesLine,
} from './lines.ts';
import type { BatchRun, Payer } from './ports.ts';
import { awaitsCustomer, newReturn, payingPorts } from './send.ts';
import type { Sending, Way } from './way.ts';

/**
 * Each line is paid by a transfer of its own, which its customer authorises alone. A line whose run stopped goes on with the same transfer.
 * `confirmation_needed` stops a line about which a person must decide first.
 */
export const SINGLE: Way<'transfer'> = {
  async take(run, share) {
    for (const line of share) await takeLine(run, line, 'to the end');
  },
  send: (run, payer, open, sending) => sendLine(run, payer, open, sending, 'to the end'),
  // It is what the bank knows.
  async follow() {},
  async leave(open) {
    if (isOpen(open.current)) await open.record({ type: 'cancelled' });
  },
};

/** Initiates the payment of a line, at a bank where the customer commits, and asks no customer: a signing basket does. */
export function initiateLine(run: BatchRun, line: BatchLine): Promise<void> {
  return takeLine(run, line, 'for a basket');
}

/** How far a transfer goes. */
type Extent = 'to the end' | 'for a basket';

async function takeLine(run: BatchRun, line: BatchLine, extent: Extent): Promise<void> {
  const batch = await run.batches.find(run.batch);
  const before = batch.flows.get(line.line);
  const transfer = before === undefined ? undefined : await run.flows.find('transfer', before);
  if (transfer && !isBeforeAll(transfer)) return resumeLine(run, line, transfer, extent);
  const payer = await run.payerOf(line);
  const prepared = await prepareLine(run, payer, batch, { line, before }, async (order) => {
    const initiation = await payer.bank.payments.initiation?.(order, newReturn(payer), payer.world.newId);
    if (!initiation) return {};
    return {
      initiation: extent === 'for a basket' ? { ...initiation, forBasket: true as const } : initiation,
    };
  });
  if (!prepared) return undefined;
  const { checked, fitting } = prepared;
  try {
    await beginLine(run, payer, prepared, fitting, (open) => {
      const lines = [{ line, flow: open.current.flow, checked }];
      return sendLine(run, payer, open, { lines, isNew: true }, extent);
    });
  } catch (error) {
    const holder = await referenceHolder(run, line, error);
    if (holder && (await takesLine(run, line, holder.flow, before)))
      await resumeLine(run, line, holder, extent);
  }
}

async function resumeLine(run: BatchRun, line: BatchLine, transfer: Transfer, extent: Extent): Promise<void> {
  const batch = await run.batches.find(run.batch);
  refuseOtherOrder(batch, line, transfer.order);
  if (isOver(transfer) && !transfer.refusedUnconfirmed) return;
  const payer = await run.payerOf({ customer: transfer.order.customerId });
  if (await awaitsCustomer(run, payer, transfer, payer.bank.payments.transfer(transfer))) return;
  const checked = transfer.accepted ? null : await checkedPayee(run, payer, batch, line);
  // Nobody has confirmed what psd2 refuses now, so nothing irreversible was sent.
  if (checked === 'refused') return run.flows.resume('transfer', transfer.flow, SINGLE.leave);
  const lines = [{ line, flow: transfer.flow, checked }];
  await run.flows.resume('transfer', transfer.flow, (open) =>
    sendLine(run, payer, open, { lines, isNew: false }, extent),
  );
}

async function sendLine(
  run: BatchRun,
  payer: Payer,
  open: Open<'transfer'>,
  { lines, isNew }: Sending,
  extent: Extent,
): Promise<void> {
  const { order, flow } = open.current;
  const { line, checked = null } = lines[0] ?? {};
  const link = {
    batch: run.batch,
    line: line?.line,
    flow,
    customer: order.customerId,
    reference: order.reference,
    name: order.name,
    iban: order.to,
    amount: order.amount,
    currency: order.currency,
  };
  const accept = async () => {
    if (checked && !open.current.payeeCheck) await open.record({ type: 'payee-checked', ...checked });
    return true;
  };
  const isForBasket = extent === 'for a basket';
  if (isForBasket && nextOperationStep(open.current, needsSettlement(order)) === 'authorize') return;
  const calls = payer.bank.payments.transfer(open.current);
  const ports = await payingPorts(run, payer, open.current, { link, lines, isNew });
  try {
    const until = isForBasket ? 'authorize' : 'await-authorization';
    await run.initiations.counting(open, calls, (counted) =>
      runOperation(open, counted, { ...ports, accept }, isForBasket || run.links ? [until] : []),
    );
  } catch (error) {
    await endIfUntouched(open, error);
    throw error;
  } finally {
    await run.tidy(open.current);
  }
}
