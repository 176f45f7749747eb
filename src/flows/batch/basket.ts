import type { Baskets } from '../../bank/ports/basket.ts';
import type { PaymentCalls } from '../../bank/ports/payment-calls.ts';
import { isAccepted, standingOf } from '../../domain/flow-states.ts';
import { nextOperationStep } from '../../domain/next-step.ts';
import { needsSettlement, type Transfer } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import type { Flows, GenericOperation } from '../../store/ports/flows.ts';
import { giveUpUnauthorised } from '../payment/cancel.ts';
import { askDebtor, lacksDebtor, settlementEvent, settlementIn } from '../payment/outcome.ts';
import { askBank } from '../payment/status.ts';
import { isInterruption, isOvertaken } from '../refusals.ts';
import { askUntil } from '../sca.ts';
import {
  basketMeaning,
  followBasket,
  isOpenIn,
  isWithoutLink,
  type PaymentSaid,
  SIGNING_BASKET,
} from './follow-basket.ts';
import { beginGroup, type GroupKind, sendGroup, storedInitiation, type Taken, writeDown } from './group.ts';
import { isBeforeAll, linesOfGroup } from './known-lines.ts';
import { throwProblems, transferOf } from './lines.ts';
import type { BatchRun, Following, Payer } from './ports.ts';
import { isAboutLine, type Share } from './run.ts';
import { newReturn } from './send.ts';
import { initiateLine } from './single.ts';

/** A payment of its own for each line, which psd2 initiates, and one authorisation for all. */
export const BASKET: GroupKind = {
  operation: SIGNING_BASKET,
  take: takeIntoBasket,
  async send(run, payer, open, sending) {
    try {
      await sendGroup(BASKET, run, payer, open, sending);
    } catch (error) {
      if (error instanceof Psd2Error && error.code === 'invalid_amount')
        await cancelAlone(run, payer, open.current, error);
      throw error;
    }
  },
  follow: followInBasket,
  async leave(open) {
    if (isWithoutLink(open.current)) await open.record({ type: 'cancelled' });
  },
  calls(payer, operation) {
    const { transactionId } = operation;
    return basketsOf(payer, operation).calls({ transactionId, initiation: storedInitiation(operation) });
  },
  async refuseOther(payer, operation, transfers) {
    basketsOf(payer, operation).refuseOther(paymentIdsOf(transfers), storedInitiation(operation));
  },
  mayJoin: waitsForBasket,
};

/** @throws Psd2Error `config` */
function basketsOf({ bank }: Pick<Payer, 'bank'>, { flow }: GenericOperation): Baskets {
  const { baskets } = bank.payments;
  if (baskets) return baskets;
  throw new Psd2Error('config', 'The bank no longer has signing baskets', { flow });
}

/** The bank's ids of the payments that go into a basket. */
export function paymentIdsOf(transfers: readonly Transfer[]): string[] {
  return transfers.flatMap(({ verification }) => verification?.resourceId ?? []);
}

/** Whether a transfer of an earlier run is at the bank, or on its way there, and psd2 has not begun to authorise it. */
export function mayGoIntoBasket(transfer: Transfer): boolean {
  const { bulk, initiation, verification, state, authorisations, links } = transfer;
  // A bank may begin one with the initiation. Nobody has its link.
  const begunByBank = links?.redirect === undefined && links?.oauth === undefined ? 0 : 1;
  const isOnItsWay = state === 'executing' && verification === null;
  const isAtStart = state === 'created' || isOnItsWay || state === 'verified';
  return bulk === null && initiation !== null && isAtStart && authorisations.length <= begunByBank;
}

/** Whether the bank has a payment that psd2 has not begun to authorise. */
function waitsForBasket(transfer: Transfer): boolean {
  const step = nextOperationStep(transfer, needsSettlement(transfer.order));
  return mayGoIntoBasket(transfer) && step === 'authorize';
}

/** The signing basket that a transfer is in and that nobody has the link of. Null: it is in none, or its basket cannot be read. */
export async function basketWithoutLink(
  flows: Pick<Flows, 'find'>,
  { bulk, initiation }: Transfer,
): Promise<GenericOperation | null> {
  if (bulk === null || !initiation) return null;
  try {
    const basket = await flows.find('operation', bulk);
    return isWithoutLink(basket) ? basket : null;
  } catch (error) {
    if (isInterruption(error)) throw error;
    return null;
  }
}

async function takeIntoBasket(run: BatchRun, share: Share): Promise<void> {
  const { taken: initiated, problems } = await initiateAll(run, share);
  const [one, ...others] = initiated;
  if (one && run.initiations.alike === null) {
    const payer = await run.payerOf({ customer: one.order.customerId });
    const { baskets } = payer.bank.payments;
    if (!baskets) throw new TypeError('The bank has no signing baskets');
    const transfers: Transfer[] = [];
    for (const { flow } of initiated) transfers.push(await run.flows.find('transfer', flow));
    const ids = paymentIdsOf(transfers);
    const initiation = baskets.initiation(ids, newReturn(payer), payer.world.newId);
    await beginGroup(run, payer, BASKET, { payments: [one, ...others], initiation });
  }
  throwProblems(problems);
}

