import * as z from 'zod/mini';
import type { CustomerReads, FailedRead, OutdatedCustomer, ReadResult } from './ports/read-results.ts';

/** How long a failure is kept. */
const KEPT_MS = 30 * 86_400_000;

/** What a backend keeps of the reads of one customer. */
export const customerReads = z.object({
  /** When psd2 last read all accounts that are not in `failed`; null if never. */
  readAt: z.nullable(z.string()),
  failed: z.array(
    z.object({
      productId: z.nullable(z.string()),
      code: z.string(),
      message: z.string(),
      since: z.string(),
      failures: z.int(),
      lastFailedAt: z.string(),
      lastReadAt: z.nullable(z.string()),
    }),
  ),
  doubts: z._default(
    z.array(
      z.object({
        productId: z.string(),
        at: z.string(),
        message: z.string(),
        complete: z.boolean(),
        balanced: z.nullable(z.boolean()),
        difference: z.nullable(z.string()),
        certainFrom: z.nullable(z.string()),
      }),
    ),
    [],
  ),
});
type Failed = CustomerReads['failed'][number];

/** Whether an account was not read since it last failed. */
export function isStillFailing({
  lastFailedAt,
  lastReadAt,
}: Pick<Failed, 'lastFailedAt' | 'lastReadAt'>): boolean {
  return lastReadAt === null || lastReadAt < lastFailedAt;
}

/** Adds the result of a sync to what is kept. Forgets failures that are older than 30 days. */
export function addResult(before: CustomerReads | undefined, result: ReadResult): CustomerReads {
  const { at, failures, skipped } = result;
  const { readAt, failed: earlierFailed, doubts } = before ?? { readAt: null, failed: [], doubts: [] };
  const failedNow = new Set(failures.map(({ productId }) => productId));
  const isRead = (productId: string | null) =>
    !failedNow.has(null) && (productId === null || !skipped.includes(productId));
  const forgottenBefore = new Date(Date.parse(at) - KEPT_MS).toISOString();
  const others = earlierFailed
    .filter(({ productId, lastFailedAt }) => !failedNow.has(productId) && lastFailedAt >= forgottenBefore)
    .map((each) => (isRead(each.productId) ? { ...each, lastReadAt: at } : each));
  const added = failures.map(({ productId, code, message }): Failed => {
    const old = earlierFailed.find((each) => each.productId === productId);
    const isRow = old !== undefined && isStillFailing(old);
    return {
      productId,
      code,
      message,
      lastFailedAt: at,
      lastReadAt: old ? old.lastReadAt : readAt,
      since: isRow ? old.since : at,
      // The same result may come twice, if an answer of the store was lost.
      failures: isRow ? old.failures + (old.lastFailedAt === at ? 0 : 1) : 1,
    };
  });
  const readsAll = !failedNow.has(null) && skipped.length === 0;
  const newDoubts = (result.doubts ?? []).map((doubt) => ({ ...doubt, at }));
  const isFound = new Set(newDoubts.map(({ productId }) => productId));
  const otherDoubts = doubts.filter(
    ({ productId }) => !isFound.has(productId) && (!isRead(productId) || failedNow.has(productId)),
  );
  return {
    readAt: readsAll ? at : readAt,
    failed: [...others, ...added],
    doubts: [...otherDoubts, ...newDoubts],
  };
}

/** What has failed since a time. */
export function failedSince(customerId: string, { failed }: CustomerReads, since: Date): FailedRead[] {
  const from = since.toISOString();
  return failed.filter(({ lastFailedAt }) => lastFailedAt >= from).map((each) => ({ customerId, ...each }));
}

/** @returns undefined if all data of the customer is of this time or newer */
export function outdatedBefore(
  customerId: string,
  { readAt, failed }: CustomerReads,
  before: Date,
): OutdatedCustomer | undefined {
  const limit = before.toISOString();
  const failing = failed.filter(isStillFailing);
  const reads = [
    ...failing.map(({ lastReadAt }) => lastReadAt),
    ...(failing.some(isOfAllAccounts) ? [] : [readAt]),
  ];
  const never = reads.includes(null);
  const oldest = never ? null : (reads.toSorted()[0] ?? null);
  const since = oldest ?? failing.map((each) => each.since).toSorted()[0];
  return since === undefined || since >= limit ? undefined : { customerId, readAt: oldest, since };
}

function isOfAllAccounts({ productId }: Failed): boolean {
  return productId === null;
}
