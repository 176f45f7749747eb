import { type Context, Hono } from 'hono';
import type { BankSide, SandboxLogin } from './bank-side.ts';
import { loginForm, sendLoginPage } from './login-page.ts';
import { type FormTokens, formOf, goTo, type Problem, sendProblem, sessionOf } from './session.ts';

/** What a customer logs in for at a desk. */
export interface Counter {
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
