import { randomUUID } from 'node:crypto';
import type { Customer, Product } from '../../customers/seed-customers.ts';
import type { IsoDate } from '../../ledger/bank-time.ts';
import type { Transfer } from '../../operations/transfer.ts';
import type { ScaSubject } from '../sca/authorisations.ts';
import type { StandingRule } from './standing-rule.ts';

/** The services of the standard (`payment-service` in a path). */
export const PAYMENT_SERVICES = ['payments', 'bulk-payments', 'periodic-payments'] as const;

export type PaymentService = (typeof PAYMENT_SERVICES)[number];

/** One transfer of a payment. */
export interface PaymentOrder extends Transfer {
  /** As sent. Undefined: the TPP sent none, and the ledger has `NOTPROVIDED`. */
  endToEndId: string | undefined;
}

/** What a TPP initiates. */
export interface PaymentInitiation {
  service: PaymentService;
  product: string;
  /** Undefined: the customer chooses the account when they authorise it (`payments.debtorAccount`). */
  debtor: { customer: Customer; product: Product } | undefined;
  /** One, or those of a bulk. */
  orders: readonly PaymentOrder[];
  /** The body as it came, for `GET`. */
  body: Readonly<Record<string, unknown>>;
  /** What a pain.001 calls itself and its group: `MsgId` and `PmtInfId`. */
  file?: { message: string; information: string };
  /** The day that the TPP asked for. Undefined: at once. */
  executionDay: IsoDate | undefined;
  /** Of a periodic payment. */
  standing: StandingRule | undefined;
}

/** How the bank carried out an order. */
export interface PaymentExecution {
  order: PaymentOrder;
  at: Date;
  /** Whether the money moved. */
  paid: boolean;
  /** From when the bank says how it ended. */
  settledAt: Date;
}

/** A payment at the second door. The bank executes it once the customer has authorised it, without the TPP. */
export interface DoorPayment extends PaymentInitiation {
  readonly id: string;
  readonly createdAt: Date;
  readonly requestId: string;
  /** How long after the authorisation the bank begins. A fault or a variation makes it late. */
  lateMs: number;
  /** Undefined until the customer, or the bank without them, authorised it. */
  authorisedAt: Date | undefined;
  cancelled: boolean;
  /** A fault: its links work after it was cancelled. */
  linksStay: boolean;
  /** The customer authorised it after it was cancelled. */
  outlived: boolean;
  executions: PaymentExecution[];
}

/** A new payment. @param requestId `X-Request-ID` of the initiation */
export function newPayment(
  initiation: PaymentInitiation,
  { createdAt, requestId, lateMs }: Pick<DoorPayment, 'createdAt' | 'requestId' | 'lateMs'>,
): DoorPayment {
  const begun = {
    authorisedAt: undefined,
    cancelled: false,
    linksStay: false,
    outlived: false,
    executions: [],
  };
  return { ...initiation, id: randomUUID(), createdAt, requestId, lateMs, ...begun };
}

/** The values in the paths of a payment's calls. */
export function pathOfPayment({ service, product, id }: DoorPayment): Record<string, string> {
  return { 'payment-service': service, 'payment-product': product, paymentId: id };
}

/** A payment, or its cancellation, as what a customer authorises. */
export function subjectOf(payment: DoorPayment, kind: 'payment' | 'cancellation'): ScaSubject {
  return { kind, id: payment.id, path: pathOfPayment(payment) };
}
