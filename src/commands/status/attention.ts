import { ACCESS, commandOf } from '../../advice.ts';
import { describePersons } from '../../domain/authorisations.ts';
import type { Psd2Error } from '../../errors.ts';
import { unapproved } from '../../flows/batch/approval.ts';
import { controlsOf, staleAfterOf } from '../../store/machine/settings.ts';
import type { OnDamagedBatch } from '../../store/ports/batches.ts';
import type { FlowOf, Kind } from '../../store/ports/flows.ts';
import {
  allEndings,
  type Ending,
  endingWithin,
  type Logins,
  optionsOf,
  SOON_DAYS,
} from '../checks/endings.ts';
import type { Context } from '../context.ts';
import { customerIdOf } from '../flow/customer.ts';
import { listedFlows } from '../flow/list.ts';
import { openAccessNotes } from '../open/call-records.ts';
import { whyWithdrawn, withdrawnConsents, withdrawnFunds } from '../open/withdrawn.ts';
import { helpOf } from '../sync/failed.ts';
import { FLOW_KINDS, type Item, NO_PAYMENT } from './item.ts';
import { type Need, needsOf, sumOfFlows } from './needs.ts';

/**
 * Everything of the profile that needs a person. Payments first, the oldest of each kind first.
 *
 * @param logins of its customers
 * @throws Psd2Error `config`, `certificate` if psd2 cannot read something of it
 */
export async function itemsOf(context: Context, logins: Logins): Promise<Item[]> {
  return [
    ...(await flowItems(context)),
    ...(await waitingBatches(context)),
    ...(await refusedLogins(context)),
    ...(await withdrawnItems(context)),
    ...(await endedItems(context, logins)),
    ...(await staleData(context)),
  ];
}

/** The needs of all flows, where the oldest flow of each stands. */
async function flowItems(context: Context): Promise<Item[]> {
  const rows: (FlowOf<Kind> | Item)[] = [];
  for (const kind of FLOW_KINDS) rows.push(...(await flowsOf(context, kind)));
  const isFlow = (row: FlowOf<Kind> | Item): row is FlowOf<Kind> => 'flow' in row;
  const needs = new Map(needsOf(rows.filter(isFlow)).map((need) => [need.flows[0].flow, need]));
  return rows.flatMap((row) => {
    if (!isFlow(row)) return row;
    const need = needs.get(row.flow);
    return need ? itemOf(context, need) : [];
  });
}

/** The flows of a kind that need a person, the oldest first, and what is to be said of those that psd2 cannot read. */
async function flowsOf<K extends Kind>(context: Context, kind: K): Promise<(FlowOf<K> | Item)[]> {
  const rows: (FlowOf<K> | Item)[] = [];
  const onDamaged: OnDamagedBatch = (damage, flow) => rows.push(damagedItem(context, kind, flow, damage));
  for await (const flow of listedFlows(context, kind, { attention: true, onDamaged })) rows.push(flow);
  return rows.reverse();
}

/** What nobody knows of: psd2 cannot read whether it is over. */
function damagedItem(context: Context, kind: Kind | 'batch', id: string, { message }: Psd2Error): Item {
  return {
    kind,
    id,
    state: 'damaged',
    since: null,
    customerId: null,
    ...NO_PAYMENT,
    message,
    next: commandOf([kind, 'show', id], { profile: context.repeated.profile }),
  };
}

function itemOf(context: Context, { flows, batch, persons, isCancellation, next }: Need): Item {
  const [flow] = flows;
  return {
    ...(batch === null ? { kind: flow.kind, id: flow.flow } : { kind: 'batch', id: batch }),
    state: flow.state,
    customerId: customerIdOf(flow),
    since: flows.map(({ updatedAt }) => updatedAt).reduce((a, b) => (a < b ? a : b)),
    ...NO_PAYMENT,
    ...sumOfFlows(flows),
    ...(batch === null ? { payee: payeeOf(flow) } : { payments: flows.length }),
    message: [
      [batch === null ? describeFlow(flow) : `${flows.length} payments`, failureReason(flow)]
        .filter(Boolean)
        .join(': '),
      isCancellation && `its cancellation: ${persons ? describePersons(persons) : 'asked for'}`,
      !isCancellation && persons && describePersons(persons),
    ]
      .filter(Boolean)
      .join(', '),
    ...persons,
    // It asks the bank first, also of what the bank has refused. If that decides nothing, it names the commands for a person's word.
    next: commandOf(next, { profile: context.repeated.profile }),
  };
}

function payeeOf(flow: FlowOf<Kind>): string | null {
  return 'order' in flow && 'name' in flow.order ? flow.order.name : null;
}

function failureReason(flow: FlowOf<Kind>): string | null {
  return 'order' in flow ? flow.executionStatusDescription : null;
}

function describeFlow(flow: FlowOf<Kind>): string {
  if (!('order' in flow)) return flow.categories.map(({ name }) => name).join(', ') || 'consent';
  if ('operation' in flow.order) return flow.order.operation;
  const { name, reference } = flow.order;
  return reference === null ? `to ${name}` : `to ${name}, reference ${reference}`;
}

