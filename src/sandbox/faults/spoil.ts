import { setTimeout as wait } from 'node:timers/promises';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context, MiddlewareHandler } from 'hono';
import { errorEnvelope } from '../answers/envelope.ts';
import { type OutgoingAnswer, send } from '../answers/outgoing.ts';
import { Refusal } from '../answers/refusal.ts';
import type { Bank } from '../bank.ts';
import type { BankEnv } from '../server/bank-env.ts';
import { header } from '../strict/headers.ts';
import type { RawRequest } from '../strict/raw-request.ts';
import { BadFault, type Fault, type FaultKind, parseFault } from './fault.ts';

/** The header with which a request asks for faults: `cut-after-effect`, `delay=200, status=503`. */
const FAULT_HEADER = 'X-Sandbox-Fault';

/** Collects the faults of a call, from the active faults and from its own header. */
export function orderedFaults(bank: Bank): MiddlewareHandler<BankEnv> {
  return async (c, next) => {
    const { request } = c.var;
    const moment = { now: bank.now(), customerId: customerOfCall(bank, request) };
    c.set('faults', [...bank.faults.due(request, moment), ...ownFaults(request)]);
    if (find(c.var.faults, 'cut-before-effect')) return c.body(null);
    return next();
  };
}

/** Whose call it is, before it is checked: the customer of the path or of the access token. */
function customerOfCall(bank: Bank, request: RawRequest): string | undefined {
  const named = /^\/private\/(?:[^?]*\/)?customers\/(\d{7})(?:[/?]|$)/.exec(request.target)?.[1];
  const token = /^Bearer (\S+)$/.exec(header(request, 'authorization') ?? '')?.[1];
  return named ?? (token === undefined ? undefined : bank.tokens.find(token)?.grant.customerId);
}

/** Answers a call with a fault's refusal instead of processing it. It runs after the checks, so the bank stays strict. */
export const refusedByFault: MiddlewareHandler<BankEnv> = async (c, next) => {
  for (const fault of c.var.faults) {
    const answer = refusalOf(fault);
    if (answer) return answer;
  }
  return next();
};

/** The faults that a request asks for. @throws Refusal `HEADER_MALFORMED` */
export function ownFaults(request: RawRequest): Fault[] {
  const value = header(request, FAULT_HEADER.toLowerCase());
  if (value === undefined) return [];
  try {
    return value.split(',').map(parseFault);
  } catch (error) {
    if (!(error instanceof BadFault)) throw error;
    throw new Refusal('HEADER_MALFORMED', `${FAULT_HEADER}: ${error.message}`, error.hint);
  }
}

/** What a firewall in front of the bank answers. */
export const FIREWALL_PAGE = `<!DOCTYPE html>
<html><head><title>Request rejected</title></head>
<body>The requested URL was rejected. Please consult with your administrator.</body></html>
`;

/** Statuses with a meaning for clients have the bank's own code. */
const CODES = new Map([
  [401, 'TOKEN_INVALID'],
  [420, 'TOO_MANY_CALLS'],
  [429, 'TOO_MANY_CALLS'],
]);

/** The answer of a fault that replaces the call. Undefined for other faults. */
export function refusalOf({ kind, value }: Fault): Response | undefined {
  if (kind === 'firewall') {
    return new Response(FIREWALL_PAGE, { status: 403, headers: { 'Content-Type': 'text/html' } });
  }
  if (kind !== 'status') return undefined;
  return plannedRefusal(value, 'A fault made the bank fail', 'Nothing was done.');
}

/** A refusal with this HTTP status, in the bank's envelope. */
export function plannedRefusal(status: number, message: string, detail: string): Response {
  return Response.json(errorEnvelope(CODES.get(status) ?? 'PLANNED_FAILURE', message, detail), {
    status,
    headers: [420, 429, 503].includes(status) ? { 'Retry-After': '1' } : {},
  });
}

/** The bank's clock for a call with these faults. */
export function clockOf(now: Date, faults: readonly Fault[]): Date {
  return new Date(now.getTime() + (find(faults, 'clock')?.value ?? 0) * 60_000);
}

/** The fault of a kind, if it is among the faults. */
export function find(faults: readonly Fault[], kind: FaultKind): Fault | undefined {
  return faults.find((fault) => fault.kind === kind);
}

/** Changes an answer's content before it is sealed. A refusal stays visible, because the bank did nothing. */
export function applyContentFaults(answer: OutgoingAnswer, faults: readonly Fault[]): void {
  const empty = find(faults, 'no-content') ?? find(faults, 'empty');
  if (empty && answer.status >= 200 && answer.status <= 299) {
    answer.status = empty.kind === 'no-content' ? 204 : 200;
    answer.headers.delete('content-type');
    answer.body = Buffer.alloc(0);
  }
  const isDeclared = find(faults, 'latin1') !== undefined;
  if (isDeclared || find(faults, 'latin1-undeclared')) {
    // The sandbox's own texts have ASCII letters only.
    answer.body = Buffer.from(answer.body.toString('utf8').replaceAll('A ', 'À '), 'latin1');
    const type = answer.headers.get('content-type') ?? 'application/json';
    if (isDeclared) answer.headers.set('content-type', `${type}; charset=ISO-8859-1`);
  }
  if (find(faults, 'truncated-json')) answer.body = answer.body.subarray(0, answer.body.length / 2);
}

/** Sends an answer. Faults can delay it or cut it off. */
export async function sendWithFaults(
  c: Pick<Context<BankEnv>, 'env'>,
  answer: OutgoingAnswer,
  faults: readonly Fault[],
): Promise<Response> {
  const delay = find(faults, 'delay');
  if (delay) await wait(delay.value, undefined, { ref: false });
  if (find(faults, 'cut-before-effect') ?? find(faults, 'cut-after-effect')) {
    c.env.outgoing.destroy();
    return RESPONSE_ALREADY_SENT;
  }
  if (!find(faults, 'cut-in-the-middle')) return send(c, answer);
  const { outgoing } = c.env;
  outgoing.writeHead(answer.status, {
    ...Object.fromEntries(answer.headers),
    'content-length': Math.max(answer.body.length, 2),
  });
  outgoing.write(answer.body.subarray(0, answer.body.length / 2), () => outgoing.destroy());
  return RESPONSE_ALREADY_SENT;
}
