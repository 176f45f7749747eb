import { createHmac, randomBytes } from 'node:crypto';
import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { html } from 'hono/html';
import { isSameSecret } from '../same-secret.ts';
import { type Html, sendPage } from './page.ts';

const COOKIE = 'psd2_sandbox_session';

/** The sessions that requests without one have started. */
const started = new WeakMap<Context, string>();

/**
 * The browser session of a request. Starts one if the request has none. The cookie is a random value: it ties a
 * page's forms, and the login, to the browser that was shown them.
 */
export function sessionOf(c: Context): string {
  const cookie = started.get(c) ?? getCookie(c, COOKIE);
  if (cookie !== undefined && /^[\w-]{32}$/.test(cookie)) return cookie;
  const session = randomBytes(24).toString('base64url');
  started.set(c, session);
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
    return isSameSecret(token, this.issue(session, subject));
  }
}

/** The fields of the submitted form. */
export async function formOf(c: Context): Promise<Record<string, string>> {
  return Object.fromEntries(new URLSearchParams(await c.req.text()));
}

/** Answers with a page that says why the customer cannot continue. @param detail for the application's developer */
export function sendProblem(c: Context, problem: Problem, detail?: string): Response | Promise<Response> {
  const { status, title, body } = problemPage(problem, detail);
  return sendPage(c, status, { title, forms: 'none', body });
}

/** Redirects with 303, so that the browser continues with GET after a POST (RFC 9110 section 15.4.4). */
export function goTo(c: Context, location: string): Response {
  return c.redirect(location, 303);
}

const START_AGAIN = 'Go back to the application that sent you here and start again.';

const PROBLEMS = {
  badRequest: {
    status: 400,
    title: 'This address is incomplete',
    text: 'The link or the form does not have everything that this page needs.',
    next: START_AGAIN,
  },
  staleForm: {
    status: 403,
    title: 'This form can’t be used any more',
    text: 'It does not belong to a page that this browser was shown. Nothing was decided.',
    next: 'Open the link from the application again. Allow cookies.',
  },
  noSuchPage: {
    status: 404,
    title: 'Page not found',
    text: 'The customer site of the sandbox bank has pages to log in and to authorise requests.',
    next: html`An application opens them for you. The <a href="/">front page</a> explains how to start.`,
  },
  unknownLogin: {
    status: 404,
    title: 'This login is not open',
    text: 'It is unknown, already used or expired.',
    next: START_AGAIN,
  },
  unknownSca: {
    status: 404,
    title: 'There is nothing to authorise here',
    text: 'The bank does not know this request.',
    next: START_AGAIN,
  },
  decidedSca: {
    status: 410,
    title: 'You already decided this',
    text: 'A decision is final.',
    next: 'Go back to the application that sent you here. It asks the bank how you decided.',
  },
  expiredSca: {
    status: 410,
    title: 'This request has expired',
    text: 'You did not decide in time. Nothing was authorised.',
    next: START_AGAIN,
  },
  tooLarge: {
    status: 413,
    title: 'This form is too large',
    text: 'It holds more than its fields allow. Nothing was decided.',
    next: START_AGAIN,
  },
  otherHost: {
    status: 421,
    title: 'Unknown host name',
    text: 'The sandbox bank answers only on this computer.',
    next: START_AGAIN,
  },
} as const;

/** Why the customer cannot continue. */
export type Problem = keyof typeof PROBLEMS;

/** Says what happened and what the customer can do. Only the detail repeats something from the request. */
export function problemPage(
  problem: Problem,
  detail?: string,
): {
  status: (typeof PROBLEMS)[Problem]['status'];
  title: string;
  body: Html;
} {
  const { status, title, text, next } = PROBLEMS[problem];
  const body = html`
<section class="card" aria-labelledby="title">
<h1 id="title">${title}</h1>
<p class="lead">${text}</p>
${detail === undefined ? '' : html`<p role="alert">${detail}</p>`}
<p>${next}</p>
</section>`;
  return { status, title, body };
}
