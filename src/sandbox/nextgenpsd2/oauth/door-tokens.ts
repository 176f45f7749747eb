import { randomUUID } from 'node:crypto';
import { REFRESH_TOKEN_SECONDS } from '../../access/tokens.ts';
import type { Customer } from '../../customers/seed-customers.ts';
import type { BankRules } from '../../rules.ts';
import type { StatePart } from '../../state-part.ts';
import { DoorRefusal } from '../refusal.ts';

/** The access that a token gives at the second door. */
export interface DoorGrant {
  scope: string;
  /** Undefined: the application alone. */
  customerId: string | undefined;
  /** The consent that the customer gave with it. Undefined: a login, or the application. */
  consentId: string | undefined;
  /** The payment that the customer authorised with it. */
  paymentId: string | undefined;
}

interface DoorToken {
  kind: 'access' | 'refresh';
  grant: DoorGrant;
  expiresAt: Date;
}

export interface IssuedDoorTokens {
  accessToken: string;
  /** Undefined for an application, and for a refresh that keeps the old refresh token. */
  refreshToken: string | undefined;
  grant: DoorGrant;
}

/** The tokens of the second door. */
export class DoorTokens implements StatePart {
  memory = { tokens: new Map<string, DoorToken>() };
  readonly #rules: Pick<BankRules, 'now' | 'tokenTtlSeconds' | 'rotateRefreshTokens'>;

  constructor(rules: Pick<BankRules, 'now' | 'tokenTtlSeconds' | 'rotateRefreshTokens'>) {
    this.#rules = rules;
  }

  issue(grant: DoorGrant): IssuedDoorTokens {
    const isCustomers = grant.customerId !== undefined;
    return {
      grant,
      accessToken: this.#add('access', grant, this.#rules.tokenTtlSeconds),
      refreshToken: isCustomers ? this.#add('refresh', grant, REFRESH_TOKEN_SECONDS) : undefined,
    };
  }

  /** @throws DoorRefusal `TOKEN_UNKNOWN`, `TOKEN_EXPIRED` */
  grantOf(accessToken: string): DoorGrant {
    const token = this.memory.tokens.get(accessToken);
    if (token?.kind !== 'access')
      throw new DoorRefusal('TOKEN_UNKNOWN', 'The bank does not know this access token');
    if (token.expiresAt > this.#rules.now()) return token.grant;
    throw new DoorRefusal(
      'TOKEN_EXPIRED',
      'The access token has expired',
      `It ended at ${token.expiresAt.toISOString()}.`,
    );
  }

  /** The customer of an access token, valid or not. */
  customerOf(accessToken: string): string | undefined {
    return this.memory.tokens.get(accessToken)?.grant.customerId;
  }

  /** Whether the customer has logged in with a payment. */
  hasFor(paymentId: string): boolean {
    return [...this.memory.tokens.values()].some(({ grant }) => grant.paymentId === paymentId);
  }

  /** Makes an access token expire now. */
  expire(accessToken: string): void {
    const token = this.memory.tokens.get(accessToken);
    if (token?.kind === 'access') token.expiresAt = this.#rules.now();
  }

  /** @returns undefined if the refresh token is unknown, expired or used up */
  refresh(refreshToken: string): IssuedDoorTokens | undefined {
    const token = this.memory.tokens.get(refreshToken);
    if (token?.kind !== 'refresh' || token.expiresAt <= this.#rules.now()) return undefined;
    const { grant } = token;
    if (this.#rules.rotateRefreshTokens) {
      this.memory.tokens.delete(refreshToken);
      return this.issue(grant);
    }
    const accessToken = this.#add('access', grant, this.#rules.tokenTtlSeconds);
    return { accessToken, refreshToken: undefined, grant };
  }

  /** Revokes a token, and with a refresh token all of its grant (RFC 7009). An unknown one is no error. */
  revoke(value: string): void {
    const token = this.memory.tokens.get(value);
    this.memory.tokens.delete(value);
    if (token?.kind === 'refresh') this.endGrant(token.grant);
  }

  endGrant(grant: DoorGrant): void {
    for (const [value, token] of this.memory.tokens)
      if (token.grant === grant) this.memory.tokens.delete(value);
  }

  /** Ends all tokens of a customer. */
  forgetCustomer({ customerId }: Customer): void {
    for (const [value, { grant }] of this.memory.tokens)
      if (grant.customerId === customerId) this.memory.tokens.delete(value);
  }

  #add(kind: DoorToken['kind'], grant: DoorGrant, seconds: number): string {
    const value = randomUUID();
    const expiresAt = new Date(this.#rules.now().getTime() + seconds * 1000);
    this.memory.tokens.set(value, { kind, grant, expiresAt });
    return value;
  }
}
