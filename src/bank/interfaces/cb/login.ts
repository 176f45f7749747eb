import * as z from 'zod/mini';
import { otherInterfaceAnswered } from '../../../domain/interface-name.ts';
import { isRecord } from '../../../domain/json.ts';
import { Psd2Error } from '../../../errors.ts';
import type { BankCall } from '../../call/call.ts';
import type { BeforeSend } from '../../ports/call.ts';
import type { ClientCredentials, Grant, GrantedTokens, Login, LoginStart } from '../../ports/customer.ts';
import { factsOf, get } from './accounts.ts';
import { ask, type CbAnswer, type CbCaller, readAnswer, TOKEN_PATH } from './answer.ts';
import { customerIdAnswer, tokenAnswer } from './wire/oauth.ts';

/** The logins of `cb` (interface specification, "OAuth"). */
export function loginOf(bank: CbCaller): Login {
  return {
    async authorize(login) {
      const answer = await bank.send(authorizeCall(login));
      const { location } = answer.headers;
      if (isRedirect(answer) && location) return location;
      if (!isRedirect(answer)) readAnswer(answer, z.unknown());
      throw new Psd2Error(
        'bank_answer',
        `The bank answered the authorize call without a Location (HTTP ${answer.status})`,
        {
          httpStatus: answer.status,
          tppRequestId: answer.tppRequestId,
          transactionId: login.transactionId,
        },
      );
    },
    async probe(login) {
      const answer = await bank.send({ ...authorizeCall(login), once: true });
      return {
        date: answer.headers.date,
        async judge() {
          if (isRecord(answer.reply.json) && 'tppMessages' in answer.reply.json)
            throw otherInterfaceAnswered();
          if (!isRedirect(answer)) readAnswer(answer, z.unknown());
          if (answer.headers.location)
            return { says: 'the bank accepts the application, its signature and the redirect URI' };
          throw new Psd2Error('bank_answer', `The bank answered without a Location (HTTP ${answer.status})`, {
            hint: 'Is the base URL that of the PSD2 interface?',
          });
        },
      };
    },
    tokens: (client, grant, transactionId, beforeSend) =>
      requestTokens(bank, client, grant, transactionId, beforeSend),
    async revoke({ clientId, clientSecret }, token, kind, transactionId) {
      const body = { client_id: clientId, client_secret: clientSecret, token, token_type_hint: kind };
      // The token is revoked, whatever the answer contains.
      await ask(
        bank,
        { ...post(`${TOKEN_PATH}/revoke`, body, transactionId), repeatable: true },
        z.unknown(),
      );
      return true;
    },
    async whose(transactionId, how = {}) {
      const call = { ...get('/private/customers/customerid-info', transactionId), ...how };
      return (await ask(bank, call, customerIdAnswer)).data.customerid;
    },
  };
}

function isRedirect({ status }: CbAnswer): boolean {
  return status >= 300 && status < 400;
}

/** The first call of a login. */
function authorizeCall({ clientId, redirectUri, state, transactionId }: LoginStart): BankCall {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    state,
  });
  return get(`/auth/oauth/v2/authorize?${query}`, transactionId);
}

function post(path: string, body: object, transactionId: string): BankCall {
  return { method: 'POST', path, facts: factsOf('POST', path), body, transactionId };
}

async function requestTokens(
  bank: CbCaller,
  { clientId, clientSecret }: ClientCredentials,
  grant: Grant,
  transactionId: string,
  beforeSend?: BeforeSend,
): Promise<GrantedTokens> {
  const body = { ...grant, client_id: clientId, client_secret: clientSecret };
  const { data } = await ask(
    bank,
    {
      ...post(TOKEN_PATH, body, transactionId),
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
