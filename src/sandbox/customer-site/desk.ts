import { type Context, Hono } from 'hono';
import { html } from 'hono/html';
import * as z from 'zod/mini';
import type { BankSide, SandboxLogin } from './bank-side.ts';
import { type Html, hidden, sendPage } from './page.ts';
import { type FormTokens, formOf, goTo, type Problem, sendProblem, sessionOf } from './session.ts';

/** What a customer logs in for at a desk. */
interface Counter {
  /** Takes the login form. */
  loginPath: string;
  /** Who sent the customer here. Undefined: the request is not open. */
  tppNameOf(id: string): string | undefined;
  /** Says that a request is not open. */
  unknown: Problem;
  /** The page of a request, for one who has logged in. */
  pageOf(id: string): string;
  /** What happens if the customer does not log in. */
  refuse(c: Context, id: string): Response | Promise<Response>;
}

/** Where customers log in for a request, and decide it. Only the browser session that logged in may decide. */
export class Desk {
  readonly bank: BankSide;
  readonly tokens: FormTokens;
  readonly #counter: Counter;
  /** By request and browser session. */
  readonly #logins = new Map<string, SandboxLogin>();

  constructor(bank: BankSide, tokens: FormTokens, counter: Counter) {
    this.bank = bank;
    this.tokens = tokens;
    this.#counter = counter;
  }

  /** Takes the login form. */
  loginRoute(): Hono {
    const { loginPath, unknown, pageOf, refuse, tppNameOf } = this.#counter;
    return new Hono().post(loginPath, async (c) => {
      const form = loginForm.safeParse(await formOf(c));
      if (!form.success) return sendProblem(c, 'badRequest');
      const { request: id, token } = form.data;
      if (tppNameOf(id) === undefined) return sendProblem(c, unknown);
      const session = sessionOf(c);
      if (!this.tokens.accepts(token, session, `login ${id}`)) return sendProblem(c, 'staleForm');
      if (form.data.decision === 'refuse') return refuse(c, id);
      const login = this.bank.authenticate(form.data.user, form.data.password);
      if (!login) return this.sendLogin(c, id, form.data.user);
      // Those of requests that nobody can decide any more are dropped.
      for (const key of this.#logins.keys())
        if (tppNameOf(key.split(' ', 1)[0] ?? '') === undefined) this.#logins.delete(key);
      this.#logins.set(`${id} ${session}`, login);
      return goTo(c, pageOf(id));
    });
  }

  /** @param refused the user name, if its password was wrong */
  sendLogin(c: Context, id: string, refused?: string): Response | Promise<Response> {
    const { tppNameOf, unknown, loginPath: action } = this.#counter;
    const tppName = tppNameOf(id);
    if (tppName === undefined) return sendProblem(c, unknown);
    const token = this.tokens.issue(sessionOf(c), `login ${id}`);
    return sendLoginPage(c, { action, id, tppName, token, logins: this.bank.logins(), refused });
  }

  /** Who has logged in for a request in this browser session. */
  login(c: Context, id: string): SandboxLogin | undefined {
    return this.#logins.get(`${id} ${sessionOf(c)}`);
  }

  /** Who decides with a form: undefined if it is not of a page that this browser session was shown after a login. */
  decider(c: Context, id: string, { token, subject }: { token: string; subject: string }) {
    return this.tokens.accepts(token, sessionOf(c), subject) ? this.login(c, id) : undefined;
  }
}

/** The fields of the login page. */
const loginForm = z.discriminatedUnion('decision', [
  z.object({
    decision: z.literal('login'),
    request: z.string(),
    token: z.string(),
    user: z.string(),
    password: z.string(),
  }),
  z.object({ decision: z.literal('refuse'), request: z.string(), token: z.string() }),
]);

interface LoginPage {
  /** The path that takes the form. */
  action: string;
  /** What the customer logs in for. */
  id: string;
  tppName: string;
  token: string;
  logins: SandboxLogin[];
  /** The user name that was entered, if user and password did not match. */
  refused: string | undefined;
}

/** Sends the login form, and a button for each of the sandbox's customers. */
function sendLoginPage(c: Context, page: LoginPage): Response | Promise<Response> {
  const [title, status] =
    page.refused === undefined ? (['Log in', 200] as const) : (['Error: log in', 422] as const);
  return sendPage(c, status, { title, forms: 'decision', body: loginPage(page) });
}

function loginPage({ action, id, tppName, token, logins, refused }: LoginPage): Html {
  const request = hidden({ request: id, token });
  const invalid = refused === undefined ? '' : html` aria-invalid="true" aria-describedby="refused"`;
  return html`
<section class="card" aria-labelledby="title">
<h1 id="title">Log in to your bank</h1>
<p class="lead"><bdi><strong>${tppName}</strong></bdi> sent you here to log in. It does not see your password.</p>
${refused === undefined ? '' : html`<p class="alarm" id="refused" role="alert">User and password do not match.</p>`}
<form method="post" action="${action}">
${request}
<label for="user">User</label>
<input id="user" name="user" type="text" value="${refused ?? ''}" autocomplete="username" autocapitalize="none" spellcheck="false" required${refused === undefined ? html` autofocus` : ''}${invalid}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${refused === undefined ? '' : html` autofocus`}${invalid}>
<div class="actions">
<button class="primary" name="decision" value="login">Log in</button>
<button name="decision" value="refuse" formnovalidate>Cancel</button>
</div>
</form>
</section>
<section class="card" aria-labelledby="people">
<h2 id="people">Customers of this sandbox</h2>
<p class="note">Enter one of these, or continue directly as that customer.</p>
<ul class="people">${logins.map(
    (login) => html`
<li><form method="post" action="${action}">
${request}
${hidden({ user: login.user, password: login.password })}
<p><strong>${login.name}</strong><span>User <code>${login.user}</code></span><span>Password <code>${login.password}</code></span></p>
<button name="decision" value="login" aria-label="Continue as ${login.name}">Continue</button>
</form></li>`,
  )}
</ul>
</section>`;
}
