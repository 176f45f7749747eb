import * as z from 'zod/mini';
import { type IssuedTokens, REFRESH_TOKEN_SECONDS } from '../access/tokens.ts';
import { Refusal, wrongValue } from '../answers/refusal.ts';
import type { Bank } from '../bank.ts';
import type { Application } from '../folder/registration.ts';
import { isSameSecret } from '../same-secret.ts';
import { readJsonBody, readJsonOrFormBody } from '../strict/body.ts';
import { checkKeyId } from '../strict/check-request.ts';
import { checkRedirectUri, readQuery } from '../strict/query.ts';
import type { RawRequest } from '../strict/raw-request.ts';
import type { Calls, PublicCall } from './bank-call.ts';
import { success } from './envelope.ts';
import type { Grant } from './grant.ts';

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
export const oauthCalls: Calls<PublicCall> = {
  'GET /auth/oauth/v2/authorize': (bank, call) => {
    const query = readQuery(call.request);
    const application = findApplication(bank, requiredParameter(query, 'client_id'));
    checkKeyId(call.keyId, application.applicationName);
    requireApplication(bank, application, 'authorizationCode');
    const responseType = requiredParameter(query, 'response_type');
    if (responseType !== 'code')
      throw wrongValue(
        'PARAMETER_INVALID',
        'The bank does not support this response_type',
        'code',
        responseType,
      );
    const redirectUri = requiredParameter(query, 'redirect_uri');
    checkRedirectUri('redirect_uri', redirectUri);
    const { id } = bank.logins.start({ application, redirectUri, state: query.get('state') });
    const headers = new Headers({
      'Content-Type': 'text/plain; charset=UTF-8',
      Location: `${bank.customerSiteUrl}/login?request=${id}`,
    });
    return { status: 302, headers, body: Buffer.alloc(0) };
  },

  'POST /auth/oauth/v2/token': (bank, call) => {
    const tokens = issueTokens(bank, call.request, call.keyId);
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
    return success(bank, { data }, { 'Cache-Control': 'no-store', Pragma: 'no-cache' });
  },

  'POST /auth/oauth/v2/token/revoke': (bank, call) => {
    const body = readJsonBody(call.request, revocation);
    const application = authenticate(bank, body, call.keyId);
    const token = bank.tokens.find(body.token);
    if (token && !isOf(application)(token.grant))
      throw new Refusal('GRANT_INVALID', 'The token belongs to another application');
    bank.tokens.revoke(body.token);
    const tokenType = token?.kind ?? body.token_type_hint;
    return success(bank, { data: { tokenType, operationOutcome: 'revoked' } });
  },
};

function issueTokens(bank: Bank, request: RawRequest, keyId: string): IssuedTokens<Grant> {
  const { grant_type: grantType } = readJsonOrFormBody(request, anyGrant);
  switch (grantType) {
    case 'authorization_code': {
      const body = readJsonOrFormBody(request, codeGrant);
      const application = authenticate(bank, body, keyId);
      requireApplication(bank, application, 'authorizationCode');
      return bank.tokens.issue(redeem(bank, application, body));
    }
    case 'refresh_token': {
      const body = readJsonOrFormBody(request, refreshGrant);
      const application = authenticate(bank, body, keyId);
      requireApplication(bank, application, 'authorizationCode');
      const issued = bank.tokens.refresh(body.refresh_token, isOf(application));
      if (issued) return issued;
      throw new Refusal(
        'GRANT_INVALID',
        'The refresh token is unknown, expired, already used or for another application',
      );
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

/** Whether a grant is of an application. */
function isOf({ clientId }: Application): (grant: Grant) => boolean {
  return ({ application }) => application.clientId === clientId;
}

/**
 * The grant of a code. The second use of a code ends the tokens of the first.
 *
 * @throws Refusal `GRANT_INVALID`, `REDIRECT_URI_INVALID`
 */
function redeem(
  { logins, tokens }: Bank,
  application: Application,
  { code, redirect_uri: redirectUri }: z.infer<typeof codeGrant>,
): Grant {
  const issued = logins.code(code);
  if (!issued || !isOf(application)(issued.grant))
    throw new Refusal(
      'GRANT_INVALID',
      'The authorization code is unknown, older than five minutes or for another application',
    );
  const { grant, login } = issued;
  if (issued.used) {
    tokens.endGrant(grant);
    throw new Refusal('GRANT_INVALID', 'The authorization code was already used. Its tokens are revoked');
  }
  if (login.redirectUri !== redirectUri)
    throw wrongValue(
      'REDIRECT_URI_INVALID',
      'redirect_uri differs from that of the authorize request',
      login.redirectUri,
      redirectUri,
    );
  issued.used = true;
  return grant;
}

function findApplication({ applications }: Bank, clientId: string): Application {
  const registered = Object.values(applications).find((application) => application.clientId === clientId);
  if (registered) return registered;
  throw new Refusal('CLIENT_INVALID', 'client_id does not belong to a registered application');
}

function authenticate(
  bank: Bank,
  body: { client_id: string; client_secret: string },
  keyId: string,
): Application {
  const application = findApplication(bank, body.client_id);
  if (!isSameSecret(body.client_secret, application.clientSecret))
    throw new Refusal('CLIENT_INVALID', 'client_secret does not belong to this client_id');
  checkKeyId(keyId, application.applicationName);
  return application;
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
