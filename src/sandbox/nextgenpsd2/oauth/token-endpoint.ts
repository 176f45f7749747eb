import { createHash } from 'node:crypto';
import type { IssuedTokens } from '../../access/tokens.ts';
import type { Bank } from '../../bank.ts';
import { header } from '../../strict/headers.ts';
import { parametersOf, queryOf } from '../../strict/query.ts';
import type { RawRequest } from '../../strict/raw-request.ts';
import { doorOf } from '../door-state.ts';
import { mediaTypeOf } from '../strict/media-types.ts';
import { authenticateClient, OAuthError } from './client.ts';
import type { DoorGrant } from './grant.ts';
import { metadata, namedPaths } from './metadata.ts';

const METADATA = '/.well-known/oauth-authorization-server';

/**
 * What the bank does for a call of an OAuth endpoint: the metadata (RFC 8414), tokens (RFC 6749), revocation (RFC 7009). These calls are not
 * signed. The client certificate says who calls.
 *
 * @param path below the base URL. The bank file may name others
 * @returns the body of the answer; it throws an OAuthError. Undefined if the path is none of these
 */
export function oauthCall(
  bank: Bank,
  request: RawRequest,
  path: string,
): (() => Record<string, unknown>) | undefined {
  const [host = ''] = request.target.split('?', 1);
  const isAt = (endpoint: Parameters<typeof namedPaths>[1]): boolean =>
    namedPaths(bank.rules.description, endpoint).includes(host);
  const query = new URL(bank.rules.description.oauth.tokenEndpoint ?? 'https://none').search;
  if (isAt('tokenEndpoint') && queryOf(request) !== query.slice(1))
    return () => {
      throw new OAuthError('invalid_request', `The query of the token endpoint is "${query}"`);
    };
  const standardPath = isAt('tokenEndpoint') ? '/oauth/token' : isAt('metadata') ? METADATA : path;
  switch (`${request.method} ${standardPath}`) {
    case 'GET /.well-known/oauth-authorization-server':
      return () => metadata(bank);
    case 'POST /oauth/token':
      return () => tokenAnswer(bank, issueTokens(bank, request));
    case 'POST /oauth/revoke':
      return () => {
        const form = readForm(request);
        authenticateClient(bank, request, form);
        doorOf(bank).tokens.revoke(required(form, 'token'));
        return {};
      };
    default:
      return undefined;
  }
}

function tokenAnswer(
  bank: Bank,
  { accessToken, refreshToken, grant }: IssuedTokens<DoorGrant>,
): Record<string, unknown> {
  return {
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: bank.rules.tokenTtlSeconds,
    ...(refreshToken !== undefined && { refresh_token: refreshToken }),
    scope: grant.scope,
  };
}

function issueTokens(bank: Bank, request: RawRequest): IssuedTokens<DoorGrant> {
  const form = readForm(request);
  const { tokens } = doorOf(bank);
  const { oauth } = bank.rules.description;
  authenticateClient(bank, request, form);
  const grantType = required(form, 'grant_type');
  if (grantType === 'client_credentials' && (oauth.mode === 'client-credentials' || oauth.applicationToken)) {
    const expected =
      typeof oauth.scope.preStep === 'string'
        ? oauth.scope.preStep
        : Object.values(oauth.scope.preStep).join(' ');
    const scope = form.get('scope') ?? expected;
    if (scope !== expected) throw new OAuthError('invalid_scope', `The scope is "${expected}"`);
    return tokens.issue({ scope, customerId: undefined, consentId: undefined, paymentId: undefined });
  }
  if (grantType === 'refresh_token' && oauth.mode !== 'none') {
    const issued = tokens.refresh(required(form, 'refresh_token'));
    if (issued) return issued;
    throw new OAuthError('invalid_grant', 'The refresh token is unknown, expired or used up');
  }
  if (grantType !== 'authorization_code' || !['integrated', 'pre-step'].includes(oauth.mode))
    throw new OAuthError('unsupported_grant_type', 'The bank does not take this grant_type');
  return tokens.issue(redeem(bank, form));
}

/**
 * The grant of a code, with the verifier of its challenge. The second use of a code ends the tokens of the first.
 *
 * @throws OAuthError `invalid_grant`
 */
function redeem(bank: Bank, form: ReadonlyMap<string, string>): DoorGrant {
  const door = doorOf(bank);
  const invalid = (message: string): OAuthError => new OAuthError('invalid_grant', message);
  const [code, redirectUri] = [required(form, 'code'), required(form, 'redirect_uri')];
  const issued = door.logins.code(code);
  if (!issued) throw invalid('The code is unknown or older than five minutes');
  const { grant, login } = issued;
  if (issued.used) {
    door.tokens.endGrant(grant);
    throw invalid('The code was already used. Its tokens are revoked');
  }
  if (redirectUri !== login.redirectUri)
    throw invalid('redirect_uri is not that of the authorization request');
  if (login.challenge !== challengeOf(form.get('code_verifier')))
    throw invalid('code_verifier does not match code_challenge');
  issued.used = true;
  return grant;
}

function challengeOf(verifier: string | undefined): string | undefined {
  return verifier === undefined ? undefined : createHash('sha256').update(verifier).digest('base64url');
}

/** @throws OAuthError `invalid_request` */
function readForm(request: RawRequest): Map<string, string> {
  if (mediaTypeOf(header(request, 'content-type') ?? '') !== 'application/x-www-form-urlencoded')
    throw new OAuthError('invalid_request', 'The body is not a form');
  return parametersOf(
    request.body.toString('utf8'),
    (name) => new OAuthError('invalid_request', `${name} came twice`),
  );
}

function required(form: ReadonlyMap<string, string>, name: string): string {
  const value = form.get(name);
  if (value) return value;
  throw new OAuthError('invalid_request', `${name} is missing`);
}
