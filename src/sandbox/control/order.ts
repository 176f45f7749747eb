import type * as z from 'zod/mini';
import type { Bank } from '../bank.ts';
import type { ReadTan } from '../customers/sca-methods.ts';

/** What an order works on. */
export interface OrderPlace {
  bank: Bank;
  /** A customer withdraws all consents, at every door. @returns how many */
  revokeAll(customerId: string): number;
  /** A customer reads the newest valid TAN, once. */
  readTan(customerId: string): ReadTan | null;
}

/** An order to the bank: for programs under `/control`, for the buttons of the console under `/console`. */
export interface Order {
  method: 'GET' | 'POST' | 'DELETE';
  /** Relative, with parameters as in OpenAPI: `/faults/{id}`. */
  path: string;
  /** What it does, for the OpenAPI. */
  says: string;
  /** What the body is about, and its form. Undefined: there is no body. */
  body?: { what: string; shape: z.ZodMiniType };
  answer: z.ZodMiniType;
  /** Default: 200. */
  status?: 201;
  /** The console does not have it: it gives what a page must not see. */
  programsOnly?: true;
  /** @throws OrderRefused, BadFault */
  run(place: OrderPlace, body: unknown, parameters: Readonly<Record<string, string>>): unknown;
}

/** An order that the bank does not carry out. */
export class OrderRefused extends Error {
  override readonly name = 'OrderRefused';
  readonly status: 400 | 404;

  constructor(status: 400 | 404, message: string) {
    super(message);
    this.status = status;
  }
}

/** Declares an order whose body has a shape. */
export function orderWith<Body, Answer>(
  order: Omit<Order, 'body' | 'answer' | 'run'> & {
    body: { what: string; shape: z.ZodMiniType<Body> };
    answer: z.ZodMiniType<Answer>;
    run(place: OrderPlace, body: Body, parameters: Readonly<Record<string, string>>): Answer;
  },
): Order {
  const { body, run } = order;
  // `controlRoutes` has checked the body against the same shape. Parsing again gives it its type.
  return { ...order, run: (place, sent, parameters) => run(place, body.shape.parse(sent), parameters) };
}

/** Declares an order without a body. */
export function bareOrder<Answer>(
  order: Omit<Order, 'body' | 'answer' | 'run'> & {
    answer: z.ZodMiniType<Answer>;
    run(place: OrderPlace, parameters: Readonly<Record<string, string>>): Answer;
  },
): Order {
  return { ...order, run: (place, _body, parameters) => order.run(place, parameters) };
}
