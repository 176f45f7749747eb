import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { jsonIn } from '../../../../domain/json.ts';
import type { Initiation } from '../../../../domain/operation.ts';
import type { TransferOrder } from '../../../../domain/transfer.ts';
import { Psd2Error } from '../../../../errors.ts';
import type { Calls } from '../wire/calls.ts';
import { KNOWN_FIELDS, orderFields } from './initiation.ts';
import { isInXml, isWritten, singleBody } from './pain001.ts';
import type { FieldRules } from './taken-fields.ts';

// psd2 stores what is ordered and the bytes that it will send at once. If they differ later, somebody has changed the store.

/** Where a payment without a reference has the id that psd2 gave it, if the bank takes no end-to-end id. */
const idPlaces = z.object({
  instructionIdentification: z.optional(z.string()),
  remittanceInformationUnstructured: z.optional(z.string()),
  dayOfExecution: z.optional(z.string()),
});

/** What a bank wants in every payment (`payments.constant`), and its words for how often one is made. */
type Own = Pick<FieldRules, 'constant' | 'frequencies'>;
const NONE: Own = { constant: {}, frequencies: {} };

const bulk = z.looseObject({ payments: z.array(z.looseObject({})) });

const basket = z.strictObject({ paymentIds: z.array(z.string()) });

/**
 * Whether the stored initiation of a payment pays what its order says, and nothing else.
 *
 * @throws Psd2Error `config` if it does not
 */
export function assertOrdered(
  order: TransferOrder,
  { service, body, endToEndId }: Initiation,
  own: Own = NONE,
): void {
  const isItsService = service === (order.standing ? 'periodic-payments' : 'payments');
  if (!isItsService || !pays(parsedBody(body), order, endToEndId, own)) throw otherThanOrdered();
}

/**
 * Whether the stored pain.001 of a payment pays what its order says, and nothing else.
 *
 * @throws Psd2Error `config` if it does not
 */
export async function assertOrderedInXml(
  settings: Calls['settings'],
  order: TransferOrder,
  { service, body, endToEndId }: Initiation,
  { frequencies }: Own,
): Promise<void> {
  const isItsService = service === (order.standing ? 'periodic-payments' : 'payments');
  const [, messageId = ''] = /<MsgId>(\w{1,35})<\/MsgId>/.exec(body) ?? [];
  const ordered = { ...order, reference: order.reference ?? endToEndId };
  const days = /"dayOfExecution":"0/.test(body) ? ('two-digits' as const) : ('plain' as const);
  const isIt = await isWritten(body, (format) =>
    singleBody(settings, ordered, { days, frequencies }, { format, messageId }),
  );
  if (!isItsService || !isIt) throw otherThanOrdered();
}

/**
 * Whether the stored initiation of a bulk payment pays these orders, in this sequence, and nothing else.
 *
 * @param orders their references are the end-to-end ids
 * @param xmlOf the body that psd2 would write for them now
 * @throws Psd2Error `config` if it does not
 */
export async function assertAllOrdered(
  orders: readonly TransferOrder[],
  initiation: Initiation,
  xmlOf: Parameters<typeof isWritten>[1],
  own: Own = NONE,
): Promise<void> {
  const { service, body } = initiation;
  const isIt = isInXml(initiation) ? await isWritten(body, xmlOf) : paysAll(parsedBody(body), orders, own);
  if (service !== 'bulk-payments' || !isIt) throw otherThanOrdered();
}

/** Whether the stored initiation of a signing basket has these payments. @throws Psd2Error `config` if it does not */
export function assertHolds(paymentIds: readonly string[], { service, body }: Initiation): void {
  const { data } = basket.safeParse(parsedBody(body));
  if (service !== 'signing-baskets' || !isDeepStrictEqual(data?.paymentIds, [...paymentIds]))
    throw otherThanOrdered();
}

/** The error for a store that somebody has changed. */
export function otherThanOrdered(): Psd2Error {
  return new Psd2Error('config', 'The stored payment is not the one that was ordered', {
    hint: 'Somebody may have changed the store. psd2 has sent nothing. Restore the store from a backup.',
  });
}

/**
 * Whether a payment in JSON pays an order: it has all that the order says, and nothing that psd2 would not write for it at any bank.
 *
 * @param id its end-to-end id; empty if the bank takes none
 */
function pays(payment: unknown, order: TransferOrder, id: string, own: Own): boolean {
  const { data: written = {} } = idPlaces.safeParse(payment);
  const { instructionIdentification = written.remittanceInformationUnstructured ?? '' } = written;
  const ownId = order.reference ?? (id || instructionIdentification);
  const days = written.dayOfExecution?.startsWith('0') ? ('two-digits' as const) : ('plain' as const);
  const rules = { allowed: [], address: 'optional' as const, days, frequencies: own.frequencies };
  const most = orderFields(order, ownId, { ...rules, constant: own.constant, required: KNOWN_FIELDS });
  const { endToEndIdentification: _, ...least } = orderFields(order, ownId, {
    ...rules,
    constant: {},
    required: [],
  });
  return isPartOf(least, payment) && isPartOf(payment, most);
}

/** Whether a value in JSON has no field that another has not, and the same values. A field that is undefined is none. */
function isPartOf(part: unknown, whole: unknown): boolean {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return part === whole;
  if (typeof whole !== 'object' || whole === null) return false;
  const held = new Map<string, unknown>(Object.entries(whole));
  return Object.entries(part).every(
    ([name, value]) => value === undefined || isPartOf(value, held.get(name)),
  );
}

/** Whether a bulk payment in JSON pays these orders. What is the same for all is not in its entries. */
function paysAll(body: unknown, orders: readonly TransferOrder[], own: Own): boolean {
  const { data } = bulk.safeParse(body);
  if (!data) return false;
  const { payments, batchBookingPreferred, ...common } = data;
  return (
    payments.length === orders.length &&
    orders.every((order, at) => {
      if (batchBookingPreferred !== undefined && batchBookingPreferred !== order.batchBooking) return false;
      const entry = payments[at] ?? {};
      const isItsId = (entry.endToEndIdentification ?? null) === order.reference;
      const isOwn = Object.keys(entry).every((field) => !Object.hasOwn(common, field));
      return isItsId && isOwn && pays({ ...common, ...entry }, order, '', own);
    })
  );
}

/** The value of a text that `JSON.stringify` wrote. Of a field that is there twice, the bank may take the other one. */
function parsedBody(body: string): unknown {
  const value = jsonIn(body);
  return JSON.stringify(value) === body ? value : null;
}
