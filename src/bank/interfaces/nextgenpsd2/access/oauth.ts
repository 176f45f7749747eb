import { createHash, type X509Certificate } from 'node:crypto';
import { urlFrom } from '../../../../domain/url.ts';
import { Psd2Error } from '../../../../errors.ts';
import type { BankCall, Reading } from '../../../call/call.ts';
import type { BeforeSend } from '../../../ports/call.ts';
import type { ClientCredentials, Grant, GrantedTokens, Login } from '../../../ports/customer.ts';
import type { BankDescription } from '../description/schema.ts';
import { ask, type NextGenAnswer, type NextGenCaller, readNothing } from '../wire/answer.ts';
import { lackingService } from '../wire/calls.ts';
import { type Metadata, metadataAnswer, tokenAnswer } from '../wire/oauth.ts';
import { organizationIdOf } from './key-id.ts';
import { type Base, browserLink, type ServerAddress, serverLink } from './links.ts';

/** An OAuth server of the bank, with addresses that psd2 may use. */
export interface OAuthServer {
  issuer: string | null;
  /** The server says that it names itself when it sends the browser back (RFC 9207). */
  namesItself: boolean;
  authorization: string | null;
  token: ServerAddress | null;
  revocation: ServerAddress | null;
}

/** Finds OAuth servers. */
export interface OAuth {
  /**
   * @param named the address that the bank gave with a resource. Without it, the bank file names the server
   * @throws Psd2Error `bank_answer` for a host that neither the bank file nor the base URL names, `config` without a server
   */
  server(named: string | undefined, transactionId: string): Promise<OAuthServer>;
  /**
   * The address where the customer logs in (RFC 6749, section 4.1.1). Where the bank file names an authorization endpoint on the
   * host of the API, only psd2 can show that host the QWAC: it asks there itself, and gives the address that the bank redirects to.
   *
   * @throws Psd2Error `config` if the bank names no server, or an error of the call
   */
  address(server: OAuthServer, request: AuthorizationRequest, transactionId: string): Promise<string>;
}

/** The OAuth client of the application. */
export function clientOf(
  { oauth }: BankDescription,
  qwac: X509Certificate,
): { clientId: string; needsSecret: boolean } | null {
  if (oauth.mode === 'none') return null;
  const clientId = oauth.clientId === 'organization-id' ? organizationIdOf(qwac, 'QWAC') : oauth.clientId;
  return { clientId, needsSecret: oauth.clientAuth !== 'mtls' };
}

/** The OAuth servers of a bank. The metadata of each is read once. */
export function oauthOf(bank: NextGenCaller, description: BankDescription, base: Base): OAuth {
  const { oauth } = description;
  const hosts = hostsOf(description, base);
  const servers = new Map<string, Promise<OAuthServer>>();
  const read = async (address: string | undefined, transactionId: string): Promise<OAuthServer> => {
    if (address === undefined) return serverIn({}, description, base, hosts);
    const link = serverLink(address, base, hosts, 'of the metadata');
    const call = { method: 'GET', ...link, facts: LOGIN, transactionId } as const;
    const { data: metadata } = await ask(bank, call, metadataAnswer);
    if (metadata.issuer && !isIssuerAt(link, metadata.issuer, description, hosts))
      throw otherIssuer(metadata.issuer, transactionId);
    return serverIn(metadata, description, base, hosts);
  };
  return {
    async server(named, transactionId) {
      // With both addresses in the bank file, nothing else is needed.
      const isDescribed = oauth.authorizationEndpoint !== undefined && oauth.tokenEndpoint !== undefined;
      const address = oauth.metadata ?? (isDescribed ? undefined : named);
      const key = address ?? '';
      const reading = servers.get(key) ?? read(address, transactionId);
      servers.set(key, reading);
      return reading.catch((error: unknown) => {
        servers.delete(key);
        throw error;
      });
    },
    async address(server, request, transactionId) {
      const url = authorizationUrl(server, request, description);
      const { host } = new URL(url);
      if (oauth.authorizationEndpoint === undefined || host !== new URL(base.origin).host) return url;
      const call = { method: 'GET', ...serverLink(url, base, hosts, 'authorizationEndpoint') } as const;
      const { location } = await bank.ask({ ...call, facts: LOGIN, transactionId }, readRedirect);
      return location === null ? url : browserLink(location, base, 'Location of the authorization endpoint');
    },
  };
}

/** Where the bank sends the customer's browser. Null: it redirects to nowhere else, or wants its cookie back, which only a browser has. */
function readRedirect({ status, headers }: NextGenAnswer): Reading & { location: string | null } {
  const isRedirect = status >= 300 && status <= 399 && headers['set-cookie'] === undefined;
  return { location: isRedirect ? (headers.location ?? null) : null, notices: [] };
}

const LOGIN = { reads: null, needsConsent: false, login: true } as const;

