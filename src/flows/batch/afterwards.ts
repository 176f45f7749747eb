import type { PsuIdentification } from '../../bank/ports/call.ts';
import type { Batch, Person } from '../../domain/batch/batch.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import { isAccepted, isBanksToCancel, isOpen, standingOf } from '../../domain/flow-states.ts';
import type { Transfer } from '../../domain/transfer.ts';
import { endSentence, Psd2Error } from '../../errors.ts';
import { hashOf } from '../../store/batch/refusals.ts';
import type { Batches } from '../../store/ports/batches.ts';
import type { Flows, GenericOperation } from '../../store/ports/flows.ts';
import { askDebtor, askIfFinal, askWhileKept } from '../payment/outcome.ts';
import { isInterruption } from '../refusals.ts';
import { basketWithoutLink, mayGoIntoBasket } from './basket.ts';
import { BULK, followInBulk } from './bulk.ts';
import { isPartial } from './follow-bulk.ts';
import { tidy } from './group.ts';
import { isBeforeAll, type KnownBatch, type KnownLine, referenceOf, withLogin } from './known-lines.ts';
import { groupKindOf } from './pay-share.ts';
import type { BatchStore, Following, Payer } from './ports.ts';

// What is done about a batch besides its run.

/**
 * Asks the bank about the payments of a batch that it has accepted and may still reject, and about those whose link may work although it
 * has cancelled them. Records what it says.
 *
 * @param cannotAsk called with what stopped psd2 from asking about a transfer. It goes on with the others
 * @returns whether there are any
 * @throws Psd2Error `interrupted` and what the store throws
 */
export async function askAccepted(
  store: BatchStore,
  lines: readonly KnownLine[],
  payerOf: (line: Pick<BatchLine, 'customer'>) => Promise<Payer>,
  cannotAsk: (flow: string, why: Psd2Error) => void,
): Promise<boolean> {
  const { flows } = store;
  const accepted = lines.flatMap(({ outcome, transfer }) =>
    (outcome === 'accepted' || outcome === 'kept') && transfer ? [transfer] : [],
  );
  const askedBulks = new Set<string>();
  for (const { flow, bulk, verification, order } of accepted)
    try {
      const payer = await payerOf({ customer: order.customerId });
      const { sca, payments } = payer.bank;
      if (verification)
        await flows.resume('transfer', flow, async (open) => {
          const its = payments.transfer(await withLogin(flows, open.current));
          await askIfFinal(open, { bank: { sca: its.sca ?? sca } });
          await askWhileKept(open, { bank: { ...payer.bank, sca: its.sca ?? sca } });
          await askDebtor({ open, calls: its });
          await store.tidy(open.current);
        });
      else if (bulk !== null && payments.bulk && !askedBulks.has(bulk)) {
        askedBulks.add(bulk);
        const bulks = payments.bulk;
        const bulkPayment = await flows.resume('operation', bulk, async (open) => {
          const { initiation, transactionId } = open.current;
          const its = initiation && bulks.calls({ order, transactionId, initiation });
          await askIfFinal(open, { bank: { sca: its?.sca ?? sca } });
          await askWhileKept(open, { bank: { ...payer.bank, sca: its?.sca ?? sca } });
          if (its) await askDebtor({ open, calls: its });
          return open.current;
        });
        await followInBulk(store, async () => payer, bulkPayment);
      }
    } catch (error) {
      if (!(error instanceof Psd2Error) || isInterruption(error)) throw error;
      cannotAsk(flow, error);
    }
  for (const bulk of new Set(accepted.flatMap((transfer) => transfer.bulk ?? [])))
    await tidy(store, await flows.find('operation', bulk));
  return accepted.length > 0;
}

/** Cancels the lines for which nothing was sent. @returns the batch after that, and whether there are any */
export function cancelUnsent(
  { batches }: Pick<BatchStore, 'batches'>,
  { batch, lines: all, outcomes }: KnownBatch,
  person: Person,
): Promise<{ batch: Batch; recorded: boolean }> {
  // Transfers that ended before anything of them was sent, by their lines.
  const begunInVain = new Map(
    outcomes.flatMap(({ line, transfer }) =>
      transfer && isBeforeAll(transfer) ? [[line.line, transfer.flow] as const] : [],
    ),
  );
  return batches.change(batch.batch, (now) => {
    const lines = all
      .map(({ line }) => line)
      .filter((line) => !now.refused.has(line) && !now.cancelled.has(line))
      .filter((line) => now.flows.get(line) === begunInVain.get(line));
    return lines.length === 0 ? null : { type: 'lines-cancelled', lines, ...person };
  });
}

/**
 * Whether a bulk payment or signing basket can be cancelled as a whole: nobody has its link, or it waits at the bank. A bulk payment also
 * after its SCA, until the bank calls it final. The payments of a basket are alone then.
 */
function canBeCancelled(group: GenericOperation): boolean {
  if (isOpen(group)) return true;
  const isAcceptedBulk = groupKindOf(group) === BULK && isAccepted(group) && !isPartial(group);
  return isBanksToCancel(group) && (standingOf(group) === 'sent' || isAcceptedBulk);
}

/**
 * Cancels the bulk payments of a batch at the bank, and deletes its signing baskets there. Their customers may have to authorise that. The
 * payments follow what the bank says then: those of a basket stay at the bank, each alone.
 *
 * @param person who authorises that now, if it is not the customer
 * @returns why some are not cancelled, by their ids; and whether any are
 * @throws Psd2Error `interrupted` and what the store throws
 */
