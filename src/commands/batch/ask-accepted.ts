import { askAccepted } from '../../flows/batch/afterwards.ts';
import { type KnownBatch, readBatch } from '../../flows/batch/known-lines.ts';
import type { ProfileData } from '../../store/ports/store.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Context } from '../context.ts';
import { followed, payers } from './payers.ts';

/** Asks the bank about all that it has accepted of the batch of a transfer that is part of a bulk payment: it has no status for it alone. @param id of the batch */
export async function askAcceptedIn(context: Context, id: string): Promise<void> {
  const data = await context.store();
  await askAgain(context, data, await readBatch(data, id));
}

/**
 * Asks the bank about the payments of a batch that it has accepted and may still reject. If psd2 cannot ask, it says so and goes on.
 *
 * @returns the batch as it is then
 * @throws Psd2Error `interrupted` and what the store throws
 */
export async function askAgain(
  context: Context,
  data: Pick<ProfileData, 'batches' | 'flows'>,
  before: KnownBatch,
): Promise<KnownBatch> {
  const { batch } = before.batch;
  const store = followed(context, data, batch);
  const isAny = await askAccepted(store, before.outcomes, payers(context), (flow, { message }) =>
    context.terminal.warn(cleanText(`psd2 could not ask the bank about ${flow}: ${message}`)),
  );
  return isAny ? readBatch(data, batch) : before;
}
