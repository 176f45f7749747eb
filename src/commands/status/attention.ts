import * as z from 'zod/mini';
import { commandOf } from '../../advice.ts';
import type { FlowOf, Kind } from '../../store/ports/flows.ts';
import type { Printed } from '../../terminal/output/shape.ts';
import type { Context } from '../context.ts';
import { allEndings, DAY_MS, type Ending, endingBefore } from '../expiring/endings.ts';
import { SOON_DAYS } from '../expiring/warn.ts';
import { customerIdOf } from '../flow/customer.ts';
import { listedFlows } from '../flow/list.ts';
import { openAccessNotes } from '../open/call-records.ts';
import { decimal, list, oneOf, orNull, text, time } from '../shared/fields.ts';

const FLOW_KINDS = ['transfer', 'operation', 'consent'] as const satisfies readonly Kind[];

/** Something that needs a person, and the command that helps. */
export const item = () =>
  z.object({
    kind: oneOf([...FLOW_KINDS, 'login', 'certificate'], 'what it is'),
    id: text('local id of a flow; customer of a login; QWAC, QSealC, ...; or the category of a consent'),
    state: text('state of a flow; ended or ends; refused'),
    since: time('when its state last changed, or its end: in the future if it only ends soon'),
    customerId: orNull(text('its customer; null for a certificate')),
    amount: orNull(decimal('amount of a transfer')),
    currency: orNull(text('ISO 4217 code; of a transfer')),
    message: text('what it is about, in words'),
    next: list(z.string(), 'words of the command that helps'),
  });

export type Item = Printed<typeof item>;

/**
 * Everything of the profile that needs a person. Payments first, the oldest of each kind first.
 *
 * @throws Psd2Error `config`, `certificate` if psd2 cannot read something of it
 */
export async function itemsOf(context: Context): Promise<Item[]> {
  const flows: Item[] = [];
  for (const kind of FLOW_KINDS) flows.push(...(await flowItems(context, kind)));
  return [...flows, ...(await refusedLogins(context)), ...(await endedItems(context))];
}

async function flowItems<K extends Kind>(context: Context, kind: K): Promise<Item[]> {
  const items: Item[] = [];
  for await (const flow of listedFlows(context, kind, { attention: true })) items.push(itemOf(context, flow));
  return items.reverse();
}

function itemOf(context: Context, flow: FlowOf<Kind>): Item {
  const customerId = customerIdOf(flow);
  const money = 'order' in flow && 'amount' in flow.order ? flow.order : { amount: null, currency: null };
  return {
    ...{ kind: flow.kind, id: flow.flow, state: flow.state, since: flow.updatedAt, customerId },
    ...{ amount: money.amount, currency: money.currency },
    message: describe(flow),
    next: commandOf([flow.kind, 'resume', flow.flow], { profile: context.repeated.profile }),
  };
}

function describe(flow: FlowOf<Kind>): string {
  if (!('order' in flow)) return flow.categories.map(({ name }) => name).join(', ') || 'consent';
  if ('operation' in flow.order) return flow.order.operation;
  const { name, reference } = flow.order;
  return reference === null ? `to ${name}` : `to ${name}, reference ${reference}`;
}

/** Logins whose renewal the bank has refused, or whose calls it does not allow. */
async function refusedLogins(context: Context): Promise<Item[]> {
  const { tokens } = await context.store();
  const notes = await openAccessNotes(context);
  const items: Item[] = [];
  for (const customerId of await tokens.customers()) {
    const login = await tokens.login(customerId);
    if (!login) continue;
    const { refresh, call } = await notes.read(customerId, login);
    const refused = refresh ?? call;
    if (!refused) continue;
    items.push({
      ...{ kind: 'login', id: customerId, state: 'refused', since: refused.at, customerId },
      ...{ amount: null, currency: null, message: refused.message },
      // Another customer may have logged in last.
      next: commandOf(['--customer', customerId, ...(refresh ? ['auth', 'login'] : ['doctor'])], {
        profile: context.repeated.profile,
      }),
    });
  }
  return items;
}

/** Logins and consents that have ended, and certificates that end soon. */
async function endedItems(context: Context): Promise<Item[]> {
  const now = context.world.now();
  const soon = endingBefore(await allEndings(context), new Date(now.getTime() + SOON_DAYS * DAY_MS));
  return soon
    .filter(({ kind, endsAt }) => kind === 'certificate' || Date.parse(endsAt) <= now.getTime())
    .map((ending) => ({
      ...{ kind: ending.kind, id: ending.kind === 'login' ? (ending.customerId ?? '') : ending.name },
      state: Date.parse(ending.endsAt) <= now.getTime() ? 'ended' : 'ends',
      ...{ since: ending.endsAt, customerId: ending.customerId, amount: null, currency: null },
      message: `the ${nameOf(ending)}`,
      next: ending.next,
    }));
}

function nameOf({ kind, name }: Ending): string {
  return kind === 'login' ? 'login' : `${kind} ${name}`;
}
