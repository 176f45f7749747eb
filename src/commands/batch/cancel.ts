import { isOpen } from '../../domain/flow-states.ts';
import type { Transfer } from '../../domain/transfer.ts';
import { endSentence, Psd2Error } from '../../errors.ts';
import { basketWithoutLink, mayGoIntoBasket } from '../../flows/batch/basket.ts';
import { endSettledGroups } from '../../flows/batch/end-groups.ts';
import { hasEnded, isBeforeAll } from '../../flows/batch/outcome.ts';
import { isInterruption } from '../../flows/refusals.ts';
import { actorOf } from '../../store/machine/actor.ts';
import type { Flows } from '../../store/ports/flows.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Context } from '../context.ts';
import { examples, verb } from '../declare.ts';
import { isBanksToCancel } from '../flow/cancel.ts';
import { confirmed } from '../shared/confirmed.ts';
import { TRANSFERS } from '../transfer/transfers.ts';
import { BATCH, batchData, type KnownBatch, printBatch, readBatch } from './batches.ts';
import { payers } from './payers.ts';
import { auditBatch, personOf } from './person.ts';
import type { KnownLine } from './rows.ts';

/** `psd2 batch cancel <batch>` */
export const cancel = verb(
  {
    prints: BATCH,
    help: `
Cancels the payments for which nothing was sent, and at the bank those that were to go into a signing basket which the bank has refused
or not answered: nobody has a link to authorise them. psd2 names the others that have not ended. As long as that is possible, psd2
transfer cancel cancels each of them alone. It cannot cancel what is in a bulk payment: only the customer can refuse that.
${examples('psd2 batch cancel 3f2a9c --yes')}`,
  },
  (command) => command.argument('<batch>', 'id of the batch, or the beginning of it'),
  async (context, reference) => {
    const data = await context.store();
    const known = await readBatch(data, reference);
    await confirmed(context, {
      text: `Cancel all payments of ${known.batch.batch} for which nothing was sent?`,
      unasked: 'Cancelling a batch needs a confirmation',
      hint: 'Add --yes to confirm in advance. psd2 has cancelled nothing.',
      declined: 'psd2 has cancelled nothing',
    });
    const person = personOf(context, undefined);
    // Transfers that ended before anything of them was sent, by their lines.
    const begunInVain = new Map(
      known.known.flatMap(({ line, transfer }) =>
        transfer && isBeforeAll(transfer) ? [[line.line, transfer.flow] as const] : [],
      ),
    );
    const { batch, recorded } = await data.batches.change(known.batch.batch, (now) => {
      const lines = known.lines
        .map(({ line }) => line)
        .filter((line) => !now.refused.has(line) && !now.cancelled.has(line))
        .filter((line) => now.flows.get(line) === begunInVain.get(line));
      return lines.length === 0 ? null : { type: 'lines-cancelled', lines, ...person };
    });
    if (recorded) await auditBatch(data, 'cancelled', batch, person);
    if (await cancelWithoutBasket(context, data.flows, known)) {
      const { operator, machine } = actorOf(context.env);
      await endSettledGroups(data, batch.batch, `${operator}@${machine}`);
      if (!recorded) await auditBatch(data, 'cancelled', batch, person);
    }
    const after = await readBatch(data, batch.batch);
    printBatch(context, batchData(context.profile(), after));
    const others = after.known.filter(({ outcome }) => !hasEnded(outcome));
    if (others.length > 0) throw notCancelled(after, others);
  },
);

/**
 * Cancels the payments that nobody has a link for, because there is no signing basket. What the bank does not cancel stays as it is.
 *
 * @returns whether there are any
 */
async function cancelWithoutBasket(context: Context, flows: Flows, { known }: KnownBatch): Promise<boolean> {
  const payerOf = payers(context);
  let isAny = false;
  for (const { line, transfer } of known) {
    if (!transfer || !(await lacksBasket(flows, transfer))) continue;
    isAny = true;
    try {
      const { context: own, opened } = await payerOf({ customer: transfer.order.customerId });
      await opened.flows.resume('transfer', transfer.flow, async (open) => {
        if (!(await lacksBasket(flows, open.current))) return;
        try {
          if (isBanksToCancel(open.current))
            await TRANSFERS.cancelAtBank?.(own, opened, open, { paste: false });
          else if (isOpen(open.current)) await open.record({ type: 'cancelled' });
        } finally {
          await TRANSFERS.tidy?.(own, open.current);
        }
      });
    } catch (error) {
      if (!(error instanceof Psd2Error) || isInterruption(error)) throw error;
      context.terminal.warn(cleanText(`Payment ${line.line}: ${endSentence(error.message)}`));
    }
  }
  return isAny;
}

/** Whether the bank has a payment that was to go into a signing basket, and nobody has a link to authorise it. */
async function lacksBasket(flows: Flows, transfer: Transfer): Promise<boolean> {
  if (!transfer.initiation?.forBasket || !transfer.verification) return false;
  return transfer.bulk === null
    ? mayGoIntoBasket(transfer)
    : (await basketWithoutLink(flows, transfer)) !== null;
}

/** The error for payments that have begun and have not ended. */
function notCancelled({ batch }: KnownBatch, others: readonly KnownLine[]): Psd2Error {
  const count = batch.cancelled.size;
  const cancelled =
    count === 0
      ? 'psd2 has cancelled no payment.'
      : `${count === 1 ? '1 payment is' : `${count} payments are`} cancelled.`;
  const inBulk = others.filter(isInBulk);
  const alone = others.filter((other) => !isInBulk(other));
  const words = [
    cancelled,
    inBulk.length > 0 &&
      'psd2 cannot cancel what is in a bulk payment. Until the customer has authorised it, they can refuse it: psd2 batch run records that.',
    alone.length > 0
      ? `As long as nothing irreversible was sent${inBulk.length > 0 ? ' for the others' : ''}:`
      : 'See the payments with:',
  ];
  return new Psd2Error(
    'usage',
    `${others.length === 1 ? 'One payment has begun and has' : `${others.length} payments have begun and have`} not ended: ${others
      .map(({ row }) => `line ${row.line} is ${row.state}`)
      .slice(0, 10)
      .join(', ')}`,
    {
      hint: words.filter(Boolean).join(' '),
      next:
        alone.length > 0
          ? alone.slice(0, 5).flatMap(({ row }) => (row.flow ? [['transfer', 'cancel', row.flow]] : []))
          : [['batch', 'status', batch.batch]],
    },
  );
}

/** The bank has one payment for all that are in a bulk payment. In a signing basket, each has its own. */
function isInBulk({ transfer }: KnownLine): boolean {
  return transfer !== undefined && transfer.bulk !== null && transfer.initiation === null;
}
