import { createHash, timingSafeEqual } from 'node:crypto';
import { Hono } from 'hono';
import * as z from 'zod/mini';
import { type IssuedTokens, REFRESH_TOKEN_SECONDS } from '../access/tokens.ts';
import { answerSuccess } from '../answers/outgoing.ts';
import { Refusal, wrongValue } from '../answers/refusal.ts';
import type { Bank } from '../bank.ts';
import type { Application } from '../folder/registration.ts';
import type { BankEnv } from '../server/bank-env.ts';
import { readJsonBody, readJsonOrFormBody } from '../strict/body.ts';
import { checkKeyId } from '../strict/check-request.ts';
import { checkRedirectUri, readQuery } from '../strict/query.ts';
import type { RawRequest } from '../strict/raw-request.ts';

const client = { client_id: z.string(), client_secret: z.string() };
const anyGrant = z.object({ grant_type: z.string() });
const codeGrant = z.object({ ...client, code: z.string(), redirect_uri: z.string() });
const clientCredentialsGrant = z.object(client);
const refreshGrant = z.object({ ...client, refresh_token: z.string() });
const revocation = z.object({
  ...client,
  token: z.string(),
  token_type_hint: z.enum(['access_token', 'refresh_token']),
});

/** The OAuth endpoints (interface specification, "OAuth"). */
export function oauthRoutes(bank: Bank): Hono<BankEnv> {
  const routes = new Hono<BankEnv>();

  routes.get('/auth/oauth/v2/authorize', (c) => {
    const query = readQuery(c.var.request);
    const application = findApplication(bank, requiredParameter(query, 'client_id'));
    checkKeyId(c.var.keyId, application.applicationName);
    requireApplication(bank, application, 'authorizationCode');
    const responseType = requiredParameter(query, 'response_type');
    if (responseType !== 'code') {
      throw wrongValue(
        'PARAMETER_INVALID',
        'The bank does not support this response_type',
        'code',
        responseType,
      );
    }
    const redirectUri = requiredParameter(query, 'redirect_uri');
    checkRedirectUri('redirect_uri', redirectUri);
    const login = bank.logins.start(application, redirectUri, query.get('state'));
    return c.text('', 302, { Location: `${bank.customerSiteUrl}/login?request=${login}` });
  });

  routes.post('/auth/oauth/v2/token', (c) => {
    const tokens = issueTokens(bank, c.var.request, c.var.keyId);
    const data = {
      access_token: tokens.accessToken,
      token_type: 'Bearer',
      expires_in: bank.rules.tokenTtlSeconds,
      ...(tokens.refreshToken !== undefined && {
        refresh_token: tokens.refreshToken,
        rt_expires_in: REFRESH_TOKEN_SECONDS,
      }),
      scope: 'oob',
    };
    return answerSuccess(c, bank, { data }, { 'Cache-Control': 'no-store', Pragma: 'no-cache' });
  });

  routes.post('/auth/oauth/v2/token/revoke', (c) => {
    const body = readJsonBody(c.var.request, revocation);
    const application = authenticate(bank, body, c.var.keyId);
    const tokenType = bank.tokens.revoke(body.token, application) ?? body.token_type_hint;
    return answerSuccess(c, bank, { data: { tokenType, operationOutcome: 'revoked' } });
  });

  return routes;
}

function issueTokens(bank: Bank, request: RawRequest, keyId: string): IssuedTokens {
  const { grant_type: grantType } = readJsonOrFormBody(request, anyGrant);
  switch (grantType) {
    case 'authorization_code': {
      const body = readJsonOrFormBody(request, codeGrant);
      const application = authenticate(bank, body, keyId);
      requireApplication(bank, application, 'authorizationCode');
      const grant = bank.logins.redeem(body.code, application, body.redirect_uri, (replayed) =>
        bank.tokens.endGrant(replayed),
      );
      return bank.tokens.issue(grant);
    }
    case 'refresh_token': {
      const body = readJsonOrFormBody(request, refreshGrant);
      const application = authenticate(bank, body, keyId);
      requireApplication(bank, application, 'authorizationCode');
      return bank.tokens.refresh(body.refresh_token, application);
    }
    case 'client_credentials': {
      const application = authenticate(bank, readJsonOrFormBody(request, clientCredentialsGrant), keyId);
      requireApplication(bank, application, 'clientCredentials');
      return bank.tokens.issue({ application, customerId: undefined });
    }
    default:
      throw wrongValue(
        'PARAMETER_INVALID',
        'The bank does not support this grant_type',
        'authorization_code, client_credentials or refresh_token',
        grantType,
      );
  }
}

function findApplication({ applications }: Bank, clientId: string): Application {
  const found = Object.values(applications).find((application) => application.clientId === clientId);
  if (found) return found;
  throw new Refusal('CLIENT_INVALID', 'client_id does not belong to a registered application');
}

function authenticate(
  bank: Bank,
  body: { client_id: string; client_secret: string },
  keyId: string,
): Application {
  const application = findApplication(bank, body.client_id);
  if (!timingSafeEqual(sha256(body.client_secret), sha256(application.clientSecret))) {
    throw new Refusal('CLIENT_INVALID', 'client_secret does not belong to this client_id');
  }
  checkKeyId(keyId, application.applicationName);
  return application;
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function requireApplication(
  { applications }: Bank,
  application: Application,
  grantType: keyof Bank['applications'],
): void {
  if (application === applications[grantType]) return;
  throw wrongValue(
    'NOT_ALLOWED',
    `The application ${application.applicationName} is not registered for this grant`,
    applications[grantType].applicationName,
    application.applicationName,
  );
}

function requiredParameter(query: ReadonlyMap<string, string>, name: string): string {
  const value = query.get(name);
  if (value) return value;
  throw new Refusal('PARAMETER_INVALID', `The parameter ${name} is missing`);
}