/** The hosts that codes and tokens may go to: those that the bank file or the base URL names. */
function hostsOf({ api, oauth }: BankDescription, { origin }: Base): ReadonlySet<string> {
  const named = [origin, api.baseUrl, oauth.metadata, oauth.authorizationEndpoint, oauth.tokenEndpoint];
  return new Set(named.flatMap((address) => (address && urlFrom(address)?.host) || []));
}

/**
 * Metadata of another server, or of another tenant of it, may be put in the place of the bank's: the issuer must be the one whose metadata
 * is at this address (RFC 8414, sections 3.3 and 6.2). A bank file that names an endpoint on the issuer's host allows another. At an address
 * that tells no issuer, its host counts.
 */
function isIssuerAt(
  { origin, path }: ServerAddress,
  issuer: string,
  { oauth }: BankDescription,
  hosts: ReadonlySet<string>,
): boolean {
  const url = urlFrom(issuer);
  if (!url) return false;
  const { href, hostname } = url;
  const [, before, after = ''] = WELL_KNOWN.exec(path) ?? [];
  const named =
    before === undefined
      ? [...hosts].map((host) => `https://${host}`)
      : [oauth.authorizationEndpoint, oauth.tokenEndpoint];
  if (named.some((address) => address !== undefined && new URL(address).hostname === hostname)) return true;
  const isSame = (own: string) => own.replace(/\/$/, '') === href.replace(/\/$/, '');
  return before !== undefined && isSame(new URL(`${origin}${before}${after}`).href);
}
/** With the path of the issuer before it (OpenID Connect Discovery, section 4) or after it (RFC 8414, section 3.1). */
const WELL_KNOWN =
  /^([^?]*)\/\.well-known\/(?:oauth-authorization-server|openid-configuration)(\/[^?]*)?(?:\?|$)/;

function otherIssuer(issuer: string, transactionId: string): Psd2Error {
  return new Psd2Error(
    'bank_answer',
    `The OAuth metadata is of another server: its issuer is ${JSON.stringify(issuer)}`,
    {
      hint: "If that is the bank's, name oauth.authorizationEndpoint on that host in the bank file.",
      transactionId,
    },
  );
}

/** The addresses of a server: the bank file's come before those of the metadata. */
function serverIn(
  metadata: Partial<Metadata>,
  { oauth }: BankDescription,
  base: Base,
  hosts: ReadonlySet<string>,
): OAuthServer {
  const aliases = oauth.clientAuth === 'mtls' ? metadata.mtls_endpoint_aliases : null;
  const authorization = oauth.authorizationEndpoint ?? metadata.authorization_endpoint;
  const token = oauth.tokenEndpoint ?? aliases?.token_endpoint ?? metadata.token_endpoint;
  const revocation = aliases?.revocation_endpoint ?? metadata.revocation_endpoint;
  return {
    issuer: metadata.issuer ?? null,
    namesItself: metadata.authorization_response_iss_parameter_supported === true,
    authorization: authorization ? browserLink(authorization, base, 'authorization_endpoint') : null,
    token: token ? serverLink(token, base, hosts, 'token_endpoint') : null,
    revocation: revocation ? serverLink(revocation, base, hosts, 'revocation_endpoint') : null,
  };
}

export interface AuthorizationRequest {
  clientId: string;
  redirectUri: string;
  state: string;
  codeVerifier: string | undefined;
  scope: string;
  /** The id of what the customer authorises, by its name in oauth.parameters. */
  id?: Readonly<Record<string, string>>;
}

/** The authorization request (RFC 6749, section 4.1.1; RFC 7636, section 4.3). @throws Psd2Error `config` */
export function authorizationUrl(
  { authorization, token }: OAuthServer,
  { clientId, redirectUri, state, codeVerifier, scope, id = {} }: AuthorizationRequest,
  { oauth }: BankDescription,
): string {
  if (authorization === null) throw unnamed('authorizationEndpoint');
  // Without it the customer would log in, and perhaps authorise a payment, and psd2 could not take the code.
  if (token === null) throw unnamed('tokenEndpoint');
  const url = new URL(authorization);
  const own = new Map(Object.entries(oauth.names));
  const set = (name: string, value: string) => url.searchParams.set(own.get(name) ?? name, value);
  const { responseType } = oauth;
  const parameters = {
    response_type: responseType,
    client_id: clientId,
    redirect_uri: redirectUri,
    scope,
    state,
  };
  for (const [name, value] of Object.entries(parameters)) set(name, value);
  for (const [name, text] of Object.entries(oauth.parameters)) {
    const value = filled(text, id);
    // One with the id of something else says nothing here.
    if (!/\{\w+\}/.test(value)) url.searchParams.set(name, value);
  }
  if (oauth.pkce === 'S256') {
    if (codeVerifier === undefined) throw new TypeError('A login at this bank needs a code verifier');
    const challenge = createHash('sha256').update(codeVerifier).digest('base64url');
    set('code_challenge', challenge);
    set('code_challenge_method', 'S256');
  }
  return url.href;
}

/** A text of the bank file with an id in the place of its name. */
export function filled(text: string, id: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) => id[name] ?? placeholder);
}

