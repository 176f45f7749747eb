import type { BankDescription } from '../../../bank/interfaces/nextgenpsd2/description/schema.ts';
import type { Bank } from '../../bank.ts';
import { doorUrl } from '../links.ts';
import { DOOR_PATH } from '../operations.ts';

const AUTH_METHODS = { mtls: 'tls_client_auth', basic: 'client_secret_basic', post: 'client_secret_post' };

/**
 * The paths at which a bank file has an endpoint of OAuth: that of the host, and that below the base URL. The sandbox has the endpoint
 * there, too, for clients that know the bank file.
 */
export function namedPaths(
  { api, oauth }: BankDescription,
  endpoint: 'metadata' | 'authorizationEndpoint' | 'tokenEndpoint',
): string[] {
  const address = oauth[endpoint];
  if (address === undefined) return [];
  const { pathname } = new URL(address);
  const base = api.baseUrl === undefined ? '' : new URL(api.baseUrl).pathname.replace(/\/$/, '');
  const isBelow = base !== '' && pathname.startsWith(`${base}/`);
  return [pathname, `${DOOR_PATH}${isBelow ? pathname.slice(base.length) : pathname}`];
}

/** The addresses of the door's OAuth endpoints. */
export function oauthEndpoints(bank: Bank): { authorization: string; token: string; revocation: string } {
  return {
    authorization: `${bank.customerSiteUrl}/nextgenpsd2/authorize`,
    token: `${doorUrl(bank)}/oauth/token`,
    revocation: `${doorUrl(bank)}/oauth/revoke`,
  };
}

/**
 * How to authorise (RFC 8414). An endpoint that the bank file names is not in it: such banks do not have it there.
 */
export function metadata(bank: Bank): Record<string, unknown> {
  const { oauth } = bank.rules.description;
  const { authorization, token, revocation } = oauthEndpoints(bank);
  return {
    issuer: doorUrl(bank),
    ...(oauth.authorizationEndpoint === undefined && { authorization_endpoint: authorization }),
    ...(oauth.tokenEndpoint === undefined && { token_endpoint: token }),
    revocation_endpoint: revocation,
    response_types_supported: ['code'],
    grant_types_supported:
      oauth.mode === 'client-credentials'
        ? ['client_credentials']
        : ['authorization_code', 'refresh_token', ...(oauth.applicationToken ? ['client_credentials'] : [])],
    token_endpoint_auth_methods_supported: [AUTH_METHODS[oauth.clientAuth]],
    ...(oauth.pkce === 'S256' && { code_challenge_methods_supported: ['S256'] }),
    tls_client_certificate_bound_access_tokens: true,
    authorization_response_iss_parameter_supported: true,
  };
}
