import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';

const COOKIE = 'psd2_sandbox_session';

/**
 * The browser session of a request. Starts one if the request has none. The cookie is a random value: it ties a
 * page's forms, and the login, to the browser that was shown them.
 */
export function sessionOf(c: Context): string {
  const known = getCookie(c, COOKIE);
  if (known !== undefined && /^[\w-]{32}$/.test(known)) return known;
  const session = randomBytes(24).toString('base64url');
  // Lax, not Strict: the customer comes from the TPP's page.
  setCookie(c, COOKIE, session, { httpOnly: true, sameSite: 'Lax', path: '/' });
  return session;
}

/** Tokens that prove that a form comes from a page of this site in the same browser session. */
export class FormTokens {
  readonly #key = randomBytes(32);

  /** @param subject what the form decides on, for example `login <id>`. */
  issue(session: string, subject: string): string {
    return createHmac('sha256', this.#key).update(`${session} ${subject}`).digest('base64url');
  }

  accepts(token: string, session: string, subject: string): boolean {
    const given = Buffer.from(token);
    const expected = Buffer.from(this.issue(session, subject));
    return given.length === expected.length && timingSafeEqual(given, expected);
  }
}
