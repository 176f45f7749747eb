import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Customer } from '../../customers/seed-customers.ts';
import type { StatePart } from '../../state-part.ts';
import type { DoorGrant } from './door-tokens.ts';

const REQUEST_MS = 10 * 60_000;
const CODE_MS = 5 * 60_000;

/** An authorization request that the customer has not decided yet (RFC 6749, section 4.1.1). */
export interface AuthorizationRequest {
  id: string;
  redirectUri: string;
  state: string | undefined;
  scope: string;
  /** Of PKCE (RFC 7636). */
  challenge: string | undefined;
  /** The authorisation of a consent that it decides. Undefined: a login before everything. */
  authorisationId: string | undefined;
  startedAt: Date;
}

interface Code {
  grant: DoorGrant;
  request: AuthorizationRequest;
  issuedAt: Date;
  used: boolean;
}

/** The authorization requests of the second door, and the codes of decided ones. */
export class AuthorizationRequests implements StatePart {
  memory = { pending: new Map<string, AuthorizationRequest>(), codes: new Map<string, Code>() };
  readonly #now: () => Date;

  constructor(now: () => Date) {
    this.#now = now;
  }

  add(request: Omit<AuthorizationRequest, 'id' | 'startedAt'>): AuthorizationRequest {
    const added = { ...request, id: randomUUID(), startedAt: this.#now() };
    this.memory.pending.set(added.id, added);
    return added;
  }

  /** Undefined: the request is unknown, decided or older than ten minutes. */
  find(id: string): AuthorizationRequest | undefined {
    const request = this.memory.pending.get(id);
    return request && this.#age(request.startedAt) <= REQUEST_MS ? request : undefined;
  }

  /** The pending requests, oldest first. */
  list(): AuthorizationRequest[] {
    return [...this.memory.pending.keys()].flatMap((id) => this.find(id) ?? []);
  }

  /** Ends a request with a code for a grant. @param issuer sent as `iss` (RFC 9207) */
  allow(request: AuthorizationRequest, grant: DoorGrant, issuer: string): URL {
    const code = randomBytes(32).toString('base64url');
    this.memory.codes.set(code, { grant, request, issuedAt: this.#now(), used: false });
    return this.#end(request, { code }, issuer);
  }

  /** Ends a request with an error. */
  refuse(request: AuthorizationRequest, issuer: string): URL {
    return this.#end(request, { error: 'access_denied' }, issuer);
  }

  /**
   * The grant of a code. A code is valid once, for five minutes, with the verifier of its challenge.
   *
   * @param onReplay is called with the grant of a code that comes a second time
   * @returns why not
   */
  redeem(
    given: { code: string; redirectUri: string; verifier: string | undefined },
    onReplay: (grant: DoorGrant) => void,
  ): DoorGrant | string {
    const found = this.memory.codes.get(given.code);
    if (!found || this.#age(found.issuedAt) > CODE_MS)
      return 'The code is unknown or older than five minutes';
    if (found.used) {
      onReplay(found.grant);
      return 'The code was already used. Its tokens are revoked';
    }
    const { redirectUri, challenge } = found.request;
    if (given.redirectUri !== redirectUri) return 'redirect_uri is not that of the authorization request';
    if (challenge !== challengeOf(given.verifier)) return 'code_verifier does not match code_challenge';
    found.used = true;
    return found.grant;
  }

  /** Ends the codes of a customer. A pending request has no customer yet. */
  forgetCustomer({ customerId }: Customer): void {
    for (const [code, { grant }] of this.memory.codes)
      if (grant.customerId === customerId) this.memory.codes.delete(code);
  }

  #end(request: AuthorizationRequest, answer: Record<string, string>, issuer: string): URL {
    this.memory.pending.delete(request.id);
    return answerUrl(request, answer, issuer);
  }

  #age(since: Date): number {
    return this.#now().getTime() - since.getTime();
  }
}

/** The address of an authorization response, with `state` and `iss`. */
export function answerUrl(
  { redirectUri, state }: Pick<AuthorizationRequest, 'redirectUri' | 'state'>,
  answer: Record<string, string>,
  issuer: string,
): URL {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(answer)) url.searchParams.append(name, value);
  if (state !== undefined) url.searchParams.append('state', state);
  url.searchParams.append('iss', issuer);
  return url;
}

function challengeOf(verifier: string | undefined): string | undefined {
  return verifier === undefined ? undefined : createHash('sha256').update(verifier).digest('base64url');
}
