import Big from 'big.js';
import { type Batch, countedApprovals } from '../../domain/batch/batch.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import { Psd2Error } from '../../errors.ts';
import { unlessDamaged } from '../../store/batch/refusals.ts';
import { maxAmountOf, type Profile, usualApprovals } from '../../store/machine/settings.ts';
import type { Batches, OnDamagedBatch } from '../../store/ports/batches.ts';

/**
 * How many people other than the one who added it must approve a batch: the setting `approvals`, and one more if it pays more
 * than the largest amount of the profile. At least as many as its journal says, whatever the settings are on this machine.
 *
 * @param batch null for a new one
 */
export function neededApprovals(
  profile: Profile,
  batch: Pick<Batch, 'approvalsNeeded'> | null,
  lines: readonly BatchLine[],
): number {
  const bySettings = usualApprovals(profile.settings) + (isAboveLimit(profile, lines) ? 1 : 0);
  return Math.max(bySettings, batch?.approvalsNeeded ?? 0);
}

function isAboveLimit(profile: Profile, lines: readonly BatchLine[]): boolean {
  const limit = maxAmountOf(profile);
  if (limit === null) return false;
  return [...sumsOf(lines).values()].some((sum) => sum.gt(limit));
}

/** What lines pay, by currency. */
function sumsOf(lines: readonly BatchLine[]): Map<string, Big> {
  const sums = new Map<string, Big>();
  for (const { currency, amount } of lines)
    sums.set(currency, (sums.get(currency) ?? new Big(0)).plus(amount));
  return sums;
}

/** A batch that waits for approvals. */
export interface Unapproved {
  batch: string;
  addedAt: string;
  lines: number;
  has: number;
  needed: number;
  /** One for each currency. */
  totals: { currency: string; amount: string }[];
}

/**
 * The batches that wait for approvals, newest first, without those that were rejected or cancelled.
 *
 * @param onDamaged called for each that cannot be read
 */
export async function* unapproved(
  profile: Profile,
  batches: Batches,
  onDamaged: OnDamagedBatch,
): AsyncGenerator<Unapproved> {
  for await (const batch of batches.list(onDamaged)) {
    if (batch.rejection || batch.cancelled.size === batch.count) continue;
    const { length: has } = countedApprovals(batch);
    // Only the largest amount makes it necessary to read the lines.
    const known = Math.max(usualApprovals(profile.settings), batch.approvalsNeeded ?? 0);
    if (maxAmountOf(profile) === null && has >= known) continue;
    const lines = await unlessDamaged(batch.batch, onDamaged, () => batches.lines(batch));
    if (!lines) continue;
    const needed = neededApprovals(profile, batch, lines);
    if (has >= needed) continue;
    const totals = [...sumsOf(lines)].map(([currency, sum]) => ({ currency, amount: sum.toFixed(2) }));
    yield { batch: batch.batch, addedAt: batch.addedAt, lines: batch.count, has, needed, totals };
  }
}

/** @throws Psd2Error `usage` if the batch was rejected, or too few people have approved its content */
export function refuseUnapproved(profile: Profile, batch: Batch, lines: readonly BatchLine[]): void {
  refuseRejected(batch);
  refusePseudonymised(batch);
  const needed = neededApprovals(profile, batch, lines);
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

/** Whose approvals a run relies on, for the audit log: `1 of 1 approvals (Ada, user ada, role pisp_ada at ops-1)`. */
export function describeApprovals(profile: Profile, batch: Batch, lines: readonly BatchLine[]): string {
  const approvals = countedApprovals(batch);
  const people = approvals.map(
    ({ by, user, role, machine }) =>
      `${by}, user ${user}${role === null ? '' : `, role ${role}`} at ${machine}`,
  );
  const count = `${approvals.length} of ${neededApprovals(profile, batch, lines)} approvals`;
  return people.length === 0 ? count : `${count} (${people.join('; ')})`;
}

/** The lines are no longer those that were approved. @throws Psd2Error `usage` */
function refusePseudonymised({ batch, pseudonymised }: Batch): void {
  if (pseudonymised.size === 0) return;
  throw new Psd2Error('usage', 'psd2 has forgotten a customer of the batch, so it pays nothing of it', {
    hint: 'See what was paid with:',
    next: [['batch', 'show', batch]],
  });
}

/** @throws Psd2Error `usage` */
export function refuseRejected({ batch, rejection }: Batch): void {
  if (!rejection) return;
  throw new Psd2Error('usage', `${rejection.by} has rejected the batch: ${rejection.note}`, {
    hint: 'psd2 pays nothing of it. See it with:',
    next: [['batch', 'show', batch]],
  });
}
