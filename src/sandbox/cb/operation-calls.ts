import type { OutgoingAnswer } from '../answers/outgoing.ts';
import { Refusal } from '../answers/refusal.ts';
import type { Bank } from '../bank.ts';
import type { Customer, Product } from '../customers/seed-customers.ts';
import { requireEmptyBody } from '../strict/body.ts';
import type { RawRequest } from '../strict/raw-request.ts';
import type { Calls } from './bank-call.ts';
import { type Answer, operationPlace, type Place, success } from './envelope.ts';
import { operationOf, payingProductOf } from './from-path.ts';
import type { OperationResource } from './orders/resource.ts';
import { printerLink } from './receipt.ts';

/** The names of the bank's operations. */
type OperationName = OperationResource['kind'];
/** The resource of an operation. */
type ResourceOf<N extends OperationName> = Extract<OperationResource, { kind: N }>;
/** The content of an answer, without its links. */
type Content = Pick<Answer, 'data' | 'messages' | 'embedded'>;

/** The part that differs between operations: what each call takes and answers. */
export interface OperationCalls<N extends OperationName> {
  name: N;
  /** The data of the prepare call. */
  prepare(bank: Bank): Answer['data'];
  /** Checks the order of the verify call and makes its resource. */
  verify(
    bank: Bank,
    request: RawRequest,
    from: { customer: Customer; product: Product },
  ): Content & { resource: ResourceOf<N> };
  /** Processes the second verify step. @returns the data of the answer */
  verify2(request: RawRequest, resource: ResourceOf<N>): Answer['data'];
  /** Executes the authorised operation, once. */
  execute(bank: Bank, resource: ResourceOf<N>): Content;
}

/** The path of an operation's calls. */
export function operationPath(name: OperationName): string {
  return `/private/customers/{customerId}/products/{productId}/${name}`;
}

/**
 * The calls that every operation has: prepare, verify, verify2 and execute (interface specification, "Generic operation
 * flow").
 */
export function operationCalls<N extends OperationName>(calls: OperationCalls<N>): Calls {
  const { name } = calls;
  const root = operationPath(name);
  return {
    [`GET ${root}/prepare`]: (bank, call) => {
      const { customer, product } = payingProductOf(bank, call);
      const place: Place = {
        ...operationPlace(name, customer, product),
        self: { href: 'prepare', method: 'GET' },
        next: { href: 'verify', method: 'POST' },
      };
      return success(bank, { data: calls.prepare(bank), place });
    },

    [`POST ${root}/verify`]: (bank, call) => {
      const from = payingProductOf(bank, call);
      const { resource, ...content } = calls.verify(bank, call.request, from);
      const place: Place = {
        ...operationPlace(name, from.customer, from.product),
        self: { href: 'verify', method: 'POST' },
        next: { href: `${resource.id}/${resource.nextStep}`, method: 'PUT' },
      };
      return success(bank, { ...content, resourceId: resource.id, place });
    },

    [`PUT ${root}/{resourceId}/verify2`]: (bank, call) => {
      const resource = operationOf(bank, call, name);
      const data = calls.verify2(call.request, resource);
      return answerStep(bank, resource, { href: 'verify2', method: 'PUT' }, { data }, 'execute');
    },

    [`PUT ${root}/{resourceId}/execute`]: (bank, call) => {
      const resource = operationOf(bank, call, name);
      requireEmptyBody(call.request);
      const { embedded, ...content } = calls.execute(bank, resource);
      const answer = { ...content, embedded: { ...embedded, printer: printerLink(bank, resource) } };
      return answerStep(bank, resource, { href: 'execute', method: 'PUT' }, answer);
    },
  };
}

/** The answer to a call about an existing resource. `href` and `next` are relative to the resource. */
export function answerStep(
  bank: Bank,
  { id, kind, customer, product }: OperationResource,
  { href, method }: Place['self'],
  content: Content,
  next?: 'execute',
): OutgoingAnswer {
  const place: Place = {
    ...operationPlace(kind, customer, product),
    self: { href: `${id}/${href}`, method },
    ...(next && { next: { href: `${id}/${next}`, method: 'PUT' } }),
  };
  return success(bank, { ...content, resourceId: id, place });
}

/**
 * Marks a further verify step of a flow as done. The next step is then execute.
 *
 * @throws Refusal `STEP_MISSING` if this is not the flow's next step
 */
export function passStep(operation: OperationResource, step: 'verify2'): void {
  if (operation.nextStep !== step)
    throw new Refusal(
      'STEP_MISSING',
      `${step} is not the next step of this operation`,
      `Expected: ${operation.nextStep}.`,
    );
  operation.nextStep = 'execute';
}