/** Initiates the payment of each line, unless an earlier run did. @returns also what is wrong with some of them */
async function initiateAll(
  run: BatchRun,
  share: Share,
): Promise<{ taken: Taken[]; problems: Map<number, Psd2Error> }> {
  const initiated: Taken[] = [];
  const problems = new Map<number, Psd2Error>();
  for (const line of share) {
    if (run.initiations.alike !== null) break;
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
    if (now && waitsForBasket(now)) initiated.push({ line, order: now.order, flow: now.flow, checked: null });
  }
  return { taken: initiated, problems };
}

/**
 * Writes into the transfers of a signing basket what became of them. Once the customer has authorised it, psd2 asks the bank for each
 * until it has executed all, at most for the customer's time.
 *
 * @throws Psd2Error `interrupted` and what the store throws
 */
async function followInBasket(run: Following, payer: Payer, basket: GenericOperation): Promise<void> {
  const { flows, links } = run;
  const lines = linesOfGroup(await run.batches.find(run.batch), basket.flow);
  const round = async (): Promise<string[]> => {
    const left: string[] = [];
    for (const { flow } of lines) {
      const earlier = await flows.find('transfer', flow);
      if (!isOpenIn(earlier, basket)) continue;
      const bankStatus = await askOf(payer, earlier, basket);
      await writeDown(run, earlier, (transfer) => followBasket(transfer, basket, bankStatus));
      await nameDebtor(run, payer, earlier.flow, basket);
      const now = await flows.find('transfer', flow);
      // psd2 waits for nothing that the bank has accepted, unless it is instant.
      if (isOpenIn(now, basket) && (!isAccepted(now) || needsSettlement(now.order))) left.push(flow);
    }
    return left;
  };
  if (basketMeaning(basket) !== 'authorised') {
    await round();
    return;
  }
  let left: string[] = [];
  const { world, customer } = payer.ports();
  const polling = askUntil(
    world,
    links ? 0 : customer.scaTimeoutMs,
    async () => {
      left = await round();
      return left.length === 0 ? true : null;
    },
    (payer.bank.sca.timing?.pollSeconds ?? POLL_SECONDS) * 1000,
  );
  await run.whileWaiting('Asking the bank what became of the payments', polling, customer.scaTimeoutMs);
  for (const flow of left)
    await flows.resume('transfer', flow, async (open) => {
      const { state } = open.current;
      if (isOpenIn(open.current, basket) && standingOf(open.current) !== 'done' && state !== 'unknown')
        await open.record({ type: 'execute-unanswered' });
    });
}

/** Records the account that the customer has chosen for a payment that names none. */
async function nameDebtor(
  { flows }: Following,
  { bank }: Payer,
  flow: string,
  { transactionId: authorisedBy }: GenericOperation,
): Promise<void> {
  if (!lacksDebtor(await flows.find('transfer', flow))) return;
  await flows.resume('transfer', flow, (open) =>
    askDebtor({ open, calls: bank.payments.transfer({ ...open.current, authorisedBy }) }),
  );
}

/** For a bank that does not say how often it may be asked. */
const POLL_SECONDS = 3;

/** Has the bank cancel the payments of a basket that it has deleted. @param why psd2 does not go on with them */
async function cancelAlone(
  run: Following,
  payer: Payer,
  { flow }: GenericOperation,
  why: Psd2Error,
): Promise<void> {
  for (const line of linesOfGroup(await run.batches.find(run.batch), flow))
    await run.flows.resume('transfer', line.flow, async (open) => {
      const { bulk, state } = open.current;
      if (bulk !== null || state !== 'verified') return;
      try {
        await giveUpUnauthorised(open, payer.bank.payments.transfer(open.current), payer.ports(), why);
      } catch (error) {
        if (!(error instanceof Psd2Error) || error.code !== why.code) throw error;
      }
    });
}

/** What the bank says of a transfer. Null: it has not answered, or nothing of it matters now. */
async function askOf(
  { bank }: Payer,
  transfer: Transfer,
  basket: GenericOperation,
): Promise<PaymentSaid | null> {
  if (basketMeaning(basket) === 'not sent' || !transfer.verification) return null;
  const calls = bank.payments.transfer({ ...transfer, authorisedBy: basket.transactionId });
  try {
    if (transfer.state === 'executed' && calls.executionStatus) return await askSettlement(calls, transfer);
    const sca = calls.sca ?? bank.sca;
    const isInAuthorisedBasket = basketMeaning(basket) === 'authorised';
    return await askBank(sca, transfer, { decides: true, isInAuthorisedBasket });
  } catch (error) {
    // What the bank does not say decides nothing.
    if (!(error instanceof Psd2Error) || isInterruption(error)) throw error;
    return null;
  }
}

async function askSettlement(
  { executionStatus }: PaymentCalls,
  transfer: Transfer,
): Promise<PaymentSaid | null> {
  const { verification } = transfer;
  if (!executionStatus || !verification) return null;
  const settlement = settlementIn(await executionStatus(verification.resourceId));
  return settlement.status === 'PENDING' ? null : { event: settlementEvent(settlement, transfer) };
}
