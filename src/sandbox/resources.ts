import { randomUUID } from 'node:crypto';
import type { ScaState } from './customer-site/bank-side.ts';
import { Refusal } from './refusal.ts';
import type { Customer, Product } from './seed-customers.ts';
import type { TransferOrder } from './transfer-order.ts';

/** How long the customer has for SCA. */
const SCA_MS = 10 * 60 * 1000;
/** How long a resource is known. */
const RESOURCE_MS = 24 * 60 * 60 * 1000;

/** A transaction resource: something that the customer authorises before it happens. */
interface ResourceBase {
  id: string;
  customer: Customer;
  createdAt: Date;
  /** Since the approach call. */
  sca: Sca | undefined;
}

interface Sca {
  /** `TPP-Redirect-URI` as it was sent. */
  redirectUri: string;
  startedAt: Date;
  decision: 'AUTHORIZED' | 'NOT_AUTHORIZED' | undefined;
}

/** Products that the TPP asks access to, for one API category. */
export interface ConsentCategory {
  name: string;
  products: readonly Product[];
}

export interface ConsentResource extends ResourceBase {
  kind: 'consent';
  categories: readonly ConsentCategory[];
  confirmed: boolean;
}

export interface TransferResource extends ResourceBase {
  kind: 'transfer';
  product: Product;
  order: TransferOrder;
  execution: Execution | undefined;
}

export interface Execution {
  /** The reference code of the transfer. */
  cro: string;
  /** When an instant transfer is settled; undefined for any other. */
  settlesAt: Date | undefined;
}

export type Resource = ConsentResource | TransferResource;

/** The resources of all flows, and the SCA of each ("States and transitions" of the interface specification). */
export class Resources {
  readonly #now: () => Date;
  readonly #resources = new Map<string, Resource>();

  constructor(now: () => Date) {
    this.#now = now;
  }

  addConsent(customer: Customer, categories: readonly ConsentCategory[]): ConsentResource {
    const consent: ConsentResource = {
      ...this.#base(customer),
      kind: 'consent',
      categories,
      confirmed: false,
    };
    this.#resources.set(consent.id, consent);
    return consent;
  }

  addTransfer(customer: Customer, product: Product, order: TransferOrder): TransferResource {
    const transfer: TransferResource = {
      ...this.#base(customer),
      kind: 'transfer',
      product,
      order,
      execution: undefined,
    };
    this.#resources.set(transfer.id, transfer);
    return transfer;
  }

  find(id: string): Resource | undefined {
    return this.#resources.get(id.toLowerCase());
  }

  /**
   * Sends the customer to SCA. While it is pending it may be started again, from the beginning.
   *
   * @throws Refusal `SCA_FINISHED`
   */
  startSca(resource: Resource, redirectUri: string): void {
    const state = this.scaState(resource);
    if (state !== 'PENDING') {
      throw new Refusal('SCA_FINISHED', `SCA of this resource is over: it is ${state}`);
    }
    resource.sca = { redirectUri, startedAt: this.#now(), decision: undefined };
  }

  scaState({ sca, createdAt }: Resource): ScaState {
    if (sca?.decision) return sca.decision;
    const age = this.#now().getTime() - (sca?.startedAt ?? createdAt).getTime();
    return age > SCA_MS ? 'EXPIRED' : 'PENDING';
  }

  /**
   * The customer decided. A decision that comes too late, or again, changes nothing.
   *
   * @returns the address to send the browser back to, in any case.
   */
  decide(id: string, decision: 'AUTHORIZED' | 'NOT_AUTHORIZED'): URL {
    const resource = this.find(id);
    if (!resource?.sca) throw new RangeError(`No SCA was started for the resource ${id}`);
    if (this.scaState(resource) === 'PENDING') resource.sca.decision = decision;
    return new URL(resource.sca.redirectUri);
  }

  /**
   * @throws Refusal `NOT_AUTHORIZED` unless the customer authorised it.
   */
  requireAuthorized(resource: Resource): void {
    const state = this.scaState(resource);
    if (state === 'AUTHORIZED') return;
    throw new Refusal(
      'NOT_AUTHORIZED',
      'The customer has not authorised this operation',
      `Expected: authorizationStatus AUTHORIZED. It is ${state}.`,
    );
  }

  #base(customer: Customer): ResourceBase {
    this.#forgetOld();
    return { id: randomUUID(), customer, createdAt: this.#now(), sca: undefined };
  }

  #forgetOld(): void {
    const oldest = this.#now().getTime() - RESOURCE_MS;
    for (const [id, { createdAt }] of this.#resources) {
      if (createdAt.getTime() >= oldest) return; // a Map keeps the order of insertion
      this.#resources.delete(id);
    }
  }
}
