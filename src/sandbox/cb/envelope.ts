import { randomInt } from 'node:crypto';
import { jsonAnswer, type OutgoingAnswer } from '../answers/outgoing.ts';

/** A HAL link of the interface specification ("Response envelope"). */
export interface Link {
  href: string;
  method: 'GET' | 'POST' | 'PUT';
}

interface Message {
  code: string;
  message: string;
  type: 'SUCCESS' | 'INFO' | 'WARNING' | 'ERROR';
  detail: string;
}

/** The position of a call in its group, for the links of the envelope. */
export interface Place {
  /** The path of the group of APIs, `/private/customers/1234567`. */
  base: string;
  /** The operation's name. */
  name: string;
  /** Relative to `base`. */
  self: Link;
  next?: Link;
}

/** The place of an operation's own calls (interface specification, "Generic operation flow"). */
export function operationPlace(
  name: string,
  { customerId }: { customerId: string },
  { productId }: { productId: string },
): Pick<Place, 'base' | 'name'> {
  return { base: `/private/customers/${customerId}/products/${productId}/${name}`, name };
}

/** The content of an answer. Omitted parts are not sent. */
export interface Answer {
  data: Readonly<Record<string, unknown>>;
  resourceId?: string;
  place?: Place;
  /** Parallel calls; each href is absolute. */
  embedded?: Readonly<Record<string, Link>>;
  messages?: readonly Message[];
  /** Additional fields of `result`, for one call only. */
  resultExtras?: Readonly<Record<string, unknown>>;
}

/** Answers a request that succeeded, in the envelope. */
export function success(
  { baseUrl }: { baseUrl: string },
  answer: Answer,
  headers?: Record<string, string>,
): OutgoingAnswer {
  const { data, resourceId, place, embedded, messages = [], resultExtras } = answer;
  const envelope = {
    result: { outcome: 'SUCCESS', requestId: newRequestId(), flushMessages: true, messages, ...resultExtras },
    data,
    ...(resourceId !== undefined && { resources: { resourceId } }),
    ...(place && {
      _links: {
        self: place.self,
        ...(place.next && { next: place.next }),
        curies: [{ href: `${baseUrl}${place.base}/{rel}`, name: place.name }],
      },
    }),
    ...(embedded && { _embedded: embedded }),
  };
  return jsonAnswer(200, envelope, headers);
}

/** The envelope of an answer to a request that failed. */
export function errorEnvelope(
  code: string,
  message: string,
  detail: string,
  resourceId?: string,
): Record<string, unknown> {
  return {
    result: {
      outcome: 'ERROR',
      requestId: newRequestId(),
      flushMessages: true,
      messages: [{ code, message, type: 'ERROR', detail }] satisfies Message[],
    },
    ...(resourceId !== undefined && { resources: { resourceId } }),
  };
}

/** 24 digits. Every second id has a leading zero, so a client that reads it as a number loses digits. */
function newRequestId(): string {
  const digits = Array.from({ length: 23 }, () => randomInt(10)).join('');
  return `${randomInt(2)}${digits}`;
}
