import type { Context } from '../context.ts';
import { notifyOnce } from '../shared/notify-once.ts';
import type { Ending } from './endings.ts';

/**
 * Gives each ending to the operator's command: once, and again if its end changes.
 *
 * @param all everything that ends, also later. psd2 forgets what is no longer in it
 */
export async function notify(
  context: Context,
  soon: readonly Ending[],
  all: readonly Ending[],
): Promise<void> {
  const keys = new Set(all.map(keyOf));
  const notifications = soon.map((ending) => ({
    key: keyOf(ending),
    version: ending.endsAt,
    content: ending,
  }));
  await notifyOnce(
    context,
    notifications,
    (key) => KINDS.some((kind) => key.startsWith(`${kind} `)) && !keys.has(key),
  );
}

const KINDS: readonly Ending['kind'][] = ['certificate', 'login', 'consent'];

/** What identifies an ending. Consents for different accounts are different ones. */
function keyOf({ kind, name, customerId, next }: Ending): string {
  const what =
    kind === 'consent'
      ? next.filter((word, at) => TOLD_APART.has(word) || NAMED_BY.has(next[at - 1] ?? ''))
      : [];
  return [kind, name, customerId ?? '', ...what].join(' ');
}

/** The options whose values tell one consent of a customer from another, and those that do so without a value. */
const NAMED_BY: ReadonlySet<string> = new Set(['--account']);
const TOLD_APART: ReadonlySet<string> = new Set([
  '--balances',
  '--transactions',
  '--all-accounts',
  '--list-only',
]);
