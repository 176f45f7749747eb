import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { HttpBindings } from '@hono/node-server';
import type { OutgoingAnswer } from '../answers/outgoing.ts';
import { Refusal } from '../answers/refusal.ts';
import type { Bank } from '../bank.ts';
import type { Fault } from '../faults/fault.ts';
import { productFault } from '../faults/magic.ts';
import {
  applyContentFaults,
  clockOf,
  FIREWALL_PAGE,
  find,
  ownFaults,
  sendWithFaults,
} from '../faults/spoil.ts';
import { header } from '../strict/headers.ts';
import { type RawRequest, readRawRequest } from '../strict/raw-request.ts';
import { registeredFor } from '../strict/registered-pair.ts';
import type { DoorAnswer, DoorCall } from './door-call.ts';
import type { DoorRules } from './door-rules.ts';
import { grantOfCall } from './oauth/access-token.ts';
import { OAuthError } from './oauth/client.ts';
import { namedPaths } from './oauth/metadata.ts';
import { oauthCall } from './oauth/token-endpoint.ts';
import { type Addressed, DOOR_PATH, operationAt } from './operations.ts';
import { DoorRefusal, isCut, type MessageCode, refusalBody, refusalText } from './refusal.ts';
import { servedCalls } from './served-calls.ts';
import { checkClientCertificate, checkRequest } from './strict/check-request.ts';
import { checkRequestId } from './strict/headers.ts';

/** Where RFC 8414, section 3.1, puts the metadata of an issuer with a path. */
const METADATA_PATH = `/.well-known/oauth-authorization-server${DOOR_PATH}`;

/** Whether a request is for the second door. */
export function isForDoor({ description }: DoorRules, target: string): boolean {
  const [path = ''] = target.split('?', 1);
  const named = [...namedPaths(description, 'tokenEndpoint'), ...namedPaths(description, 'metadata')];
  return (
    named.includes(path) || path === METADATA_PATH || path === DOOR_PATH || path.startsWith(`${DOOR_PATH}/`)
  );
}

/** What happens to a call on its way, for the console. */
interface Passage {
  faults: readonly Fault[];
  refusal: Error | undefined;
  operation: Addressed | undefined;
  caller: string | undefined;
  /** What the bank ignored in the request. */
  warnings: readonly string[];
}

/** Answers a request of the second door. */
export type DoorListener = (
  incoming: HttpBindings['incoming'],
  outgoing: HttpBindings['outgoing'],
) => Promise<void>;

/** The second door: the Berlin Group's NextGenPSD2, for the same bank. It answers each request of its path. */
export function doorListener(bank: Bank): DoorListener {
  return async (incoming, outgoing) => {
    try {
      await answerRequest(bank, { incoming, outgoing });
    } catch {
      // The client hung up while it sent its request. Nobody waits for an answer.
      outgoing.destroy();
    }
  };
}

async function answerRequest(bank: Bank, env: HttpBindings): Promise<void> {
  const begun = performance.now();
  const request = await readRawRequest(env.incoming);
  const passage: Passage = {
    faults: [],
    refusal: undefined,
    operation: undefined,
    caller: undefined,
    warnings: [],
  };
  const answer = answerTo(bank, request, passage);
  const { faults, refusal, operation, caller, warnings } = passage;
  applyContentFaults(answer, faults);
  if (find(faults, 'other-request-id')) answer.headers.set('x-request-id', randomUUID());
  if (find(faults, 'clock')) answer.headers.set('date', clockOf(bank.wallNow(), faults).toUTCString());
  bank.calls.addCall({
    at: bank.now(),
    milliseconds: performance.now() - begun,
    request,
    faults,
    refusal,
    caller,
    warnings,
    answer,
    title: operation?.id ?? request.target.split('?', 1)[0] ?? '',
  });
  if (refusal instanceof DoorRefusal && isCut(refusal))
    bank.rules.log(`The bank refused ${request.method} ${request.target}: ${refusalText(refusal)}`);
  await bank.keep();
  if (bank.rules.variations.includes('compressed')) compress(answer, request);
  await sendWithFaults({ env }, answer, faults);
  // Otherwise a HEAD has no answer: Hono makes its own one elsewhere.
  if (request.method === 'HEAD')
    env.outgoing.writeHead(answer.status, Object.fromEntries(answer.headers)).end();
}

