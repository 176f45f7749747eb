import type { Bank } from '../../bank/ports/bank.ts';
import type { Transfer } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import type { Begin, Flows, Open } from '../../store/ports/flows.ts';
import { recordFound } from '../once.ts';
import { askWhileKept } from '../payment/outcome.ts';
import { isInterruption } from '../refusals.ts';
import { withLogin } from './known-lines.ts';

/**
 * Begins a transfer. If its reference is reserved because a customer had the link of a payment that the bank has cancelled, psd2 first
 * asks the bank whether that link is over.
 *
 * @throws Psd2Error `duplicate_reference` if the reference stays reserved; and what `work` throws
 */
export async function beginTransferFlow(
  flows: Flows,
  bank: Bank,
  begin: Begin<'transfer'>,
  work: (open: Open<'transfer'>) => Promise<void>,
): Promise<void> {
  let hasBegun = false;
  const beginOnce = () =>
    flows.begin('transfer', begin, (open) => {
      hasBegun = true;
      return work(open);
    });
  try {
    await beginOnce();
  } catch (error) {
    const isTaken = !hasBegun && error instanceof Psd2Error && error.code === 'duplicate_reference';
    if (!isTaken || error.flow === undefined || !(await hasChanged(flows, bank, error.flow))) throw error;
    // Either the reference is free now, or the refusal says what the payment has become.
    await beginOnce();
  }
}

/**
 * Asks the bank about the link of a cancelled payment that holds a reference. What psd2 cannot find out changes nothing.
 *
 * @returns whether the link is over now, or the customer has used it
 */
async function hasChanged(flows: Flows, bank: Bank, holder: string): Promise<boolean> {
  try {
    const transfer = await flows.find('transfer', holder);
    if (!hasLinkOut(transfer)) return false;
    const isOverWithAll =
      transfer.bulk !== null && (await isBulksLinkOver(flows, bank, transfer, transfer.bulk));
    const now = await flows.resume('transfer', holder, async (open) => {
      const { sca = bank.sca } = bank.payments.transfer(await withLogin(flows, open.current));
      if (open.current.verification) await askWhileKept(open, { bank: { ...bank, sca } });
      else if (isOverWithAll && hasLinkOut(open.current)) await recordFound(open, { type: 'link-over' });
      return open.current;
    });
    return !hasLinkOut(now);
  } catch (error) {
    if (isInterruption(error)) throw error;
    return false;
  }
}

function hasLinkOut({ state, linkUntil }: Transfer): boolean {
  return state === 'cancelled' && linkUntil !== null;
}

/** Whether the link of a cancelled bulk payment is over. */
async function isBulksLinkOver(
  flows: Flows,
  bank: Bank,
  { order }: Transfer,
  bulk: string,
): Promise<boolean> {
  const now = await flows.resume('operation', bulk, async (open) => {
    const { initiation, transactionId } = open.current;
    const its = initiation && bank.payments.bulk?.calls({ order, transactionId, initiation });
    const { sca = bank.sca } = its ?? {};
    await askWhileKept(open, { bank: { ...bank, sca } });
    return open.current;
  });
  return now.state === 'cancelled' && now.linkUntil === null;
}