/** Batches that other people must approve before psd2 pays them. */
async function waitingBatches(context: Context): Promise<Item[]> {
  const store = await context.store();
  const items: Item[] = [];
  const onDamaged: OnDamagedBatch = (damage, batch) =>
    items.push(damagedItem(context, 'batch', batch, damage));
  for await (const batch of unapproved(controlsOf(context.profile()), store, onDamaged)) {
    const [total, ...others] = batch.totals;
    const isOne = total !== undefined && others.length === 0;
    items.push({
      kind: 'batch',
      id: batch.batch,
      state: 'added',
      since: batch.addedAt,
      customerId: null,
      ...NO_PAYMENT,
      ...(isOne && total),
      message: `${batch.lines} ${batch.lines === 1 ? 'payment' : 'payments'}, ${batch.has} of ${batch.needed} approvals`,
      next: commandOf(['batch', 'approve', batch.batch], { profile: context.repeated.profile }),
    });
  }
  return items.reverse();
}

/** Logins whose renewal the bank has refused, or whose calls it does not allow. */
async function refusedLogins(context: Context): Promise<Item[]> {
  const { tokens } = await context.store();
  const { logsIn } = await context.bankInterface();
  const notes = await openAccessNotes(context);
  const items: Item[] = [];
  for (const customerId of (await notes.holders()).filter((holder) => holder !== null).toSorted()) {
    const login = await tokens.login(customerId);
    if (!login) continue;
    const { refresh, call } = await notes.read(customerId, login);
    const refused = refresh ?? call;
    if (!refused) continue;
    items.push({
      kind: 'login',
      id: customerId,
      state: 'refused',
      since: refused.at,
      customerId,
      ...NO_PAYMENT,
      message: refused.message,
      // Another customer may have logged in last.
      next: commandOf(['--customer', customerId, ...(refresh ? ACCESS[logsIn] : ['doctor'])], {
        profile: context.repeated.profile,
      }),
    });
  }
  return items;
}

async function withdrawnItems(context: Context): Promise<Item[]> {
  return [...(await withdrawnConsents(context)), ...(await withdrawnFunds(context))].map(
    ({ flow, state, updatedAt: since, customerId, terms }) => ({
      kind: 'consent',
      id: flow,
      state,
      since,
      customerId,
      ...NO_PAYMENT,
      message: whyWithdrawn({ state }),
      next: commandOf(['consent', 'request', '--customer', customerId, ...optionsOf(terms?.access)], {
        profile: context.repeated.profile,
      }),
    }),
  );
}

/** Logins and consents that have ended, and certificates that end soon. */
async function endedItems(context: Context, logins: Logins): Promise<Item[]> {
  const now = context.world.now();
  // A damaged consent is an item of its own.
  const endings = await allEndings(context, () => {}, logins);
  const soon = endingWithin(endings, now, SOON_DAYS);
  return soon
    .filter(({ kind, endsAt }) => kind === 'certificate' || Date.parse(endsAt) <= now.getTime())
    .map((ending) => ({
      kind: ending.kind,
      id: ending.kind === 'login' ? (ending.customerId ?? '') : ending.name,
      state: Date.parse(ending.endsAt) <= now.getTime() ? 'ended' : 'ends',
      since: ending.endsAt,
      customerId: ending.customerId,
      ...NO_PAYMENT,
      message: `the ${endingLabel(ending)}`,
      next: ending.next,
    }));
}

function endingLabel({ kind, name }: Ending): string {
  return kind === 'login' ? 'login' : `${kind} ${name}`;
}

/** All failed reads that the store still has. */
const ALWAYS = new Date(0);

/** Customers whose data is older than the profile allows, of those that psd2 can still read. The oldest first. @throws Psd2Error `config` */
async function staleData(context: Context): Promise<Item[]> {
  const { results, tokens, customers, lastSyncFolder } = await context.store();
  const limit = new Date(context.world.now().getTime() - staleAfterOf(context.profile()));
  const outdated = await results.outdated(limit);
  if (outdated.length === 0) return [];
  const knownCustomers = new Set([...(await tokens.customers()), ...(await customers.list())]);
  const reasons = new Map(
    (await results.failed(ALWAYS))
      .filter(({ lastFailedAt, lastReadAt }) => lastReadAt === null || lastReadAt < lastFailedAt)
      .map((read) => [read.customerId, read]),
  );
  const folder = lastSyncFolder();
  const stale = outdated
    .filter(({ customerId }) => knownCustomers.has(customerId))
    .sort((a, b) => (a.since < b.since ? -1 : 1))
    .map(async ({ customerId, readAt, since }): Promise<Item> => {
      const reason = reasons.get(customerId);
      const when = readAt === null ? 'never read' : 'not read since';
      const read = reason ?? { customerId, code: 'stale', productId: null };
      const help = await helpOf(context, read, folder);
      return {
        kind: 'data',
        id: customerId,
        state: 'stale',
        since,
        customerId,
        ...NO_PAYMENT,
        message: reason ? `${when}: ${reason.message}` : when,
        next: commandOf(['--customer', customerId, ...help], { profile: context.repeated.profile }),
      };
    });
  return Promise.all(stale);
}