/** Compresses an answer, if the call accepts that (RFC 9110, section 12.5.3). */
function compress(answer: OutgoingAnswer, request: RawRequest): void {
  const accepted = header(request, 'accept-encoding') ?? '';
  if (
    answer.body.length === 0 ||
    !/(^|[\s,])(gzip|\*)(\s*[,;](?!\s*q=0(\.0*)?\s*(,|$))|\s*$)/i.test(accepted)
  )
    return;
  answer.body = gzipSync(answer.body);
  answer.headers.set('content-encoding', 'gzip');
  answer.headers.set('vary', 'Accept-Encoding');
}

/** The answer to a request, before faults change it. */
function answerTo(bank: Bank, request: RawRequest, passage: Passage): OutgoingAnswer {
  try {
    checkClientCertificate(request, registeredFor(bank, request));
    const path = belowBase(request.target);
    const operation = operationAt(bank.rules.description, request.method, path);
    if (operation !== undefined && operation !== 'method') passage.operation = operation;
    passage.faults = [
      ...bank.faults.due(
        { ...request, ...(passage.operation && { operation: passage.operation.id }) },
        { now: bank.now(), customerId: customerOfCall(bank, request) },
      ),
      ...ownFaults(request),
    ];
    if (find(passage.faults, 'cut-before-effect')) return outgoing(request, 200);
    const oauth = oauthCall(bank, request, path);
    if (oauth)
      return (
        plannedAnswer(bank, request, passage.faults) ?? outgoing(request, oauth.status, oauth.body, NO_STORE)
      );
    return answerOperation(bank, request, operation, passage);
  } catch (error) {
    passage.refusal = error instanceof Error ? error : new Error(String(error));
    return refusalAnswer(bank, request, passage.refusal, passage.faults);
  }
}

/** Whose call it is, before it is checked: the customer of the consent or of the access token. */
function customerOfCall({ door }: Bank, request: RawRequest): string | undefined {
  const token = /^Bearer (\S+)$/.exec(header(request, 'authorization') ?? '')?.[1];
  const consent = door.consents.find(header(request, 'consent-id') ?? '');
  return consent?.customerId ?? (token === undefined ? undefined : door.tokens.find(token)?.grant.customerId);
}

const NO_STORE = { 'Cache-Control': 'no-store', Pragma: 'no-cache' };

function answerOperation(
  bank: Bank,
  received: RawRequest,
  operation: Addressed | 'method' | undefined,
  passage: Passage,
): OutgoingAnswer {
  checkRequestId(received);
  if (operation === undefined) throw new DoorRefusal('RESOURCE_UNKNOWN', 'The bank has no such path');
  if (operation === 'method') throw new DoorRefusal('SERVICE_INVALID', 'The path has no such method');
  const serve = servedCalls[operation.id];
  const { request, warnings } = checkRequest(
    received,
    operation,
    bank.rules,
    registeredFor(bank, received),
    clockOf(bank.wallNow(), passage.faults),
  );
  passage.warnings = warnings;
  const { variations } = bank.rules;
  if (variations.includes('no-baskets') && operation.id.includes('SigningBasket'))
    throw new DoorRefusal('SERVICE_INVALID', 'The bank has no signing baskets', '', { status: 501 });
  const isStale = find(passage.faults, 'stale-token') !== undefined;
  const grant = grantOfCall(bank, request, operation, isStale);
  passage.caller = grant && `scope ${grant.scope}, ${grant.customerId ?? 'no customer'}`;
  const magic = productFault(bank, operation);
  const planned = plannedAnswer(bank, request, magic ? [...passage.faults, magic] : passage.faults);
  if (planned) return planned;
  const call: DoorCall = { request, operation, grant, faults: passage.faults };
  const answer = delivered(bank, request, () => serve(bank, call), passage.faults);
  if (magic) passage.faults = [...passage.faults, magic];
  return answer;
}

