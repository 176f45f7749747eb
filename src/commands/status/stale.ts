import { commandOf } from '../../advice.ts';
import { staleAfterOf } from '../../store/machine/settings.ts';
import type { Context } from '../context.ts';
import { helpOf } from '../sync/failed.ts';
import { type Item, NO_PAYMENT } from './item.ts';

/** All failed reads that the store still has. */
const ALWAYS = new Date(0);

/** Customers whose data is older than the profile allows, of those that psd2 can still read. The oldest first. @throws Psd2Error `config` */
export async function staleData(context: Context): Promise<Item[]> {
  const { results, tokens, customers, lastSyncFolder } = await context.store();
  const limit = new Date(context.world.now().getTime() - staleAfterOf(context.profile()));
  const outdated = await results.outdated(limit);
  if (outdated.length === 0) return [];
  const known = new Set([...(await tokens.customers()), ...(await customers.list())]);
  const reasons = new Map(
    (await results.failed(ALWAYS))
      .filter(({ lastFailedAt, lastReadAt }) => lastReadAt === null || lastReadAt < lastFailedAt)
      .map((read) => [read.customerId, read]),
  );
  const folder = lastSyncFolder();
  const stale = outdated
    .filter(({ customerId }) => known.has(customerId))
    .sort((a, b) => (a.since < b.since ? -1 : 1))
    .map(async ({ customerId, readAt, since }): Promise<Item> => {
      const reason = reasons.get(customerId);
      const when = readAt === null ? 'never read' : 'not read since';
      const read = reason ?? { customerId, code: 'stale', productId: null };
      const help = await helpOf(context, read, folder);
      return {
        ...{ kind: 'data', id: customerId, state: 'stale', since, customerId, ...NO_PAYMENT },
        message: reason ? `${when}: ${reason.message}` : when,
        next: commandOf(['--customer', customerId, ...help], { profile: context.repeated.profile }),
      };
    });
  return Promise.all(stale);
}
