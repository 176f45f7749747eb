import { randomUUID } from 'node:crypto';
import type { Customer } from '../customers/seed-customers.ts';
import type { BankRules } from '../rules.ts';
import type { StatePart } from '../state-part.ts';

export const REFRESH_TOKEN_SECONDS = 2_592_000;

/** What a token gives. Each door says what else it is tied to. */
export interface AnyGrant {
  /** Undefined: the application alone (`client_credentials`). */
  customerId: string | undefined;
}

export interface IssuedTokens<G> {
  grant: G;
  accessToken: string;
  /** Undefined for an application, and for a refresh that keeps the old refresh token. */
  refreshToken: string | undefined;
}

interface Token<G> {
  kind: 'access_token' | 'refresh_token';
  grant: G;
  expiresAt: Date;
}

/** A token that says whose it is. Its signature is only as random as its id. */
function webToken({ customerId }: AnyGrant): string {
  const parts = [{ alg: 'none' }, { ...(customerId && { sub: customerId }), jti: randomUUID() }];
  return `${parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.sandbox`;
}

/** The access token in `Bearer <token>` (RFC 6750, section 2.1). */
export function bearerToken(value: string | undefined): string | undefined {
  return /^Bearer (\S+)$/.exec(value ?? '')?.[1];
}

/** The tokens that one door has issued. They are UUIDs. Why a token is refused, each door says in its own words. */
export class Tokens<G extends AnyGrant> implements StatePart {
  memory = { tokens: new Map<string, Token<G>>() };
  readonly #rules: Pick<BankRules, 'now' | 'tokenTtlSeconds' | 'rotateRefreshTokens'>;
  readonly #keptMs: number;
  readonly #nameCustomers: boolean;

  /**
   * @param keptMs how long an expired token is kept, so that its error differs from that of an unknown one. Default: for ever
   * @param nameCustomers tokens are JSON Web Tokens that name the customer (RFC 7519)
   */
  constructor(
    rules: Pick<BankRules, 'now' | 'tokenTtlSeconds' | 'rotateRefreshTokens'>,
    keptMs = Number.POSITIVE_INFINITY,
    nameCustomers = false,
  ) {
    this.#rules = rules;
    this.#keptMs = keptMs;
    this.#nameCustomers = nameCustomers;
  }

  /** Issues an access token, and for a customer's grant also a refresh token. */
  issue(grant: G): IssuedTokens<G> {
    const oldest = this.#rules.now().getTime() - this.#keptMs;
    this.#remove(({ expiresAt }) => expiresAt.getTime() < oldest);
    return {
      grant,
      accessToken: this.#add('access_token', grant, this.#rules.tokenTtlSeconds),
      refreshToken:
        grant.customerId === undefined ? undefined : this.#add('refresh_token', grant, REFRESH_TOKEN_SECONDS),
    };
  }

  /** A token, expired or not. */
  find(value: string): Token<G> | undefined {
    return this.memory.tokens.get(value);
  }

  /** An access token, expired or not. */
  accessToken(value: string): Token<G> | undefined {
    const token = this.find(value);
    return token?.kind === 'access_token' ? token : undefined;
  }

  isOver({ expiresAt }: Token<G>): boolean {
    return expiresAt <= this.#rules.now();
  }

  /** Makes an access token expire now. */
  expire(value: string): void {
    const token = this.accessToken(value);
    if (token) token.expiresAt = this.#rules.now();
  }

  /** Whether a token was issued for such a grant. */
  some(is: (grant: G) => boolean): boolean {
    return [...this.memory.tokens.values()].some(({ grant }) => is(grant));
  }

  /**
   * Issues a new access token for a refresh token. If the bank rotates refresh tokens, it also issues a new one and ends the
   * old one. Earlier access tokens stay valid.
   *
   * @param isTheirs whether who calls may use a grant
   * @returns undefined if the refresh token is unknown, expired, used up or somebody else's
   */
  refresh(value: string, isTheirs: (grant: G) => boolean = () => true): IssuedTokens<G> | undefined {
    const token = this.find(value);
    if (token?.kind !== 'refresh_token' || this.isOver(token) || !isTheirs(token.grant)) return undefined;
    const { grant } = token;
    if (this.#rules.rotateRefreshTokens) {
      this.memory.tokens.delete(value);
      return this.issue(grant);
    }
    const accessToken = this.#add('access_token', grant, this.#rules.tokenTtlSeconds);
    return { grant, accessToken, refreshToken: undefined };
  }

  /** Revokes a token, and with a refresh token all of its grant (RFC 7009). An unknown one is no error. */
  revoke(value: string): void {
    const token = this.find(value);
    this.memory.tokens.delete(value);
    if (token?.kind === 'refresh_token') this.endGrant(token.grant);
  }

  /** Ends all tokens that were issued for a grant. */
  endGrant(grant: G): void {
    this.#remove((token) => token.grant === grant);
  }

  /** Ends all tokens of a customer. */
  forgetCustomer({ customerId }: Customer): void {
    this.#remove(({ grant }) => grant.customerId === customerId);
  }

  #add(kind: Token<G>['kind'], grant: G, seconds: number): string {
    const value = this.#nameCustomers ? webToken(grant) : randomUUID();
    const expiresAt = new Date(this.#rules.now().getTime() + seconds * 1000);
    this.memory.tokens.set(value, { kind, grant, expiresAt });
    return value;
  }

  #remove(isOver: (token: Token<G>) => boolean): void {
    for (const [value, token] of this.memory.tokens) if (isOver(token)) this.memory.tokens.delete(value);
  }
}