export async function cancelGroups(
  store: Following,
  { bulks }: Batch,
  payerOf: (line: Pick<BatchLine, 'customer'>) => Promise<Payer>,
  person: PsuIdentification | undefined,
): Promise<{ problems: Map<string, Psd2Error>; isAny: boolean }> {
  const problems = new Map<string, Psd2Error>();
  let isAny = false;
  for (const flow of bulks.keys()) {
    const group = await store.flows.find('operation', flow);
    if (!canBeCancelled(group)) continue;
    try {
      await cancelGroup(store, await payerOf({ customer: group.order.customerId }), flow, person);
      isAny = true;
    } catch (error) {
      if (!(error instanceof Psd2Error) || isInterruption(error)) throw error;
      problems.set(flow, error);
    }
  }
  return { problems, isAny };
}

async function cancelGroup(
  store: Following,
  payer: Payer,
  flow: string,
  person: PsuIdentification | undefined,
): Promise<void> {
  const follow = async () => {
    const now = await store.flows.find('operation', flow);
    await groupKindOf(now).follow(store, payer, now);
    await tidy(store, now);
  };
  try {
    await store.flows.resume('operation', flow, async (open) => {
      if (isBanksToCancel(open.current)) await payer.cancelGroupAtBank(open, person);
      else if (isOpen(open.current)) await open.record({ type: 'cancelled' });
    });
  } catch (error) {
    // What stopped it counts more than what else goes wrong now.
    if (!isInterruption(error)) await follow();
    throw error;
  }
  await follow();
}

/**
 * Cancels the payments that no customer has a link for alone, because there is no signing basket, or none any more. What the bank does not cancel stays as it is.
 *
 * @param cannotCancel called with what stopped psd2 from cancelling a payment. It goes on with the others
 * @returns whether there are any
 */
export async function cancelWithoutBasket(
  { flows, tidy }: Pick<BatchStore, 'flows' | 'tidy'>,
  outcomes: readonly KnownLine[],
  payerOf: (line: Pick<BatchLine, 'customer'>) => Promise<Pick<Payer, 'cancelAtBank'>>,
  cannotCancel: (line: BatchLine, why: Psd2Error) => void,
): Promise<boolean> {
  let isAny = false;
  for (const { line, transfer } of outcomes) {
    if (!transfer || !(await lacksBasket(flows, transfer))) continue;
    isAny = true;
    try {
      const payer = await payerOf({ customer: transfer.order.customerId });
      await flows.resume('transfer', transfer.flow, async (open) => {
        if (!(await lacksBasket(flows, open.current))) return;
        try {
          if (isBanksToCancel(open.current)) await payer.cancelAtBank(open);
          else if (isOpen(open.current)) await open.record({ type: 'cancelled' });
        } finally {
          await tidy(open.current);
        }
      });
    } catch (error) {
      if (!(error instanceof Psd2Error) || isInterruption(error)) throw error;
      cannotCancel(line, error);
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

/**
 * The payments of a batch that were surely not paid, as lines of a new one. Each keeps its reference.
 *
 * @returns also their payee checks, and whether the new batch has the content of the old one
 * @throws Psd2Error `usage` if there are none
 */
export function unpaidOf({ batch, outcomes }: Pick<KnownBatch, 'batch' | 'outcomes'>) {
  const lines = outcomes
    .filter(({ outcome }) => outcome === 'not paid')
    .map(({ line }, index) => ({ ...line, line: index + 1, reference: referenceOf(batch, line) }));
  const numbers = outcomes.flatMap(({ line, outcome }) => (outcome === 'not paid' ? [line.line] : []));
  if (lines.length === 0)
    throw new Psd2Error('usage', 'There is nothing to retry: no payment is known to have failed', {
      hint: hintFor(outcomes),
      next: [['batch', 'report', batch.batch]],
    });
  // Lines that failed again have the content of the batch that failed.
  const again = lines.length === outcomes.length && outcomes.every(({ line }) => line.reference !== null);
  const payees = batch.payees
    .filter(({ line }) => numbers.includes(line))
    .map((check) => ({ ...check, line: numbers.indexOf(check.line) + 1 }));
  return { lines, payees, again };
}

/** An earlier retry has the same payments. @throws Psd2Error `usage` */
export async function refuseSame(batches: Batches, lines: readonly BatchLine[]): Promise<void> {
  const content = hashOf(lines);
  for await (const { batch } of batches.list(() => {}))
    if (batch === content)
      throw new Psd2Error('usage', `The batch ${batch} has these payments already`, {
        hint: 'psd2 has stored nothing. Run that batch. Once it has ended, retry that one. See it with:',
        next: [['batch', 'show', batch]],
      });
}

function hintFor(outcomes: readonly KnownLine[]): string {
  const refused = outcomes.find(({ outcome }) => outcome === 'refused');
  const linkReason = outcomes.find(({ outcome }) => outcome === 'kept')?.row.reason ?? null;
  const ended = refused
    ? ` The bank refused payment ${refused.line.line} without confirming that no money moved. Once you know that none did, run psd2 transfer resolve --not-executed.`
    : '';
  const reserved = linkReason === null ? '' : ` ${endSentence(linkReason)}`;
  return `psd2 has stored nothing.${ended}${reserved} See its payments with:`;
}
