import Big from 'big.js';
import { type Batch, countedApprovals } from '../../domain/batch/batch.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import { Psd2Error } from '../../errors.ts';
import { maxAmountOf, type Profile } from '../../store/machine/settings.ts';

/**
 * How many people other than the one who added it must approve a batch: the setting `approvals`, and one more if it pays more
 * than the largest amount of the profile.
 */
export function neededApprovals(profile: Profile, lines: readonly BatchLine[]): number {
  const { approvals, environment } = profile.settings;
  const usual = Number(approvals ?? (environment === 'production' ? 1 : 0));
  return usual + (isAboveLimit(profile, lines) ? 1 : 0);
}

function isAboveLimit(profile: Profile, lines: readonly BatchLine[]): boolean {
  const limit = maxAmountOf(profile);
  if (limit === null) return false;
  const sums = new Map<string, Big>();
  for (const { currency, amount } of lines)
    sums.set(currency, (sums.get(currency) ?? new Big(0)).plus(amount));
  return [...sums.values()].some((sum) => sum.gt(limit));
}

/** @throws Psd2Error `usage` if the batch was rejected, or too few people have approved its content */
export function refuseUnapproved(profile: Profile, batch: Batch, lines: readonly BatchLine[]): void {
  refuseRejected(batch);
  const needed = neededApprovals(profile, lines);
  const { length } = countedApprovals(batch);
  if (length >= needed) return;
  throw new Psd2Error(
    'usage',
    `The batch needs ${needed} ${needed === 1 ? 'approval' : 'approvals'}, and has ${length}`,
    {
      hint: `psd2 has sent nothing. A person other than ${batch.addedBy} approves it with:`,
      next: [['batch', 'approve', batch.batch]],
    },
  );
}

/** @throws Psd2Error `usage` */
export function refuseRejected({ batch, rejection }: Batch): void {
  if (!rejection) return;
  throw new Psd2Error('usage', `${rejection.by} has rejected the batch: ${rejection.note}`, {
    hint: 'psd2 pays nothing of it. See it with:',
    next: [['batch', 'show', batch]],
  });
}
