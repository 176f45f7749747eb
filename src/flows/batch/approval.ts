import { type Batch, countedApprovals, hasDecided, type Person } from '../../domain/batch/batch.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import { sumsOf } from '../../domain/batch/totals.ts';
import type { Decimal } from '../../domain/decimal.ts';
import { standingOf } from '../../domain/flow-states.ts';
import { Psd2Error } from '../../errors.ts';
import { unlessDamaged } from '../../store/batch/refusals.ts';
import type { Batches, OnDamagedBatch } from '../../store/ports/batches.ts';
import type { Flows } from '../../store/ports/flows.ts';
import { hasLineEnded, type KnownBatch, readLines } from './known-lines.ts';

/** What the settings demand of a batch. */
export interface ApprovalRules {
  /** How many people other than the one who added it approve any batch. */
  usual: number;
  /** One more approves what pays more than this. Null: there is no such amount. @throws Psd2Error `config` */
  limit(): Decimal | null;
}

/**
 * How many people other than the one who added it must approve a batch: the setting `approvals`, and one more if it pays more
 * than the largest amount of the profile. At least as many as its journal says, whatever the settings are on this machine.
 *
 * @param batch null for a new one
 */
export function neededApprovals(
  rules: ApprovalRules,
  batch: Pick<Batch, 'approvalsNeeded'> | null,
  lines: readonly BatchLine[],
): number {
  const bySettings = rules.usual + (isAboveLimit(rules, lines) ? 1 : 0);
  return Math.max(bySettings, batch?.approvalsNeeded ?? 0);
}

function isAboveLimit(rules: ApprovalRules, lines: readonly BatchLine[]): boolean {
  const limit = rules.limit();
  if (limit === null) return false;
  return [...sumsOf(lines).values()].some((sum) => sum.gt(limit));
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
  rules: ApprovalRules,
  { batches, flows }: { batches: Pick<Batches, 'list' | 'lines'>; flows: Flows },
  onDamaged: OnDamagedBatch,
): AsyncGenerator<Unapproved> {
  for await (const batch of batches.list(onDamaged)) {
    if (batch.rejection || batch.cancelled.size === batch.count) continue;
    const { length: has } = countedApprovals(batch);
    // Only the largest amount makes it necessary to read the lines.
    const needsAtLeast = Math.max(rules.usual, batch.approvalsNeeded ?? 0);
    if (rules.limit() === null && has >= needsAtLeast) continue;
    const lines = await unlessDamaged(batch.batch, onDamaged, () => batches.lines(batch));
    if (!lines) continue;
    const needed = neededApprovals(rules, batch, lines);
    if (has >= needed) continue;
    // An approval of what has ended is refused.
    if ((await readLines(flows, batch, lines)).every(({ outcome }) => hasLineEnded(outcome))) continue;
    const totals = [...sumsOf(lines)].map(([currency, sum]) => ({ currency, amount: sum.toFixed(2) }));
    yield { batch: batch.batch, addedAt: batch.addedAt, lines: batch.count, has, needed, totals };
  }
}

/** @throws Psd2Error `usage` if the batch was rejected, or too few people have approved its content */
export function refuseUnapproved(rules: ApprovalRules, batch: Batch, lines: readonly BatchLine[]): void {
  refuseRejected(batch);
  refusePseudonymised(batch);
  const needed = neededApprovals(rules, batch, lines);
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
export function describeApprovals(rules: ApprovalRules, batch: Batch, lines: readonly BatchLine[]): string {
  const approvals = countedApprovals(batch);
  const people = approvals.map(
    ({ by, user, role, machine }) =>
      `${by}, user ${user}${role === null ? '' : `, role ${role}`} at ${machine}`,
  );
  const count = `${approvals.length} of ${neededApprovals(rules, batch, lines)} approvals`;
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

/** @throws Psd2Error `usage` if this person may not decide, or the batch was rejected */
export function refuseDecision(
  batch: Batch,
  person: Person & { role: string | null },
  isApproval: boolean,
): void {
  refuseRejected(batch);
  if (!isApproval || !hasDecided(batch, person)) return;
  throw new Psd2Error(
    'usage',
    `${person.role === null ? person.by : `The database role ${person.role}`} has added or approved this batch, so someone else must approve it`,
    {
      hint:
        person.role === null
          ? 'If you share this system account, identify yourself with --by.'
          : 'Each person needs a database role of their own.',
    },
  );
}

/** @throws Psd2Error `usage` if there is nothing left to decide */
export function refuseEnded({ batch, outcomes }: KnownBatch): void {
  if (!outcomes.every(({ outcome }) => hasLineEnded(outcome))) return;
  throw new Psd2Error('usage', 'Every payment of this batch has ended, so there is nothing left to decide', {
    hint: 'psd2 has recorded nothing. See it with:',
    next: [['batch', 'show', batch.batch]],
  });
}

/** The IBANs of a batch that psd2 has paid before. */
export async function paidBefore(flows: Flows, { lines }: KnownBatch): Promise<ReadonlySet<string>> {
  const payees = new Set<string>(lines.map(({ iban }) => iban));
  const paid = new Set<string>();
  for await (const transfer of flows.list('transfer', { onDamaged: () => {} }))
    if (payees.has(transfer.order.to) && standingOf(transfer) === 'done') paid.add(transfer.order.to);
  return paid;
}

export const BATCH_STATES = ['added', 'approved', 'rejected', 'running', 'done', 'cancelled'] as const;
type BatchState = (typeof BATCH_STATES)[number];

/** What stands before a batch: an approval, its run, the end of its payments, or nothing more. */
export function batchState(rules: ApprovalRules, { batch, lines, outcomes }: KnownBatch): BatchState {
  if (batch.rejection) return 'rejected';
  const ended = outcomes.every(({ outcome }) => hasLineEnded(outcome) && outcome !== 'accepted');
  const hasBegun = outcomes.some(({ row }) => row.state !== 'waiting' && row.state !== 'cancelled');
  if (ended) return hasBegun ? 'done' : 'cancelled';
  if (hasBegun) return 'running';
  const { length } = countedApprovals(batch);
  return length > 0 && length >= neededApprovals(rules, batch, lines) ? 'approved' : 'added';
}
