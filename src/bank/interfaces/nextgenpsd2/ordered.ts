import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import type { Initiation } from '../../../domain/operation.ts';
import type { TransferOrder } from '../../../domain/transfer.ts';
import { Psd2Error } from '../../../errors.ts';
import { fieldsOf } from './initiation.ts';

// psd2 stores what is ordered and the bytes that it will send at once. If they differ later, somebody has changed the store.

const debit = z.object({
  debtorAccount: z.object({ iban: z.string() }),
  creditorAccount: z.object({ iban: z.string() }),
  creditorName: z.string(),
  instructedAmount: z.object({ currency: z.string(), amount: z.string() }),
  remittanceInformationUnstructured: z.optional(z.string()),
  requestedExecutionDate: z.optional(z.string()),
  startDate: z.optional(z.string()),
  endDate: z.optional(z.string()),
  frequency: z.optional(z.string()),
  dayOfExecution: z.optional(z.string()),
});

const bulk = z.looseObject({ payments: z.array(z.looseObject({})) });
const PAIN_001 = ['pain.001.001.03', 'pain.001.001.09'] as const;
type Pain001Format = (typeof PAIN_001)[number];

const basket = z.object({ paymentIds: z.array(z.string()) });

/**
 * Whether the stored initiation of a payment pays what its order says, and nothing else.
 *
 * @throws Psd2Error `config` if it does not
 */
export function assertOrdered(order: TransferOrder, { service, body }: Initiation): void {
  const isItsService = service === (order.standing ? 'periodic-payments' : 'payments');
  if (!isItsService || !pays(jsonIn(body), order)) throw otherThanOrdered();
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
  { service, body }: Initiation,
  xmlOf: (format: Pain001Format) => Promise<string>,
): Promise<void> {
  const format = body.startsWith('<') ? PAIN_001.find((each) => body.includes(`:${each}"`)) : undefined;
  const isIt =
    format === undefined
      ? paysAll(jsonIn(body), orders)
      : withoutMaking(body) === withoutMaking(await xmlOf(format));
  if (service !== 'bulk-payments' || !isIt) throw otherThanOrdered();
}

/** Whether the stored initiation of a signing basket has these payments. @throws Psd2Error `config` if it does not */
export function assertHolds(paymentIds: readonly string[], { service, body }: Initiation): void {
  const { data } = basket.safeParse(jsonIn(body));
  if (service !== 'signing-baskets' || !isDeepStrictEqual(data?.paymentIds, [...paymentIds]))
    throw otherThanOrdered();
}

function otherThanOrdered(): Psd2Error {
  return new Psd2Error('config', 'The stored payment is not the one that was ordered', {
    hint: 'Somebody may have changed the store. psd2 has sent nothing. Restore the store from a backup.',
  });
}

/** Whether a payment in JSON pays an order. */
function pays(payment: unknown, order: TransferOrder): boolean {
  const { data } = debit.safeParse(payment);
  const { executionDate, description } = order;
  const ordered = debit.parse(fieldsOf(order, '', { required: [], allowed: [], address: 'optional' }));
  const { requestedExecutionDate: day, remittanceInformationUnstructured: text } = data ?? {};
  return isDeepStrictEqual(data, {
    ...ordered,
    // A bank may demand the day of a payment that is not later-dated, and a text of one that has none.
    ...(day === executionDate && { requestedExecutionDate: day }),
    ...(description === '' && text !== undefined && { remittanceInformationUnstructured: text }),
  });
}

/** Whether a bulk payment in JSON pays these orders. What is the same for all is not in its entries. */
function paysAll(body: unknown, orders: readonly TransferOrder[]): boolean {
  const { data } = bulk.safeParse(body);
  if (!data) return false;
  const { payments, debtorAccount, requestedExecutionDate } = data;
  const common = { debtorAccount, ...(requestedExecutionDate !== undefined && { requestedExecutionDate }) };
  return (
    payments.length === orders.length &&
    orders.every((order, at) => {
      const entry = payments[at];
      const isItsId = (entry?.endToEndIdentification ?? null) === order.reference;
      return isItsId && pays({ ...common, ...entry }, order);
    })
  );
}

/** A pain.001 without what does not follow from the orders: when it was made, and who initiates it. */
function withoutMaking(xml: string): string {
  return xml
    .replace(/<CreDtTm>[^<]*<\/CreDtTm>/, '<CreDtTm/>')
    .replace(/<InitgPty><Nm>[^<]*<\/Nm><\/InitgPty>/, '<InitgPty/>');
}

/** The value of a text that `JSON.stringify` wrote. Of a field that is there twice, the bank may take the other one. */
function jsonIn(body: string): unknown {
  try {
    const value: unknown = JSON.parse(body);
    return JSON.stringify(value) === body ? value : null;
  } catch {
    return null;
  }
}
