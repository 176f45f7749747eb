import type { Transfer } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import { isInterruption, isOvertaken } from '../refusals.ts';
import { beginGroup, newReturn, type Taken } from './group.ts';
import { BASKET, mayGoIntoBasket, paymentIdsOf } from './group-kinds.ts';
import { throwProblems, transferOf } from './lines.ts';
import { isBeforeAll } from './outcome.ts';
import type { BatchRun } from './ports.ts';
import { isAboutLine, type Share } from './run.ts';
import { initiateLine } from './single.ts';

/**
 * Pays lines in one signing basket: each is a payment of its own, which psd2 initiates, and the customer authorises all of them once.
 *
 * @throws Psd2Error what stopped it
 */
export async function payInBasket(run: BatchRun, share: Share): Promise<void> {
  const { taken, problems } = await initiateAll(run, share);
  const [one, ...others] = taken;
  if (one) {
    const payer = await run.payerOf({ customer: one.order.customerId });
    const { baskets } = payer.bank.payments;
    if (!baskets) throw new TypeError('The bank has no signing baskets');
    const transfers: Transfer[] = [];
    for (const { flow } of taken) transfers.push(await run.flows.find('transfer', flow));
    const ids = paymentIdsOf(transfers);
    const initiation = baskets.initiation(ids, newReturn(payer), payer.world.newId);
    await beginGroup(run, payer, BASKET, { taken: [one, ...others], initiation });
  }
  throwProblems(problems);
}

/** Initiates the payment of each line, unless an earlier run did. @returns also what is wrong with some of them */
async function initiateAll(
  run: BatchRun,
  share: Share,
): Promise<{ taken: Taken[]; problems: Map<number, Psd2Error> }> {
  const taken: Taken[] = [];
  const problems = new Map<number, Psd2Error>();
  for (const line of share) {
    const before = await transferOf(run, line);
    if (before && !isBeforeAll(before) && !mayGoIntoBasket(before)) continue;
    try {
      await initiateLine(run, line);
    } catch (error) {
      const isItsOwn = error instanceof Psd2Error && isAboutLine(error);
      if (!isItsOwn || isInterruption(error) || isOvertaken(error)) throw error;
      problems.set(line.line, error);
    }
    const now = await transferOf(run, line);
    if (now && BASKET.mayJoin(now)) taken.push({ line, order: now.order, flow: now.flow, checked: null });
  }
  return { taken, problems };
}