/** Plays a gateway that gives a call to the bank twice, if a fault asks for it. */
function delivered(
  bank: Bank,
  request: RawRequest,
  serve: () => DoorAnswer,
  faults: readonly Fault[],
): OutgoingAnswer {
  const first = serve();
  const status = find(faults, 'delivered-twice-status');
  if (status) return refusedByFault(bank, request, status.value, faults);
  const { status: served, body, headers } = find(faults, 'delivered-twice') ? serve() : first;
  const hasNotices = typeof body === 'object' && bank.rules.variations.includes('notices');
  return outgoing(request, served, hasNotices ? { ...body, ...NOTICES } : body, headers);
}

/** What the variation `notices` adds to every answer. */
const NOTICES = {
  psuMessage: 'Our branches are closed on 24 December.',
  tppMessages: [
    { category: 'WARNING', code: 'WARNING', text: 'This interface ends on 31 December. Use version 2.' },
  ],
};

/** The answer of a fault that replaces the call. */
function plannedAnswer(
  bank: Bank,
  request: RawRequest,
  faults: readonly Fault[],
): OutgoingAnswer | undefined {
  if (find(faults, 'firewall')) {
    const answer = outgoing(request, 403, undefined, { 'Content-Type': 'text/html' });
    return { ...answer, body: Buffer.from(FIREWALL_PAGE) };
  }
  const status = find(faults, 'status');
  return status && refusedByFault(bank, request, status.value, faults);
}

/** Statuses whose meaning clients know have their own code. */
const CODES = new Map<number, MessageCode>([
  [401, 'TOKEN_INVALID'],
  [420, 'ACCESS_EXCEEDED'],
  [429, 'ACCESS_EXCEEDED'],
  [503, 'SERVICE_UNAVAILABLE'],
]);

function refusedByFault(
  bank: Bank,
  request: RawRequest,
  status: number,
  faults: readonly Fault[],
): OutgoingAnswer {
  const code = CODES.get(status) ?? 'INTERNAL_SERVER_ERROR';
  const answer = refusalAnswer(
    bank,
    request,
    new DoorRefusal(code, 'A fault made the bank fail', '', { status }),
    faults,
  );
  if ([420, 429, 503].includes(status)) answer.headers.set('retry-after', '1');
  return answer;
}

function refusalAnswer(
  bank: Bank,
  request: RawRequest,
  error: Error,
  faults: readonly Fault[],
): OutgoingAnswer {
  if (error instanceof OAuthError) {
    return outgoing(request, error.status, { error: error.code, error_description: error.message }, NO_STORE);
  }
  const isProblem =
    bank.rules.variations.includes('problem-json') || find(faults, 'problem-json') !== undefined;
  const refusal = refusalOf(error);
  return outgoing(request, refusal.status, refusalBody(refusal, isProblem ? 'problem' : 'tppMessages'), {
    'Content-Type': isProblem ? 'application/problem+json' : 'application/json',
  });
}

function refusalOf(error: Error): DoorRefusal {
  if (error instanceof DoorRefusal) return error;
  // The header that asks for faults is read by the code of both doors.
  if (error instanceof Refusal) return new DoorRefusal('FORMAT_ERROR', error.message, error.detail);
  return new DoorRefusal('INTERNAL_SERVER_ERROR', 'The sandbox bank failed', error.message);
}

/** An answer on the wire. It repeats `X-Request-ID`. */
function outgoing(
  request: RawRequest,
  status: number,
  body?: Record<string, unknown> | string,
  headers: Record<string, string> = {},
): OutgoingAnswer {
  const requestId = header(request, 'x-request-id');
  return {
    status,
    headers: new Headers({
      ...(body && { 'Content-Type': typeof body === 'string' ? 'application/xml' : 'application/json' }),
      ...headers,
      ...(requestId !== undefined && { 'X-Request-ID': requestId }),
    }),
    body: body ? Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) : Buffer.alloc(0),
  };
}

/** The path below the base URL, without the query. */
function belowBase(target: string): string {
  const [path = ''] = target.split('?', 1);
  return path === METADATA_PATH ? '/.well-known/oauth-authorization-server' : path.slice(DOOR_PATH.length);
}
