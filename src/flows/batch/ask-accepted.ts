import type { BatchLine } from '../../domain/batch/line.ts';
import { Psd2Error } from '../../errors.ts';
import { askDebtor, askIfFinal } from '../payment/outcome.ts';
import { isInterruption } from '../refusals.ts';
import { followInBulk } from './bulk.ts';
import { tidy } from './group.ts';
import type { KnownLine } from './known-lines.ts';
import { withLogin } from './outcome.ts';
import type { BatchStore, Payer } from './ports.ts';

/**
 * Asks the bank about the payments of a batch that it has accepted and may still reject, and records what it says.
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
    outcome === 'accepted' && transfer ? [transfer] : [],
  );
  const asked = new Set<string>();
  for (const { flow, bulk, verification, order } of accepted)
    try {
      const payer = await payerOf({ customer: order.customerId });
      const { sca, payments } = payer.bank;
      if (verification)
        await flows.resume('transfer', flow, async (open) => {
          const its = payments.transfer(await withLogin(flows, open.current));
          await askIfFinal(open, { bank: { sca: its.sca ?? sca } });
          await askDebtor(open, its);
          await store.tidy(open.current);
        });
      else if (bulk !== null && payments.bulk && !asked.has(bulk)) {
        asked.add(bulk);
        const bulks = payments.bulk;
        const known = await flows.resume('operation', bulk, async (open) => {
          const { initiation, transactionId } = open.current;
          const its = initiation && bulks.calls({ order, transactionId, initiation });
          await askIfFinal(open, { bank: { sca: its?.sca ?? sca } });
          if (its) await askDebtor(open, its);
          return open.current;
        });
        await followInBulk(store, payer, known);
      }
    } catch (error) {
      if (!(error instanceof Psd2Error) || isInterruption(error)) throw error;
      cannotAsk(flow, error);
    }
  for (const bulk of new Set(accepted.flatMap((transfer) => transfer.bulk ?? [])))
    await tidy(store, await flows.find('operation', bulk));
  return accepted.length > 0;
}
