import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { bearerToken } from '../access/tokens.ts';
import { jsonAnswer, type OutgoingAnswer } from '../answers/outgoing.ts';
import { Refusal } from '../answers/refusal.ts';
import type { Bank } from '../bank.ts';
import { productFault } from '../faults/magic.ts';
import { clockOf, find } from '../faults/spoil.ts';
import type { Door, Met, Passage, Served } from '../server/pipeline.ts';
import { header } from '../strict/headers.ts';
import type { RawRequest } from '../strict/raw-request.ts';
import { registeredFor } from '../strict/registered-pair.ts';
import type { DoorAnswer, DoorCall } from './door-call.ts';
import type { DoorRules } from './door-rules.ts';
import { doorOf } from './door-state.ts';
import { stepIn } from './embedded/step.ts';
import { grantOfCall } from './oauth/access-token.ts';
import { OAuthError } from './oauth/client.ts';
import { namedPaths } from './oauth/metadata.ts';
import { oauthCall } from './oauth/token-endpoint.ts';
import { type Addressed, DOOR_PATH, operationAt } from './operations.ts';
import { ownerSide } from './owner.ts';
import { DoorRefusal, isCut, type MessageCode, refusalBody, refusalText } from './refusal.ts';
import { servedCalls } from './served-calls.ts';
import { checkClientCertificate, checkRequest } from './strict/check-request.ts';
import { withStandardNames } from './strict/header-names.ts';
import { checkRequestId } from './strict/headers.ts';

/** Where RFC 8414, section 3.1, puts the metadata of an issuer with a path. */
const METADATA_PATH = `/.well-known/oauth-authorization-server${DOOR_PATH}`;

/** The second door: the Berlin Group's NextGenPSD2, for the same bank. */
export function nextgenpsd2Door(bank: Bank): Door {
  const { rules } = bank;
  return {
    isFor: (target) => isForDoor(rules, target),
    meet: (passage) => meet(bank, passage),
    refuse: (error, passage) => {
      const refusal = error instanceof OAuthError ? error : doorRefusalOf(error);
      if (refusal instanceof OAuthError) {
        const { code, message, status } = refusal;
        return jsonAnswer(status, { error: code, error_description: message }, NO_STORE);
      }
      const { method, target } = passage.request;
      if (isCut(refusal)) rules.log(`The bank refused ${method} ${target}: ${refusalText(refusal)}`);
      return refusalAnswer(rules, refusal, passage);
    },
    fail: (status, passage) => {
      const code = CODES.get(status) ?? 'INTERNAL_SERVER_ERROR';
      const refusal = new DoorRefusal(code, 'A fault made the bank fail', '', { status });
      return refusalAnswer(rules, refusal, passage);
    },
    seal: ({ headers }, { request, faults }) => {
      const sent = header(withStandardNames(request, rules.description.headers.names), 'x-request-id');
      const id = find(faults, 'other-request-id') ? randomUUID() : sent;
      if (id !== undefined) headers.set('x-request-id', id);
    },
    pack: (answer, { request }) => {
      if (rules.variations.includes('compressed')) compress(answer, request);
    },
    owner: ownerSide(bank),
  };
}

