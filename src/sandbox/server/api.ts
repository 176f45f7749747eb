import { randomInt } from 'node:crypto';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import type { Grant } from '../access/grant.ts';
import { grantOf } from '../access/permission.ts';
import { errorEnvelope } from '../answers/envelope.ts';
import { readOutgoing } from '../answers/outgoing.ts';
import { Refusal, wrongValue } from '../answers/refusal.ts';
import type { SealFlaw } from '../answers/seal.ts';
import type { Bank } from '../bank.ts';
import { printerRoutes } from '../documents/receipt.ts';
import { deliveredTwice } from '../faults/delivered-twice.ts';
import type { Fault } from '../faults/fault.ts';
import { magicFaults } from '../faults/magic.ts';
import {
  applyContentFaults,
  clockOf,
  find,
  orderedFaults,
  refusedByFault,
  sendWithFaults,
} from '../faults/spoil.ts';
import { applyPersona } from '../persona/lived-in.ts';
import { consentRoutes } from '../routes/consent.ts';
import { accountRoutes, customerRoutes } from '../routes/customers.ts';
import { moneyTransferRoutes } from '../routes/money-transfer.ts';
import { oauthRoutes } from '../routes/oauth.ts';
import { scaRoutes } from '../routes/sca.ts';
import { standingOrderRoutes } from '../routes/standing-order.ts';
import { transactionRoutes } from '../routes/transactions.ts';
import { checkKeyId, checkRequest } from '../strict/check-request.ts';
import { header } from '../strict/headers.ts';
import { type RawRequest, readRawRequest, refuseOversized } from '../strict/raw-request.ts';
import { registeredFor } from '../strict/registered-pair.ts';
import type { BankEnv } from './bank-env.ts';

/** The endpoints, in groups of routes. */
const ENDPOINTS = [
  oauthRoutes,
  customerRoutes,
  accountRoutes,
  transactionRoutes,
  consentRoutes,
  scaRoutes,
  moneyTransferRoutes,
  standingOrderRoutes,
  printerRoutes,
];

/** The bank's API: the rules for every request, the endpoints, and the envelope of every refusal. */
export function bankApi(bank: Bank): Hono<BankEnv> {
  const api = new Hono<BankEnv>();
  api.use(takeAndSend(bank));
  api.use(async (c, next) => {
    refuseOversized(c.var.request);
    await next();
  });
  api.use(orderedFaults(bank));
  api.use(checkEachRequest(bank));
  api.use(refusedByFault);
  api.use('/private/*', identifyCaller(bank));
  api.use('/private/*', magicFaults(bank));
  const endpoints = ENDPOINTS.map((routes) => routes(bank));
  api.use(deliveredTwice(endpoints));
  for (const routes of endpoints) api.route('/', routes);

  api.notFound((c) => {
    throw unknownEndpoint(c);
  });
  api.onError((error, c) => {
    if (error instanceof Refusal) return refusal(error);
    return c.json(errorEnvelope('INTERNAL_ERROR', 'The sandbox bank failed', error.message), 500);
  });
  return api;
}

/**
 * Reads the raw request. After the handlers it gives the answer the persona's shape, applies the faults, seals it, logs the
 * call for the console, and sends the answer.
 */
function takeAndSend(bank: Bank): MiddlewareHandler<BankEnv> {
  return async (c, next) => {
    const begun = performance.now();
    const request = await readRawRequest(c.env.incoming);
    c.set('request', request);
    c.set('faults', []);
    await next();
    const { faults } = c.var;
    const now = clockOf(bank.wallNow(), faults);
    const answer = await readOutgoing(c.res);
    answer.headers.set('cb-apitrack-id', sessionOf(request));
    if (bank.rules.persona === 'lived-in') applyPersona(answer, request, bank);
    applyContentFaults(answer, faults);
    if (find(faults, 'clock')) answer.headers.set('date', now.toUTCString());
    bank.seal.put(answer, request, now, flawOf(faults));
    bank.calls.addCall({
      at: bank.now(),
      milliseconds: performance.now() - begun,
      request,
      faults,
      refusal: c.error,
      caller: callerText(c.var.caller),
      answer,
    });
    await bank.keep();
    // Otherwise Hono would add the headers of the previous answer.
    c.res = undefined;
    c.res = await sendWithFaults(c, answer, faults);
  };
}

/** The rules for every request: certificates, headers, digest, signature and call limits. */
function checkEachRequest(bank: Bank): MiddlewareHandler<BankEnv> {
  return async (c, next) => {
    const { request, faults } = c.var;
    const now = bank.wallNow();
    const registered = registeredFor(bank, request);
    c.set('keyId', checkRequest(request, registered, bank.seenRequestIds, now, clockOf(now, faults)));
    bank.limits.countCall(c.var.keyId);
    // Otherwise Hono would answer a HEAD like a GET.
    if (request.method === 'HEAD') throw unknownEndpoint(c);
    await next();
  };
}

/** Finds the caller by the access token, and checks that the signature is that application's. */
function identifyCaller(bank: Bank): MiddlewareHandler<BankEnv> {
  return async (c, next) => {
    const token = requiredBearer(c.var.request);
    if (find(c.var.faults, 'stale-token')) bank.tokens.expire(token);
    const caller = grantOf(bank, token);
    checkKeyId(c.var.keyId, caller.application.applicationName);
    if (caller.customerId === undefined) bank.limits.countClientCredentialsCall();
    c.set('caller', caller);
    await next();
  };
}

function callerText(caller: Grant | undefined): string | undefined {
  if (!caller) return undefined;
  const { application, customerId } = caller;
  return `${application.applicationName}, ${customerId === undefined ? 'no customer' : `customer ${customerId}`}`;
}

function flawOf(faults: readonly Fault[]): SealFlaw | undefined {
  if (find(faults, 'wrong-digest')) return 'digest';
  return find(faults, 'wrong-signature') && 'signature';
}

function refusal({ code, message, detail, status, extras }: Refusal): Response {
  const { resourceId, retryAfterSeconds } = extras;
  return Response.json(errorEnvelope(code, message, detail, resourceId), {
    status,
    headers: retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) },
  });
}

/** The session id that the client sent back, or a new one. It has 10 digits. */
function sessionOf(request: RawRequest): string {
  const sent = header(request, 'cb-apitrack-id');
  return sent !== undefined && /^\d{10}$/.test(sent) ? sent : String(randomInt(1_000_000_000, 9_999_999_999));
}

/** The access token of `Authorization: Bearer <token>` (RFC 6750, section 2.1). */
function requiredBearer(request: RawRequest): string {
  const value = header(request, 'authorization');
  const token = /^Bearer (\S+)$/.exec(value ?? '')?.[1];
  if (token !== undefined) return token;
  throw wrongValue(
    'TOKEN_MISSING',
    'The request has no access token',
    'Authorization: Bearer <access token>',
    value === undefined ? 'no Authorization' : 'another form',
  );
}

function unknownEndpoint(c: Context<BankEnv>): Refusal {
  return new Refusal('ENDPOINT_UNKNOWN', `The bank has no endpoint ${c.req.method} ${c.req.path}`);
}
