import * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import { tokenAnswer } from '../../wire/oauth.ts';
import { readAnswer, TOKEN_PATH } from '../call/answer.ts';
import type { Bank } from '../call/bank.ts';
import type { BankCall, BeforeSend } from '../call/exchange.ts';

/** A client of the bank's OAuth server. */
export interface ClientCredentials {
  clientId: string;
  clientSecret: string;
}

/** Tokens from the bank. Lifetimes are in seconds from now, null if the bank gave none. */
export interface GrantedTokens {
  accessToken: string;
  expiresIn: number | null;
  refreshToken: string | null;
  refreshExpiresIn: number | null;
  scope: string | null;
}

/**
 * Starts a login (interface specification, "OAuth", authorize).
 *
 * @returns the address on the bank's customer site that the customer's browser must open
 * @throws Psd2Error if the answer is not a redirect
 */
export async function authorize(
  bank: Bank,
  login: { clientId: string; redirectUri: string; state: string; transactionId: string },
): Promise<string> {
  const answer = await bank.exchange(authorizeCall(login));
  const { location } = answer.headers;
  if (answer.status >= 300 && answer.status < 400 && location) return location;
  if (answer.status < 300 || answer.status > 399) await readAnswer(answer, z.unknown());
  throw new Psd2Error(
    'bank_answer',
    `The bank answered the authorize call without a Location (HTTP ${answer.status})`,
    {
      httpStatus: answer.status,
      tppRequestId: answer.tppRequestId,
      transactionId: login.transactionId,
    },
  );
}

/** The first call of a login (interface specification, "OAuth", authorize). */
export function authorizeCall(login: {
  clientId: string;
  redirectUri: string;
  state: string;
  transactionId: string;
}): BankCall {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: login.clientId,
    redirect_uri: login.redirectUri,
    state: login.state,
  });
  return {
    method: 'GET',
    path: `/auth/oauth/v2/authorize?${query}`,
    transactionId: login.transactionId,
  };
}

type Grant =
  | { grant_type: 'authorization_code'; code: string; redirect_uri: string }
  | { grant_type: 'refresh_token'; refresh_token: string }
  | { grant_type: 'client_credentials' };

/**
 * Gets tokens for one of the three grants (interface specification, "OAuth", token). After sending the call, psd2 waits for
 * the answer even after Ctrl-C, because a code or a refresh token works only once.
 *
 * @throws Psd2Error
 */
export async function requestTokens(
  bank: Bank,
  client: ClientCredentials,
  grant: Grant,
  transactionId: string,
  beforeSend?: BeforeSend,
): Promise<GrantedTokens> {
  const { data } = await bank.call(
    {
      method: 'POST',
      path: TOKEN_PATH,
      body: { ...grant, client_id: client.clientId, client_secret: client.clientSecret },
      transactionId,
      repeatable: true,
      interruptible: 'until sent',
      ...(beforeSend && { beforeSend }),
    },
    tokenAnswer,
  );
  return {
    accessToken: data.access_token,
    expiresIn: data.expires_in,
    refreshToken: data.refresh_token,
    refreshExpiresIn: data.rt_expires_in,
    scope: data.scope,
  };
}

/** Revokes a token (interface specification, "OAuth", revoke). @throws Psd2Error */
export async function revokeToken(
  bank: Bank,
  client: ClientCredentials,
  token: string,
  kind: 'access_token' | 'refresh_token',
  transactionId: string,
): Promise<void> {
  await bank.call(
    {
      method: 'POST',
      path: '/auth/oauth/v2/token/revoke',
      body: { client_id: client.clientId, client_secret: client.clientSecret, token, token_type_hint: kind },
      transactionId,
      repeatable: true,
    },
    // The token is revoked, whatever the answer contains.
    z.unknown(),
  );
}