function isForDoor({ description }: DoorRules, target: string): boolean {
  const [path = ''] = target.split('?', 1);
  const named = [...namedPaths(description, 'tokenEndpoint'), ...namedPaths(description, 'metadata')];
  return (
    named.includes(path) || path === METADATA_PATH || path === DOOR_PATH || path.startsWith(`${DOOR_PATH}/`)
  );
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

function meet(bank: Bank, passage: Passage): Met {
  const { request } = passage;
  const [whole = ''] = request.target.split('?', 1);
  passage.title = whole;
  checkClientCertificate(request, registeredFor(bank, request));
  const path = belowBase(whole);
  const addressed = operationAt(bank.rules.description, request.method, path);
  const operation = typeof addressed === 'object' ? addressed.id : undefined;
  const step = operation === undefined ? undefined : stepIn(request.body);
  passage.title = [operation ?? whole, ...(step === undefined ? [] : [step])].join(' ');
  return {
    operation,
    step,
    customerId: customerOfCall(bank, request),
    check: () => {
      const oauth = oauthCall(bank, request, path);
      if (oauth) {
        const serve = () => jsonAnswer(200, oauth(), NO_STORE);
        return () => ({ serve, magic: undefined });
      }
      return checkedCall(bank, passage, addressed);
    },
  };
}

/** Whose call it is, before it is checked: the customer of the consent or of the access token. */
function customerOfCall(bank: Bank, request: RawRequest): string | undefined {
  const door = doorOf(bank);
  const token = bearerToken(header(request, 'authorization'));
  const consent = door.consents.find(header(request, 'consent-id') ?? '');
  return consent?.customerId ?? (token === undefined ? undefined : door.tokens.find(token)?.grant.customerId);
}

const NO_STORE = { 'Cache-Control': 'no-store', Pragma: 'no-cache' };

function checkedCall(
  bank: Bank,
  passage: Passage,
  operation: Addressed | 'method' | undefined,
): () => Served {
  const { faults } = passage;
  const { rules } = bank;
  const received = withStandardNames(passage.request, rules.description.headers.names);
  checkRequestId(received);
  if (operation === undefined) throw new DoorRefusal('RESOURCE_UNKNOWN', 'The bank has no such path');
  if (operation === 'method') throw new DoorRefusal('SERVICE_INVALID', 'The path has no such method');
  const registered = registeredFor(bank, received);
  const clock = clockOf(bank.wallNow(), faults);
  const { request, warnings } = checkRequest(received, operation, rules, registered, clock);
  passage.warnings = warnings;
  if (rules.variations.includes('no-baskets') && operation.id.includes('SigningBasket'))
    throw new DoorRefusal('SERVICE_INVALID', 'The bank has no signing baskets', '', { status: 501 });
  const grant = grantOfCall(bank, request, operation, find(faults, 'stale-token') !== undefined);
  passage.caller = grant && `scope ${grant.scope}, ${grant.customerId ?? 'no customer'}`;
  const call: DoorCall = { request, operation, grant, faults };
  const serve = () => answerOf(rules, servedCalls[operation.id](bank, call));
  return () => ({ serve, magic: productFault(bank, operation) });
}

function answerOf({ variations }: DoorRules, { status, body, headers }: DoorAnswer): OutgoingAnswer {
  if (typeof body === 'object')
    return jsonAnswer(status, variations.includes('notices') ? { ...body, ...NOTICES } : body, headers);
  return {
    status,
    headers: new Headers({ ...(body && { 'Content-Type': 'application/xml' }), ...headers }),
    body: Buffer.from(body ?? ''),
  };
}

/** What the variation `notices` adds to every answer. */
const NOTICES = {
  psuMessage: 'Our branches are closed on 24 December.',
  tppMessages: [
    { category: 'WARNING', code: 'WARNING', text: 'This interface ends on 31 December. Use version 2.' },
  ],
};

/** Statuses whose meaning clients know have their own code. */
const CODES = new Map<number, MessageCode>([
  [401, 'TOKEN_INVALID'],
  [420, 'ACCESS_EXCEEDED'],
  [429, 'ACCESS_EXCEEDED'],
  [503, 'SERVICE_UNAVAILABLE'],
]);

function refusalAnswer({ variations }: DoorRules, refusal: DoorRefusal, { faults }: Passage): OutgoingAnswer {
  const isProblem = variations.includes('problem-json') || find(faults, 'problem-json') !== undefined;
  return jsonAnswer(refusal.status, refusalBody(refusal, isProblem ? 'problem' : 'tppMessages'), {
    ...(isProblem && { 'Content-Type': 'application/problem+json' }),
  });
}

function doorRefusalOf(error: Error): DoorRefusal {
  if (error instanceof DoorRefusal) return error;
  // The header that asks for faults is read by the code of both doors.
  if (error instanceof Refusal) return new DoorRefusal('FORMAT_ERROR', error.message, error.detail);
  return new DoorRefusal('INTERNAL_SERVER_ERROR', 'The sandbox bank failed', error.message);
}

/** A path, below the base URL. */
function belowBase(path: string): string {
  return path === METADATA_PATH ? '/.well-known/oauth-authorization-server' : path.slice(DOOR_PATH.length);
}
