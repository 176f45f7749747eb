import { type Cents, decimal } from '../ledger/cents.ts';

/** A payment of one account, at any door. */
export interface Paid {
  at: Date;
  account: string;
  customer: string;
  /** The resource that the customer authorises with others: a bulk payment or a signing basket. */
  joint: string | undefined;
  amount: Cents;
  to: string;
  state: string;
}

/** How long after the payment before it another one still belongs to it. */
const APART_MS = 60_000;
/** The most that the console shows. */
const MAX_GROUPS = 20;

/**
 * The payments that belong together, as those of a file do: what a customer authorises at once, and payments of one account of which
 * each begins within a minute of the one before. The bank knows nothing of files. Newest first.
 */
export function paymentsTogether(paid: readonly Paid[]) {
  const groups: Paid[][] = [];
  for (const payment of paid.toSorted(byTime)) {
    const group = groups.findLast((each) => belongs(payment, each));
    if (group) group.push(payment);
    else groups.push([payment]);
  }
  return groups
    .filter(({ length }) => length > 1)
    .slice(-MAX_GROUPS)
    .toReversed()
    .map((group) => ({
      from: group[0]?.at.toISOString() ?? '',
      account: group[0]?.account ?? '',
      customer: group[0]?.customer ?? '',
      total: decimal(group.reduce((sum, { amount }) => sum + amount, 0)),
      payments: group.map(({ to, amount, state }) => ({ to, amount: decimal(amount), state })),
    }));
}

function byTime(one: Paid, other: Paid): number {
  return one.at.getTime() - other.at.getTime();
}

function belongs({ account, joint, at }: Paid, group: readonly Paid[]): boolean {
  const last = group.at(-1);
  if (last?.account !== account) return false;
  if (joint !== undefined || last.joint !== undefined) return last.joint === joint;
  return at.getTime() - last.at.getTime() <= APART_MS;
}
