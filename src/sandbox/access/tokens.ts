import { randomUUID } from 'node:crypto';
import { Refusal } from '../answers/refusal.ts';
import type { Customer } from '../customers/seed-customers.ts';
import type { Application } from '../folder/registration.ts';
import type { BankRules } from '../rules.ts';
import type { StatePart } from '../state-part.ts';

export const REFRESH_TOKEN_SECONDS = 2_592_000;

/** The access that a customer gave to an application, or that an application has on its own. */
export interface Grant {
  application: Application;
  /** Undefined for `client_credentials`. */
  customerId: string | undefined;
}

export interface IssuedTokens {
  accessToken: string;
  /** Undefined for `client_credentials`, and for a refresh that keeps the old refresh token. */
  refreshToken: string | undefined;
}

interface Token {
  kind: TokenKind;
  grant: Grant;
  expiresAt: Date;
}

type TokenKind = 'access_token' | 'refresh_token';

/** The issued tokens. They are UUIDs, and are removed when they expire, are used up or are revoked. */
export class Tokens implements StatePart {
  memory = { tokens: new Map<string, Token>() };
  readonly #now: () => Date;
  readonly #accessSeconds: number;
  readonly #rotate: boolean;

  constructor({
    now,
    tokenTtlSeconds,
    rotateRefreshTokens,
  }: Pick<BankRules, 'now' | 'tokenTtlSeconds' | 'rotateRefreshTokens'>) {
    this.#now = now;
    this.#accessSeconds = tokenTtlSeconds;
    this.#rotate = rotateRefreshTokens;
  }

  /** Issues an access token, and for a customer's grant also a refresh token. */
  issue(grant: Grant): IssuedTokens {
    this.#forgetExpired();
    return {
      accessToken: this.#add('access_token', grant, this.#accessSeconds),
      refreshToken:
        grant.customerId === undefined ? undefined : this.#add('refresh_token', grant, REFRESH_TOKEN_SECONDS),
    };
  }

  /**
   * The grant of an access token.
   *
   * @throws Refusal `TOKEN_INVALID`, `TOKEN_EXPIRED`
   */
  grantOf(accessToken: string): Grant {
    const token = this.memory.tokens.get(accessToken);
    if (token?.kind !== 'access_token') {
      throw new Refusal('TOKEN_INVALID', 'The access token is not valid');
    }
    if (token.expiresAt <= this.#now()) {
      throw new Refusal(
        'TOKEN_EXPIRED',
        'The access token has expired',
        `It ended at ${token.expiresAt.toISOString()}.`,
      );
    }
    return token.grant;
  }

  /** The customer of an access token, valid or not. */
  customerOf(accessToken: string): string | undefined {
    return this.memory.tokens.get(accessToken)?.grant.customerId;
  }

  /** Makes an access token expire now. */
  expire(accessToken: string): void {
    const token = this.memory.tokens.get(accessToken);
    if (token?.kind === 'access_token') token.expiresAt = this.#now();
  }

  /**
   * Issues a new access token for a refresh token. If the bank rotates refresh tokens, it also issues a new one and ends the
   * old one. Earlier access tokens stay valid.
   *
   * @throws Refusal `GRANT_INVALID`
   */
  refresh(refreshToken: string, application: Application): IssuedTokens {
    const token = this.memory.tokens.get(refreshToken);
    if (
      token?.kind !== 'refresh_token' ||
      token.grant.application.clientId !== application.clientId ||
      token.expiresAt <= this.#now()
    ) {
      throw new Refusal(
        'GRANT_INVALID',
        'The refresh token is unknown, expired, already used or for another application',
      );
    }
    if (!this.#rotate) {
      return {
        accessToken: this.#add('access_token', token.grant, this.#accessSeconds),
        refreshToken: undefined,
      };
    }
    this.memory.tokens.delete(refreshToken);
    return this.issue(token.grant);
  }

  /**
   * Revokes a token (RFC 7009). Revoking a refresh token revokes all tokens of its grant. An unknown token is not an error.
   *
   * @returns the kind of token, or undefined if it was not valid.
   * @throws Refusal `GRANT_INVALID` for a token of another application.
   */
  revoke(value: string, application: Application): TokenKind | undefined {
    const token = this.memory.tokens.get(value);
    if (!token) return undefined;
    if (token.grant.application.clientId !== application.clientId) {
      throw new Refusal('GRANT_INVALID', 'The token belongs to another application');
    }
    this.memory.tokens.delete(value);
    if (token.kind === 'refresh_token') this.endGrant(token.grant);
    return token.kind;
  }

  /** Ends all tokens that were issued for a grant. */
  endGrant(grant: Grant): void {
    for (const [value, token] of this.memory.tokens)
      if (token.grant === grant) this.memory.tokens.delete(value);
  }

  /** Ends all tokens of a customer. */
  forgetCustomer({ customerId }: Customer): void {
    for (const [value, { grant }] of this.memory.tokens)
      if (grant.customerId === customerId) this.memory.tokens.delete(value);
  }

  #add(kind: TokenKind, grant: Grant, seconds: number): string {
    const value = randomUUID();
    this.memory.tokens.set(value, {
      kind,
      grant,
      expiresAt: new Date(this.#now().getTime() + seconds * 1000),
    });
    return value;
  }

  /** Keeps an expired token for a day, so that its error differs from that of an unknown token. */
  #forgetExpired(): void {
    const dayAgo = this.#now().getTime() - 24 * 60 * 60 * 1000;
    for (const [value, token] of this.memory.tokens)
      if (token.expiresAt.getTime() < dayAgo) this.memory.tokens.delete(value);
  }
}
