import { createHash } from 'node:crypto';
import { commandOf } from '../../advice.ts';
import type { Context } from '../context.ts';
import { notifyOnce } from '../shared/notify-once.ts';
import type { SyncTally } from './report.ts';

/**
 * Tells the operator's command (`PSD2_NOTIFY`) that a round has failed for customers: once, and again if it fails for others, or for
 * another reason.
 *
 * @param one the customer of a sync without `--all-customers`
 */
export async function notifyOfFailed(
  context: Context,
  tally: SyncTally,
  one: string | undefined,
): Promise<void> {
  const key = `sync ${one ?? 'all'}`;
  const failures = tally.reports.flatMap(({ customerId, errors }) =>
    errors.map(({ productId, code, message }) => ({ customerId, productId, code, message })),
  );
  const [first] = failures;
  const { name: profile } = context.profile();
  const content = first && {
    kind: 'sync',
    customerId: one ?? null,
    failed: tally.incomplete,
    customers: tally.totals.customers,
    code: first.code,
    message: first.message,
    failures: failures.slice(0, MAX_FAILURES),
    next: commandOf(['sync', 'status', '--failed'], { profile }),
  };
  const which = failures
    .map(({ customerId, productId, code }) => `${customerId} ${productId} ${code}\n`)
    .sort();
  const version = createHash('sha256').update(which.join('')).digest('hex');
  await notifyOnce(context, content ? [{ key, version, content }] : [], (sent) => !content && sent === key);
}

const MAX_FAILURES = 20;
