import { randomBytes, randomUUID } from 'node:crypto';
import type { Customer } from '../customers/seed-customers.ts';
import type { StatePart } from '../state-part.ts';
import type { AnyGrant } from './tokens.ts';

const LOGIN_MS = 10 * 60 * 1000;
const CODE_MS = 5 * 60 * 1000;

/** Where a browser goes back to after a login. */
interface Returning {
  /** Exactly as the TPP wrote it. The token call must repeat it. */
  redirectUri: string;
  state: string | undefined;
}

/** A login that a TPP began and the customer has not decided yet (RFC 6749, section 4.1.1). */
export type Pending<R> = R & { id: string; startedAt: Date };

interface Code<R, G> {
  grant: G;
  login: Pending<R>;
  issuedAt: Date;
  used: boolean;
}

/** The logins at one door that wait for the customer, and the codes of decided ones. */
export class Logins<R extends Returning, G extends AnyGrant> implements StatePart {
  memory = { pending: new Map<string, Pending<R>>(), codes: new Map<string, Code<R, G>>() };
  readonly #now: () => Date;

  constructor(now: () => Date) {
    this.#now = now;
  }

  /** @returns the login, which is open for ten minutes and for one decision */
  start(request: R): Pending<R> {
    this.#forgetOld();
    const login = { ...request, id: randomUUID(), startedAt: this.#now() };
    this.memory.pending.set(login.id, login);
    return login;
  }

  /** Undefined: the login is unknown, decided or expired. */
  find(id: string): Pending<R> | undefined {
    const login = this.memory.pending.get(id);
    return login && this.#age(login.startedAt) <= LOGIN_MS ? login : undefined;
  }

  /** @throws RangeError if there is no such login */
  require(id: string): Pending<R> {
    const login = this.find(id);
    if (login) return login;
    throw new RangeError(`There is no pending login with the id ${id}`);
  }

  /** The pending logins, oldest first. */
  open(): Pending<R>[] {
    return [...this.memory.pending.keys()].flatMap((id) => this.find(id) ?? []);
  }

  /** Allows a login. @returns the redirect URI with a code for the grant */
  allow(login: Pending<R>, grant: G, issuer?: string): URL {
    const code = randomBytes(32).toString('base64url');
    this.memory.codes.set(code, { grant, login, issuedAt: this.#now(), used: false });
    return this.#end(login, { code }, issuer);
  }

  /** Refuses a login. @returns the redirect URI with the error */
  refuse(login: Pending<R>, issuer?: string): URL {
    return this.#end(login, { error: 'access_denied' }, issuer);
  }

  /** What a code stands for. A code is valid once, for five minutes. @returns undefined if it is unknown or older */
  code(value: string): Code<R, G> | undefined {
    const issued = this.memory.codes.get(value);
    return issued && this.#age(issued.issuedAt) <= CODE_MS ? issued : undefined;
  }

  /** Ends the codes of a customer. A pending login has no customer yet. */
  forgetCustomer({ customerId }: Customer): void {
    for (const [code, { grant }] of this.memory.codes)
      if (grant.customerId === customerId) this.memory.codes.delete(code);
  }

  #end(login: Pending<R>, answer: Record<string, string>, issuer: string | undefined): URL {
    this.memory.pending.delete(login.id);
    return returnUrl(login, answer, issuer);
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

/** The address of an authorization response, with `state`. @param issuer sent as `iss` (RFC 9207) */
export function returnUrl(
  { redirectUri, state }: Returning,
  answer: Record<string, string>,
  issuer?: string,
): URL {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(answer)) url.searchParams.append(name, value);
  if (state !== undefined) url.searchParams.append('state', state);
  if (issuer !== undefined) url.searchParams.append('iss', issuer);
  return url;
}
