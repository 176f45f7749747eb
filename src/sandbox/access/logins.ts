import { randomBytes, randomUUID } from 'node:crypto';
import { Refusal } from '../answers/refusal.ts';
import type { Customer } from '../customers/seed-customers.ts';
import type { Application } from '../folder/registration.ts';
import type { StatePart } from '../state-part.ts';
import type { Grant } from './tokens.ts';

const LOGIN_MS = 10 * 60 * 1000;
const CODE_MS = 5 * 60 * 1000;

/** A login that the authorize call started and the customer has not decided yet. */
interface PendingLogin {
  application: Application;
  /** Exactly as the TPP wrote it. The token call must repeat it. */
  redirectUri: string;
  state: string | undefined;
  startedAt: Date;
}

interface Code {
  grant: Grant;
  redirectUri: string;
  issuedAt: Date;
  used: boolean;
}

/** The pending logins, and the authorization codes of decided ones (RFC 6749, section 4.1). */
export class Logins implements StatePart {
  memory = { pending: new Map<string, PendingLogin>(), codes: new Map<string, Code>() };
  readonly #now: () => Date;

  constructor(now: () => Date) {
    this.#now = now;
  }

  /** @returns the id for the login page. It is valid for ten minutes and for one decision. */
  start(application: Application, redirectUri: string, state: string | undefined): string {
    this.#forgetOld();
    const id = randomUUID();
    this.memory.pending.set(id, { application, redirectUri, state, startedAt: this.#now() });
    return id;
  }

  /** Undefined: the login is unknown, decided or expired. */
  find(id: string): PendingLogin | undefined {
    const login = this.memory.pending.get(id);
    return login && this.#age(login.startedAt) <= LOGIN_MS ? login : undefined;
  }

  /** The pending logins, oldest first. */
  open(): { id: string; login: PendingLogin }[] {
    return [...this.memory.pending].flatMap(([id]) => {
      const login = this.find(id);
      return login ? [{ id, login }] : [];
    });
  }

  /** Allows a login. @returns the redirect URI with the code for `customerId`. */
  allow(id: string, customerId: string): URL {
    const login = this.#decide(id);
    const code = randomBytes(32).toString('base64url');
    this.memory.codes.set(code, {
      grant: { application: login.application, customerId },
      redirectUri: login.redirectUri,
      issuedAt: this.#now(),
      used: false,
    });
    return returnUrl(login, { code });
  }

  /** Refuses a login. @returns the redirect URI with the error. */
  refuse(id: string): URL {
    return returnUrl(this.#decide(id), { error: 'access_denied' });
  }

  /**
   * The grant of a code. A code is valid once, for five minutes.
   *
   * @param onReplay is called with the grant of a code that is used a second time, to end its tokens.
   * @throws Refusal `GRANT_INVALID`, `REDIRECT_URI_INVALID`
   */
  redeem(
    code: string,
    application: Application,
    redirectUri: string,
    onReplay: (grant: Grant) => void,
  ): Grant {
    const found = this.memory.codes.get(code);
    if (
      !found ||
      found.grant.application.clientId !== application.clientId ||
      this.#age(found.issuedAt) > CODE_MS
    ) {
      throw new Refusal(
        'GRANT_INVALID',
        'The authorization code is unknown, older than five minutes or for another application',
      );
    }
    if (found.used) {
      onReplay(found.grant);
      throw new Refusal('GRANT_INVALID', 'The authorization code was already used. Its tokens are revoked');
    }
    if (found.redirectUri !== redirectUri) {
      throw new Refusal(
        'REDIRECT_URI_INVALID',
        'redirect_uri differs from that of the authorize request',
        `Expected: ${found.redirectUri}. Received: ${redirectUri}.`,
      );
    }
    found.used = true;
    return found.grant;
  }

  /** Ends the codes of a customer. A pending login has no customer yet. */
  forgetCustomer({ customerId }: Customer): void {
    for (const [code, { grant }] of this.memory.codes)
      if (grant.customerId === customerId) this.memory.codes.delete(code);
  }

  #decide(id: string): PendingLogin {
    const login = this.find(id);
    if (!login) throw new RangeError(`There is no pending login with the id ${id}`);
    this.memory.pending.delete(id);
    return login;
  }

  #forgetOld(): void {
    for (const [id, login] of this.memory.pending)
      if (this.#age(login.startedAt) > LOGIN_MS) this.memory.pending.delete(id);
    for (const [code, { issuedAt }] of this.memory.codes)
      if (this.#age(issuedAt) > CODE_MS) this.memory.codes.delete(code);
  }

  #age(since: Date): number {
    return this.#now().getTime() - since.getTime();
  }
}

function returnUrl({ redirectUri, state }: PendingLogin, answer: Record<string, string>): URL {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(answer)) url.searchParams.append(name, value);
  if (state !== undefined) url.searchParams.append('state', state);
  return url;
}
