import { Psd2Error } from '../../errors.ts';
import { followInBulk } from '../../flows/batch/bulk.ts';
import { tidy } from '../../flows/batch/group.ts';
import { askIfFinal } from '../../flows/payment/outcome.ts';
import { isInterruption } from '../../flows/refusals.ts';
import type { ProfileData } from '../../store/ports/store.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Context } from '../context.ts';
import { withLogin } from '../open/payment-tokens.ts';
import { type KnownBatch, readBatch } from './batches.ts';
import { followed, payers } from './payers.ts';

/** The same for the batch of a transfer that is part of a bulk payment: the bank has no status for it alone. @param id of the batch */
export async function askAcceptedIn(context: Context, id: string): Promise<void> {
  const data = await context.store();
  await askAccepted(context, data, await readBatch(data, id));
}

/**
 * Asks the bank about the payments of a batch that it has accepted and may still reject, and records what it says. If psd2 cannot ask, it
 * says so and goes on.
 *
 * @returns the batch as it is then
 * @throws Psd2Error `interrupted` and what the store throws
 */
export async function askAccepted(
  context: Context,
  data: Pick<ProfileData, 'batches' | 'flows'>,
  before: KnownBatch,
): Promise<KnownBatch> {
  const accepted = before.known.flatMap(({ outcome, transfer }) =>
    outcome === 'accepted' && transfer ? [transfer] : [],
  );
  if (accepted.length === 0) return before;
  const payerOf = payers(context);
  const { batch } = before.batch;
  const store = followed(context, data, batch);
  const asked = new Set<string>();
  for (const { flow, bulk, verification, order } of accepted)
    try {
      const payer = await payerOf({ customer: order.customerId });
      const { bank } = payer;
      const { flows } = data;
      if (verification)
        await flows.resume('transfer', flow, async (open) => {
          const { sca = bank.sca } = bank.payments.transfer(await withLogin(flows, open.current));
          await askIfFinal(open, { bank: { sca } });
          await store.tidy(open.current);
        });
      else if (bulk !== null && bank.payments.bulk && !asked.has(bulk)) {
        asked.add(bulk);
        const { bulk: bulks } = bank.payments;
        const known = await flows.resume('operation', bulk, async (open) => {
          const { initiation, transactionId } = open.current;
          const its = initiation && bulks.calls({ order, transactionId, initiation });
          await askIfFinal(open, { bank: { sca: its?.sca ?? bank.sca } });
          return open.current;
        });
        await followInBulk(store, payer, known);
      }
    } catch (error) {
      if (!(error instanceof Psd2Error) || isInterruption(error)) throw error;
      context.terminal.warn(cleanText(`psd2 could not ask the bank about ${flow}: ${error.message}`));
    }
  for (const bulk of new Set(accepted.flatMap((transfer) => transfer.bulk ?? [])))
    await tidy(store, await data.flows.find('operation', bulk));
  return readBatch(data, batch);
}
