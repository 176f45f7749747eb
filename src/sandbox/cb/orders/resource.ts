import type { ScaState } from '../../customer-site/bank-side.ts';
import type { Customer, Product } from '../../customers/seed-customers.ts';
import type { IsoDate } from '../../ledger/bank-time.ts';
import type { Plan } from '../../operations/plan.ts';
import type { Grant } from '../grant.ts';
import type { StandingOrder } from './standing-order.ts';
import type { TransferOrder } from './transfer-order.ts';

/** A resource: an action that the customer authorises before the bank does it. */
export interface ResourceBase {
  id: string;
  customer: Customer;
  createdAt: Date;
  /** Undefined before the approach call. */
  sca: Sca | undefined;
  /** When the bank completed the authorised action. Some time later it removes the resource. */
  finishedAt: Date | undefined;
  plan: Plan;
}

interface Sca {
  /** `TPP-Redirect-URI` as received. */
  redirectUri: string;
  startedAt: Date;
  decision: Exclude<ScaState, 'PENDING'> | undefined;
}

/** The products that the TPP requests for one API category. */
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

/** What all operations have: the account, and the next step of the flow. */
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
  /** When and how an instant transfer settles. Undefined for other transfers. */
  settlement: { at: Date; status: 'OK' | 'KO' } | undefined;
}

export interface StandingOrderResource extends OperationBase {
  kind: 'standingOrder';
  order: StandingOrder;
  execution: { standingOrderId: string; at: Date } | undefined;
}

export type OperationResource = TransferResource | StandingOrderResource;

/** An inquiry that needs SCA. Once authorised, it applies to the whole login of the token. */
export interface InquiryResource extends ResourceBase {
  kind: 'inquiry';
  grant: Grant;
  product: Product;
  from: IsoDate;
}

export type Resource = ConsentResource | OperationResource | InquiryResource;
