import type { PaymentCalls } from '../../bank/ports/payment-calls.ts';
import { isAccepted, standingOf } from '../../domain/flow-states.ts';
import { needsSettlement, type Transfer } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import type { GenericOperation } from '../../store/ports/flows.ts';
import { settlementEvent, settlementIn } from '../payment/outcome.ts';
import { lookAt } from '../payment/status.ts';
import { isInterruption } from '../refusals.ts';
import { askUntil } from '../sca.ts';
import { followBasket, isOpenIn, meaningOf, type PaymentSaid } from './follow-basket.ts';
import type { BatchRun, Payer } from './ports.ts';

/**
 * Writes into the transfers of a signing basket what became of them. Once the customer has authorised it, psd2 asks the bank for each
 * until it has executed all, at most for the customer's time.
 *
 * @throws Psd2Error `interrupted` and what the store throws
 */
export async function followInBasket(run: BatchRun, payer: Payer, basket: GenericOperation): Promise<void> {
  const { batches, flows, links } = run;
  const batch = await batches.find(run.batch);
  const ids = (batch.bulks.get(basket.flow) ?? []).flatMap((line) => batch.flows.get(line) ?? []);
  const round = async (): Promise<string[]> => {
    const left: string[] = [];
    for (const flow of ids) {
      const known = await flows.find('transfer', flow);
      if (!isOpenIn(known, basket)) continue;
      const said = await askOf(payer, known, basket);
      if (followBasket(known, basket, said).length > 0)
        await flows.resume('transfer', flow, async (open) => {
          for (const event of followBasket(open.current, basket, said)) await open.record(event);
        });
      const now = await flows.find('transfer', flow);
      // psd2 waits for nothing that the bank has accepted, unless it is instant.
      if (isOpenIn(now, basket) && (!isAccepted(now) || needsSettlement(now.order))) left.push(flow);
    }
    return left;
  };
  if (meaningOf(basket) !== 'authorised') {
    await round();
    return;
  }
  let left: string[] = [];
  const { world, customer } = payer.ports();
  const asked = askUntil(
    world,
    links ? 0 : customer.scaTimeoutMs,
    async () => {
      left = await round();
      return left.length === 0 ? true : null;
    },
    (payer.bank.sca.timing?.pollSeconds ?? POLL_SECONDS) * 1000,
  );
  await run.whileWaiting('Asking the bank what became of the payments', asked, customer.scaTimeoutMs);
  for (const flow of left)
    await flows.resume('transfer', flow, async (open) => {
      const { state } = open.current;
      if (isOpenIn(open.current, basket) && standingOf(open.current) !== 'done' && state !== 'unknown')
        await open.record({ type: 'execute-unanswered' });
    });
}

/** For a bank that does not say how often it may be asked. */
const POLL_SECONDS = 3;

/** What the bank says of a transfer. Null: it has not answered, or nothing of it matters now. */
async function askOf(
  { bank }: Payer,
  transfer: Transfer,
  basket: GenericOperation,
): Promise<PaymentSaid | null> {
  if (meaningOf(basket) === 'not sent' || !transfer.verification) return null;
  const calls = bank.payments.transfer({ ...transfer, authorisedBy: basket.transactionId });
  try {
    if (transfer.state === 'executed' && calls.executionStatus) return await settlementOf(calls, transfer);
    const sca = calls.sca ?? bank.sca;
    return await lookAt({ bank: { sca } }, transfer, true, meaningOf(basket) === 'authorised');
  } catch (error) {
    // What the bank does not say decides nothing.
    if (!(error instanceof Psd2Error) || isInterruption(error)) throw error;
    return null;
  }
}

async function settlementOf(
  { executionStatus }: PaymentCalls,
  transfer: Transfer,
): Promise<PaymentSaid | null> {
  const { verification } = transfer;
  if (!executionStatus || !verification) return null;
  const settlement = settlementIn(await executionStatus(verification.resourceId));
  return settlement.status === 'PENDING' ? null : { found: settlementEvent(settlement, transfer) };
}
