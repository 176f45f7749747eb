import type { Grant } from '../access/tokens.ts';
import type { ScaState } from '../customer-site/bank-side.ts';
import type { Customer, Product } from '../customers/seed-customers.ts';
import type { IsoDate } from '../ledger/bank-time.ts';
import type { Plan } from './plan.ts';
import type { StandingOrder } from './standing-order.ts';
import type { TransferOrder } from './transfer-order.ts';

/** A transaction resource: something that the customer authorises before it happens. */
export interface ResourceBase {
  id: string;
  customer: Customer;
  createdAt: Date;
  /** Since the approach call. */
  sca: Sca | undefined;
  /** When what was authorised had been carried out: some time after it, the resource is disposed. */
  finishedAt: Date | undefined;
  plan: Plan;
}

interface Sca {
  /** `TPP-Redirect-URI` as it was sent. */
  redirectUri: string;
  startedAt: Date;
  decision: Exclude<ScaState, 'PENDING'> | undefined;
}

/** Products that the TPP asks access to, for one API category. */
export interface ConsentCategory {
  name: string;
  products: readonly Product[];
  /** Whether the bank offers the category for all of these products. */
  outcome: boolean;
}

export interface ConsentResource extends ResourceBase {
  kind: 'consent';
  categories: readonly ConsentCategory[];
}

/** What the operations have in common: the account, and the step that comes next in their flow. */
interface OperationBase extends ResourceBase {
  product: Product;
  nextStep: 'verify2' | 'execute';
}

export interface TransferResource extends OperationBase {
  kind: 'moneyTransfer';
  order: TransferOrder;
  execution: Execution | undefined;
}

export interface Execution {
  /** The reference code of the transfer. */
  cro: string;
  at: Date;
  /** When an instant transfer is settled, and how; undefined for any other. */
  settlement: { at: Date; status: 'OK' | 'KO' } | undefined;
}

export interface StandingOrderResource extends OperationBase {
  kind: 'standingOrder';
  order: StandingOrder;
  execution: { standingOrderId: string; at: Date } | undefined;
}

export type OperationResource = TransferResource | StandingOrderResource;

/** An inquiry that waits for SCA: it lifts the login whose token asked. */
export interface InquiryResource extends ResourceBase {
  kind: 'inquiry';
  grant: Grant;
  product: Product;
  from: IsoDate;
}

export type Resource = ConsentResource | OperationResource | InquiryResource;
