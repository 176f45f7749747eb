import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context } from 'hono';
import type { BankEnv } from '../server/bank-env.ts';
import { type Answer, successEnvelope } from './envelope.ts';

/** An answer as it goes over the wire. The API does not change it any more. */
export interface OutgoingAnswer {
  status: number;
  headers: Headers;
  body: Buffer;
}

/** The bodies of answers made here. Reading one from a `Response` costs as much as making the answer. */
const texts = new WeakMap<Response, string>();

/** Answers a request that succeeded, in the envelope. */
export function answerSuccess(
  c: Context<BankEnv>,
  bank: { baseUrl: string },
  answer: Answer,
  headers?: Record<string, string>,
): Response {
  const text = JSON.stringify(successEnvelope(bank, answer));
  const response = c.body(text, 200, { ...headers, 'Content-Type': 'application/json' });
  texts.set(response, text);
  return response;
}

/** Reads the answer that a handler made. */
export async function readOutgoing(response: Response): Promise<OutgoingAnswer> {
  const text = texts.get(response);
  return {
    status: response.status,
    headers: new Headers(response.headers),
    body: text === undefined ? Buffer.from(await response.arrayBuffer()) : Buffer.from(text),
  };
}

/** Sends an answer. A 204 has no body and no length. */
export function send(c: Pick<Context<BankEnv>, 'env'>, { status, headers, body }: OutgoingAnswer): Response {
  // Hono makes its own answer to a HEAD request.
  if (c.env.incoming.method === 'HEAD') return new Response(null, { status, headers });
  const { outgoing } = c.env;
  const length = status === 204 ? {} : { 'content-length': body.length };
  outgoing.writeHead(status, { ...Object.fromEntries(headers), ...length });
  outgoing.end(status === 204 ? undefined : body);
  return RESPONSE_ALREADY_SENT;
}

const types = { pdf: 'application/pdf', xls: 'application/vnd.ms-excel' } as const;

/** Answers with a document. It has no envelope. */
export function sendDocument(type: keyof typeof types, name: string, bytes: Buffer): Response {
  return new Response(Uint8Array.from(bytes), {
    headers: {
      'Content-Type': types[type],
      'Content-Disposition': `attachment; filename="${name}.${type}"`,
    },
  });
}
