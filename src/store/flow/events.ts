import * as z from 'zod/mini';
import { type IsoDate, isIsoDate } from '../../domain/calendar.ts';
import { CONSENT_CATEGORIES, type ConsentEvent } from '../../domain/consent.ts';
import { type Decimal, isDecimal } from '../../domain/decimal.ts';
import type { ProductId } from '../../domain/identifiers.ts';
import type { GenericOrder, OrderTarget } from '../../domain/operation.ts';
import type { Iban } from '../../domain/order/iban.ts';
import { PAYEE_RESULTS, PAYEE_SOURCES } from '../../domain/order/payee-check.ts';
import type { TransferOrder } from '../../domain/transfer.ts';

// The lines of the journal. You may add a field. Never change what a field means: psd2 must always read old journals.
// Most commands only look whether a flow is unfinished, so `z.lazy` builds a schema when the first line is read.

const isString = (value: unknown): value is string => typeof value === 'string';
const decimal = z.custom<Decimal>((value) => isString(value) && isDecimal(value));
const isoDate = z.custom<IsoDate>((value) => isString(value) && isIsoDate(value));
const iban = z.custom<Iban>(isString);
const productId = z.custom<ProductId>(isString);
const money = z.object({ amount: decimal, currency: z.string() });
const textOrNull = z.nullable(z.string());

/** The transaction id goes into a header of each call. */
const created = { flow: z.string(), transactionId: z.string().check(z.regex(/^[\x21-\x7e]+$/)) };
const intent = { requestId: z.string(), digest: textOrNull };
const authorization = z.object({
  type: z.literal('authorization'),
  status: z.enum(['AUTHORIZED', 'NOT_AUTHORIZED', 'EXPIRED', 'PENDING']),
  bankStatus: z.string(),
});

const resolved = z.object({
  type: z.literal('resolved'),
  outcome: z.enum(['executed', 'not-executed']),
  by: z.string(),
  note: textOrNull,
});

const verification = {
  resourceId: z.string(),
  totalAmount: z.nullable(money),
  commissions: z.nullable(money),
  bankName: textOrNull,
  nextStep: z.string(),
};

/** The events of an operation with orders of one kind. */
const operationEvent = <Order extends OrderTarget>(order: z.ZodMiniType<Order>) =>
  z.union([
    z.object({ type: z.literal('created'), ...created, order, furtherData: z.optional(z.array(z.string())) }),
    stepEvent,
  ]);

const stepEvent = z.lazy(() =>
  z.discriminatedUnion('type', [
    z.object({
      type: z.enum(['verify-sent', 'further-verify-sent', 'approach-sent', 'execute-sent']),
      ...intent,
    }),
    z.object({ type: z.enum(['verified', 'further-verified']), ...verification }),
    z.object({ type: z.literal('further-data'), data: z.array(z.string()) }),
    z.object({
      type: z.enum([
        'verify-again',
        'verify-not-begun',
        'accepted',
        'cancelled',
        'sca-started',
        'sca-returned',
        'sca-again',
        'execute-not-begun',
        'execute-turned-away',
      ]),
    }),
    z.object({ type: z.literal('execute-unanswered'), description: z.optional(z.string()) }),
    z.object({
      type: z.literal('payee-checked'),
      result: z.enum(PAYEE_RESULTS),
      name: textOrNull,
      problem: textOrNull,
      source: z.optional(z.enum(PAYEE_SOURCES)),
    }),
    authorization,
    z.object({ type: z.literal('verify-refused'), description: z.optional(z.string()) }),
    z.object({ type: z.literal('executed'), cro: textOrNull }),
    z.object({ type: z.literal('execute-refused'), description: z.string() }),
    z.object({
      type: z.literal('settlement'),
      status: z.enum(['OK', 'KO', 'PENDING']),
      description: textOrNull,
    }),
    resolved,
  ]),
);

const target = { customerId: z.string(), from: productId };

export const transferEvent = z.lazy(() =>
  operationEvent<TransferOrder>(
    z.object({
      ...target,
      to: iban,
      name: z.string(),
      amount: decimal,
      currency: z.string(),
      description: z.string(),
      instant: z.boolean(),
      type: textOrNull,
      executionDate: isoDate,
      futureDated: z.boolean(),
      urgent: z.boolean(),
      reference: textOrNull,
      fromIban: z.optional(z.string()),
      payeeSource: z.optional(z.enum(PAYEE_SOURCES)),
    }),
  ),
);

export const genericEvent = z.lazy(() =>
  operationEvent<GenericOrder>(z.object({ ...target, operation: z.string(), data: z.string() })),
);

export const consentEvent: z.ZodMiniType<ConsentEvent> = z.lazy(() =>
  z.discriminatedUnion('type', [
    z.object({
      type: z.literal('created'),
      ...created,
      customerId: z.string(),
      categories: z.array(z.object({ name: z.enum(CONSENT_CATEGORIES), products: z.array(productId) })),
    }),
    z.object({ type: z.enum(['request-sent', 'approach-sent', 'confirm-sent']), ...intent }),
    z.object({
      type: z.literal('requested'),
      resourceId: z.string(),
      outcomes: z.array(z.object({ name: z.string(), outcome: z.boolean() })),
    }),
    z.object({
      type: z.enum([
        'request-not-begun',
        'request-refused',
        'all-refused',
        'sca-started',
        'sca-returned',
        'confirm-not-begun',
        'confirm-turned-away',
        'confirmed',
        'confirm-refused',
        'confirm-unanswered',
        'cancelled',
      ]),
    }),
    authorization,
    resolved,
  ]),
);