function unnamed(field: string): Psd2Error {
  return new Psd2Error('config', `The bank names no OAuth address for this: oauth.${field}`, {
    hint: 'Name oauth.metadata, or this address, in the bank file.',
  });
}

/** Logins by OAuth, if the bank has any. */
export function loginOf(
  bank: NextGenCaller,
  oauth: OAuth,
  description: BankDescription,
): Omit<Login, 'probe'> {
  const { mode, pkce, scope } = description.oauth;
  return {
    ...(pkce === 'S256' && mode !== 'none' && { tiesCodes: true }),
    async authorize({ transactionId, codeVerifier, isForPayments = false, ...login }) {
      if (mode !== 'pre-step') throw noLogin();
      const server = await oauth.server(undefined, transactionId);
      const preStepScope = scopeBefore(scope.preStep, isForPayments);
      return oauth.address(server, { ...login, codeVerifier, scope: preStepScope }, transactionId);
    },
    async assertIssuer(iss, named, transactionId) {
      assertIssuer(await oauth.server(named, transactionId), iss, transactionId);
    },
    tokens: (client, grant, transactionId, beforeSend) =>
      requestTokens(bank, oauth, description, { client, grant, transactionId, beforeSend }),
    async revoke(client, token, kind, transactionId) {
      const { revocation } = await oauth.server(client.server, transactionId);
      if (!revocation) return false;
      const form = { token, token_type_hint: kind };
      const call = formCall(revocation, form, client, description, transactionId);
      await bank.ask({ ...call, repeatable: true }, readNothing);
      return true;
    },
    whose: () =>
      Promise.reject(
        new Psd2Error('forbidden', 'No call of this interface tells whose a token is', {
          hint: 'The customer is the one that was named at the login.',
        }),
      ),
  };
}

/** The scope of a token that comes before everything. One application has a token for both. */
function scopeBefore(preStep: BankDescription['oauth']['scope']['preStep'], isForPayments?: boolean): string {
  if (typeof preStep === 'string') return preStep;
  if (isForPayments === undefined) return `${preStep.ais} ${preStep.pis}`;
  return isForPayments ? preStep.pis : preStep.ais;
}

function noLogin(): Psd2Error {
  const { message } = lackingService('login of customers before they consent');
  return new Psd2Error('usage', message, { next: [['consent', 'request']] });
}

/** @throws Psd2Error `login_refused` if another server sent the browser back (RFC 9207, section 2.4) */
function assertIssuer({ issuer, namesItself }: OAuthServer, iss: string | null, transactionId: string): void {
  if (iss === null ? !namesItself : issuer === null || iss === issuer) return;
  const what =
    iss === null ? 'does not say which OAuth server it comes from' : 'comes from another OAuth server';
  throw new Psd2Error('login_refused', `The return of the browser ${what}`, {
    hint: 'psd2 did not use the code. Log in again, and follow no other link.',
    transactionId,
  });
}

interface TokenRequest {
  client: ClientCredentials;
  grant: Grant;
  transactionId: string;
  beforeSend: BeforeSend | undefined;
}

async function requestTokens(
  bank: NextGenCaller,
  oauth: OAuth,
  description: BankDescription,
  { client, grant, transactionId, beforeSend }: TokenRequest,
): Promise<GrantedTokens> {
  const { token } = await oauth.server(client.server, transactionId);
  if (!token) throw unnamed('tokenEndpoint');
  const scope =
    grant.grant_type === 'client_credentials' ? { scope: scopeBefore(description.oauth.scope.preStep) } : {};
  const call = formCall(token, { ...grant, ...scope }, client, description, transactionId);
  const { data } = await ask(
    bank,
    { ...call, repeatable: true, interruptible: 'until sent', ...(beforeSend && { beforeSend }) },
    tokenAnswer,
  );
  return {
    accessToken: data.access_token,
    expiresIn: data.expires_in,
    refreshToken: data.refresh_token,
    refreshExpiresIn: data.refresh_expires_in ?? data.refresh_token_expires_in,
    scope: data.scope,
  };
}

/** A form for the OAuth server, with the proof of the client (RFC 6749, section 2.3.1; RFC 8705, section 2). */
function formCall(
  target: ServerAddress,
  fields: Record<string, string>,
  { clientId, clientSecret }: ClientCredentials,
  { oauth }: BankDescription,
  transactionId: string,
): BankCall {
  const isBasic = oauth.clientAuth === 'basic';
  const form = new URLSearchParams({
    ...fields,
    ...(!isBasic && { client_id: clientId }),
    ...(oauth.clientAuth === 'post' && { client_secret: clientSecret }),
  });
  const encoded = [clientId, clientSecret].map((text) => encodeURIComponent(text)).join(':');
  return {
    method: 'POST',
    ...target,
    facts: LOGIN,
    body: form.toString(),
    transactionId,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      ...(isBasic && { authorization: `Basic ${Buffer.from(encoded).toString('base64')}` }),
    },
  };
}
