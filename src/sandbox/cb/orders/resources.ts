import { randomUUID } from 'node:crypto';
import { Refusal } from '../../answers/refusal.ts';
import type { ScaState } from '../../customer-site/bank-side.ts';
import type { Customer, Product } from '../../customers/seed-customers.ts';
import type { IsoDate } from '../../ledger/bank-time.ts';
import { type Plan, planOf } from '../../operations/plan.ts';
import { Shelf } from '../../shelf.ts';
import type { Grant } from '../grant.ts';
import type {
  ConsentCategory,
  ConsentResource,
  InquiryResource,
  OperationResource,
  Resource,
  ResourceBase,
  StandingOrderResource,
  TransferResource,
} from './resource.ts';
import type { StandingOrder } from './standing-order.ts';
import type { TransferOrder } from './transfer-order.ts';

/** How long the customer has for SCA. */
const SCA_MS = 10 * 60 * 1000;
/** How long the bank keeps a resource. */
const RESOURCE_MS = 24 * 60 * 60 * 1000;
/** How long the bank keeps a resource after its operation is finished. */
const FINISHED_MS = 15 * 60 * 1000;

/** The resources of all flows, and the SCA of each ("States and transitions" of the interface specification). */
export class Resources extends Shelf<Resource> {
  readonly #now: () => Date;

  constructor(now: () => Date) {
    super(({ customer }) => [customer.customerId]);
    this.#now = now;
  }

  addConsent(customer: Customer, categories: readonly ConsentCategory[]): ConsentResource {
    return this.keep({ ...this.#base(customer), kind: 'consent', categories });
  }

  addTransfer(customer: Customer, product: Product, order: TransferOrder): TransferResource {
    const base = this.#base(customer, planOf(order.beneficiaryName));
    const nextStep = base.plan.verify === 'verify2' ? 'verify2' : 'execute';
    return this.keep({ ...base, kind: 'moneyTransfer', product, order, nextStep, execution: undefined });
  }

  addStandingOrder(customer: Customer, product: Product, order: StandingOrder): StandingOrderResource {
    const base = this.#base(customer, planOf(order.beneficiaryName));
    return this.keep({
      ...base,
      kind: 'standingOrder',
      product,
      order,
      nextStep: 'verify2',
      execution: undefined,
    });
  }

  addInquiry(customer: Customer, grant: Grant, product: Product, from: IsoDate): InquiryResource {
    return this.keep({ ...this.#base(customer), kind: 'inquiry', grant, product, from });
  }

  /** Undefined: the resource is unknown or was removed. */
  override find(id: string): Resource | undefined {
    const resource = super.find(id.toLowerCase());
    const finishedAt = resource?.finishedAt;
    const disposed = finishedAt && this.#now().getTime() - finishedAt.getTime() > FINISHED_MS;
    return disposed ? undefined : resource;
  }

  /** The current resources, oldest first. */
  override list(): Resource[] {
    return super.list().filter(({ id }) => this.find(id) !== undefined);
  }

  /** Whether the customer authorised an inquiry of this login. */
  isLifted(grant: Grant): boolean {
    for (const resource of this.memory.things.values()) {
      if (resource.kind === 'inquiry' && resource.grant === grant && this.scaState(resource) === 'AUTHORIZED')
        return true;
    }
    return false;
  }

  /**
   * Starts SCA. While it is pending, it may be started again.
   *
   * @throws Refusal `SCA_FINISHED`, `STEP_MISSING`
   */
  startSca(resource: Resource, redirectUri: string): void {
    this.#requireLastStep(resource);
    const state = this.scaState(resource);
    if (state !== 'PENDING')
      throw new Refusal('SCA_FINISHED', `SCA of this resource has ended: it is ${state}`);
    resource.sca = { redirectUri, startedAt: this.#now(), decision: undefined };
  }

  scaState({ sca, createdAt, plan }: Resource): ScaState {
    if (sca?.decision) return sca.decision;
    const age = this.#now().getTime() - (sca?.startedAt ?? createdAt).getTime();
    return age > SCA_MS && plan.sca !== 'PENDING' ? 'EXPIRED' : 'PENDING';
  }

  /**
   * Records the customer's decision, or the outcome that the order plans instead. A late or repeated decision changes
   * nothing.
   *
   * @returns the address to send the browser back to.
   */
  decide(id: string, decision: Exclude<ScaState, 'PENDING'>): URL {
    const resource = this.find(id);
    if (!resource?.sca) throw new RangeError(`No SCA was started for the resource ${id}`);
    const ending = resource.plan.sca ?? decision;
    if (this.scaState(resource) === 'PENDING' && ending !== 'PENDING') resource.sca.decision = ending;
    return new URL(resource.sca.redirectUri);
  }

  #requireLastStep(resource: Resource): void {
    if (!('nextStep' in resource) || resource.nextStep === 'execute') return;
    throw new Refusal(
      'STEP_MISSING',
      `The operation needs its step ${resource.nextStep} first`,
      `Expected: PUT {resourceId}/${resource.nextStep}, as _links.next says.`,
    );
  }

  /**
   * @throws Refusal `ALREADY_EXECUTED`, `STEP_MISSING`, `NOT_AUTHORIZED`, `EXECUTION_REFUSED`
   */
  requireExecutable(operation: OperationResource): void {
    if (operation.execution) throw new Refusal('ALREADY_EXECUTED', 'The operation was already executed');
    this.#requireLastStep(operation);
    this.requireAuthorized(operation);
    if (operation.plan.execute !== 'refused') return;
    throw new Refusal(
      'EXECUTION_REFUSED',
      'The bank does not execute this operation',
      "The payee's name causes this. Nothing was paid.",
    );
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

  override keep<R extends Resource>(resource: R): R {
    this.#forgetOld();
    return super.keep(resource);
  }

  #base(customer: Customer, plan: Plan = {}): ResourceBase {
    return {
      id: randomUUID(),
      customer,
      createdAt: this.#now(),
      sca: undefined,
      finishedAt: undefined,
      plan,
    };
  }

  #forgetOld(): void {
    const oldest = this.#now().getTime() - RESOURCE_MS;
    for (const [id, { createdAt }] of this.memory.things) {
      if (createdAt.getTime() >= oldest) return; // A Map keeps the insertion order.
      this.memory.things.delete(id);
    }
  }
}
