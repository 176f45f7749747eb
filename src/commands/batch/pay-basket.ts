import type { Transfer } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import { isAboutLine, type Share } from '../../flows/batch.ts';
import { isInterruption, isOvertaken } from '../../flows/refusals.ts';
import { beginJoint, newReturn, type Taken } from './joint.ts';
import { BASKET, mayGoIntoBasket, paymentIdsOf } from './joint-kinds.ts';
import { initiateLine } from './pay-line.ts';
import { type LinePayment, throwProblems, transferOf } from './prepare-line.ts';
import { isBeforeAll } from './rows.ts';

/**
 * Pays lines in one signing basket: each is a payment of its own, which psd2 initiates, and the customer authorises all of them once.
 *
 * @throws Psd2Error what stopped it
 */
export async function payInBasket(payment: LinePayment, share: Share): Promise<void> {
  const { taken, problems } = await initiateAll(payment, share);
  const [one, ...others] = taken;
  if (one) {
    const payer = await payment.payerOf({ customer: one.order.customerId });
    const { baskets } = payer.opened.bank.payments;
    if (!baskets) throw new TypeError('The bank has no signing baskets');
    const transfers: Transfer[] = [];
    for (const { flow } of taken) transfers.push(await payment.flows.find('transfer', flow));
    const ids = paymentIdsOf(transfers);
    const initiation = baskets.initiation(ids, newReturn(payer), payer.context.world.newId);
    await beginJoint(payment, payer, BASKET, { taken: [one, ...others], initiation });
  }
  throwProblems(problems);
}

/** Initiates the payment of each line, unless an earlier run did. @returns also what is wrong with some of them */
async function initiateAll(
  payment: LinePayment,
  share: Share,
): Promise<{ taken: Taken[]; problems: Map<number, Psd2Error> }> {
  const taken: Taken[] = [];
  const problems = new Map<number, Psd2Error>();
  for (const line of share) {
    const before = await transferOf(payment, line);
    if (before && !isBeforeAll(before) && !mayGoIntoBasket(before)) continue;
    try {
      await initiateLine(payment, line);
    } catch (error) {
      const isItsOwn = error instanceof Psd2Error && isAboutLine(error);
      if (!isItsOwn || isInterruption(error) || isOvertaken(error)) throw error;
      problems.set(line.line, error);
    }
    const now = await transferOf(payment, line);
    if (now && BASKET.mayJoin(now)) taken.push({ line, order: now.order, flow: now.flow, checked: null });
  }
  return { taken, problems };
}
