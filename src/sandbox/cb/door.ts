import { randomInt } from 'node:crypto';
import { bearerToken } from '../access/tokens.ts';
import { jsonAnswer, type OutgoingAnswer } from '../answers/outgoing.ts';
import { Refusal, wrongValue } from '../answers/refusal.ts';
import type { SealFlaw } from '../answers/seal.ts';
import type { Bank } from '../bank.ts';
import type { Fault } from '../faults/fault.ts';
import { magicFault } from '../faults/magic.ts';
import { clockOf, find } from '../faults/spoil.ts';
import { pathValues } from '../server/path-values.ts';
import type { Door, Met, Passage, Served } from '../server/pipeline.ts';
import { checkKeyId, checkRequest } from '../strict/check-request.ts';
import { header } from '../strict/headers.ts';
import { type RawRequest, refuseOversized } from '../strict/raw-request.ts';
import { registeredFor } from '../strict/registered-pair.ts';
import type { Calls, PrivateCall, PublicCall } from './bank-call.ts';
import { consentCalls } from './consent-calls.ts';
import { customerCalls } from './customer-calls.ts';
import { errorEnvelope } from './envelope.ts';
import type { Grant } from './grant.ts';
import { oauthCalls } from './oauth-calls.ts';
import { ownerSide } from './owner.ts';
import { grantOf } from './permission.ts';
import { applyPersona } from './persona/lived-in.ts';
import { printerCalls } from './receipt.ts';
import { scaCalls } from './sca-calls.ts';
import { standingOrderCalls } from './standing-order-calls.ts';
import { transactionCalls } from './transaction-calls.ts';
import { transferCalls } from './transfer-calls.ts';

/** The calls with an access token. Of two that fit a path the first counts. */
const PRIVATE: Calls<PrivateCall> = {
  ...customerCalls,
  ...transactionCalls,
  ...consentCalls,
  ...scaCalls,
  ...transferCalls,
  ...standingOrderCalls,
  ...printerCalls,
};

/** The first door: the bank's own interface. It takes every request that no other door takes. */
export function cbDoor(bank: Bank): Door {
  return {
    isFor: () => true,
    meet: (passage) => meet(bank, passage),
    refuse: (error) =>
      error instanceof Refusal
        ? refusalAnswer(error)
        : jsonAnswer(500, errorEnvelope('INTERNAL_ERROR', 'The sandbox bank failed', error.message)),
    fail: (status, _, { message, detail }) =>
      jsonAnswer(status, errorEnvelope(CODES.get(status) ?? 'PLANNED_FAILURE', message, detail)),
    shape: (answer, { request }) => {
      answer.headers.set('cb-apitrack-id', sessionOf(request));
      if (bank.rules.persona === 'lived-in') applyPersona(answer, request, bank);
    },
    seal: (answer, { request, faults }, now) => bank.seal.put(answer, request, now, flawOf(faults)),
    owner: ownerSide(bank),
  };
}

/** Statuses with a meaning for clients have the bank's own code. */
const CODES = new Map([
  [401, 'TOKEN_INVALID'],
  [420, 'TOO_MANY_CALLS'],
  [429, 'TOO_MANY_CALLS'],
]);

function meet(bank: Bank, passage: Passage): Met {
  const { request } = passage;
  refuseOversized(request);
  return {
    operation: undefined,
    customerId: customerOfCall(bank, request),
    check: () => {
      const now = bank.wallNow();
      const registered = registeredFor(bank, request);
      const clock = clockOf(now, passage.faults);
      const keyId = checkRequest(request, registered, bank.seenRequestIds, now, clock);
      bank.limits.countCall(keyId);
      if (request.method === 'HEAD') throw unknownEndpoint(request);
      return () => servedCall(bank, passage, keyId);
    },
  };
}

/** Whose call it is, before it is checked: the customer of the path or of the access token. */
function customerOfCall(bank: Bank, request: RawRequest): string | undefined {
  const named = /^\/private\/(?:[^?]*\/)?customers\/(\d{7})(?:[/?]|$)/.exec(request.target)?.[1];
  const token = bearerToken(header(request, 'authorization'));
  return named ?? (token === undefined ? undefined : bank.tokens.find(token)?.grant.customerId);
}

/** Finds the caller by the access token, checks that the signature is that application's, and finds the endpoint. */
function servedCall(bank: Bank, passage: Passage, keyId: string): Served {
  const { request, faults } = passage;
  const [path = ''] = request.target.split('?', 1);
  if (!path.startsWith('/private/')) {
    const { serve, parameters } = endpointOf(oauthCalls, request, path);
    const call: PublicCall = { request, faults, keyId, parameters };
    return { serve: () => serve(bank, call), magic: undefined };
  }
  const token = requiredBearer(request);
  if (find(faults, 'stale-token')) bank.tokens.expire(token);
  const caller = grantOf(bank, token);
  checkKeyId(keyId, caller.application.applicationName);
  if (caller.customerId === undefined) bank.limits.countClientCredentialsCall();
  passage.caller = callerText(caller);
  const magic = magicFault(bank, request);
  return {
    serve: () => {
      const { serve, parameters } = endpointOf(PRIVATE, request, path);
      return serve(bank, { request, faults, keyId, parameters, caller });
    },
    magic,
  };
}

/** @throws Refusal `ENDPOINT_UNKNOWN` */
function endpointOf<Call>(
  calls: Calls<Call>,
  request: RawRequest,
  path: string,
): { serve: Calls<Call>[string]; parameters: PublicCall['parameters'] } {
  for (const [name, serve] of Object.entries(calls)) {
    const [method, template = ''] = name.split(' ');
    const parameters = method === request.method ? pathValues(template, path) : undefined;
    if (parameters) return { serve, parameters };
  }
  throw unknownEndpoint(request);
}

function callerText({ application, customerId }: Grant): string {
  return `${application.applicationName}, ${customerId === undefined ? 'no customer' : `customer ${customerId}`}`;
}

function flawOf(faults: readonly Fault[]): SealFlaw | undefined {
  if (find(faults, 'wrong-digest')) return 'digest';
  return find(faults, 'wrong-signature') && 'signature';
}

function refusalAnswer({ code, message, detail, status, extras }: Refusal): OutgoingAnswer {
  const { resourceId, retryAfterSeconds } = extras;
  return jsonAnswer(status, errorEnvelope(code, message, detail, resourceId), {
    ...(retryAfterSeconds !== undefined && { 'Retry-After': String(retryAfterSeconds) }),
  });
}

/** The session id that the client sent back, or a new one. It has 10 digits. */
function sessionOf(request: RawRequest): string {
  const sent = header(request, 'cb-apitrack-id');
  return sent !== undefined && /^\d{10}$/.test(sent) ? sent : String(randomInt(1_000_000_000, 9_999_999_999));
}

/** @throws Refusal `TOKEN_MISSING` */
function requiredBearer(request: RawRequest): string {
  const value = header(request, 'authorization');
  const token = bearerToken(value);
  if (token !== undefined) return token;
  throw wrongValue(
    'TOKEN_MISSING',
    'The request has no access token',
    'Authorization: Bearer <access token>',
    value === undefined ? 'no Authorization' : 'another form',
  );
}

function unknownEndpoint({ method, target }: RawRequest): Refusal {
  return new Refusal('ENDPOINT_UNKNOWN', `The bank has no endpoint ${method} ${target.split('?', 1)[0]}`);
}
