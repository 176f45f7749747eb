import { type Context, Hono } from 'hono';
import { html } from 'hono/html';
import * as z from 'zod/mini';
import type { BankSide, LoginRequest, SandboxLogin } from './bank-side.ts';
import { loginForm, sendLoginPage } from './login-page.ts';
import { type Html, sendPage } from './page.ts';
import { type FormTokens, formOf, goTo, sendProblem, sessionOf } from './session.ts';
import { SignedIn } from './signed-in.ts';

const accessForm = z.object({
  decision: z.enum(['allow', 'refuse']),
  request: z.string(),
  token: z.string(),
});

/** `/login?request=<id>`: the customer logs in, then allows or refuses the TPP's access. */
export function loginRoutes(bank: BankSide, tokens: FormTokens): Hono {
  const signedIn = new SignedIn();
  const isOpen = (id: string) => bank.loginRequest(id) !== undefined;
  const routes = new Hono();

  routes.get('/login', (c) => {
    const id = c.req.query('request');
    if (id === undefined) return sendProblem(c, 'badRequest');
    const request = bank.loginRequest(id);
    if (!request) return sendProblem(c, 'unknownLogin');
    const session = sessionOf(c);
    const login = signedIn.find(id, session);
    if (!login) return sendLogin(c, id, session);
    const body = accessPage({ request, login, token: tokens.issue(session, `access ${id}`) });
    return sendPage(c, 200, { title: 'Allow access', forms: 'decision', body });
  });

  routes.post('/login', async (c) => {
    const form = loginForm.safeParse(await formOf(c));
    if (!form.success) return sendProblem(c, 'badRequest');
    const { request: id, token } = form.data;
    if (!isOpen(id)) return sendProblem(c, 'unknownLogin');
    const session = sessionOf(c);
    if (!tokens.accepts(token, session, `login ${id}`)) return sendProblem(c, 'staleForm');
    if (form.data.decision === 'refuse') return goTo(c, bank.refuseLogin(id).href);
    const login = bank.authenticate(form.data.user, form.data.password);
    if (!login) return sendLogin(c, id, session, form.data.user);
    signedIn.remember(id, { session, login }, isOpen);
    return goTo(c, `/login?${new URLSearchParams({ request: id })}`);
  });

  routes.post('/login/access', async (c) => {
    const form = accessForm.safeParse(await formOf(c));
    if (!form.success) return sendProblem(c, 'badRequest');
    const { request: id, token, decision } = form.data;
    if (!isOpen(id)) return sendProblem(c, 'unknownLogin');
    const session = sessionOf(c);
    const login = signedIn.find(id, session);
    if (!login || !tokens.accepts(token, session, `access ${id}`)) return sendProblem(c, 'staleForm');
    signedIn.forget(id);
    return goTo(
      c,
      decision === 'allow' ? bank.allowLogin(id, login.customerId).href : bank.refuseLogin(id).href,
    );
  });

  return routes;

  /** @param refused the user name, if its password was wrong. */
  function sendLogin(c: Context, id: string, session: string, refused?: string) {
    const request = bank.loginRequest(id);
    if (!request) return sendProblem(c, 'unknownLogin');
    const token = tokens.issue(session, `login ${id}`);
    const { tppName } = request;
    return sendLoginPage(c, { action: '/login', id, tppName, token, logins: bank.logins(), refused });
  }
}

/** The page after the login: the customer allows or refuses the TPP's access. */
function accessPage(page: { request: LoginRequest; token: string; login: SandboxLogin }): Html {
  const { request, token, login } = page;
  return html`
<section class="card" aria-labelledby="title">
<h1 id="title"><bdi>${request.tppName}</bdi> asks for access to your accounts</h1>
<p class="lead">You are logged in as <strong>${login.name}</strong>, customer ${login.customerId}.</p>
<ul class="grants">
<li><h2>It asks to see</h2>
<p>Your customer number and the list of your accounts. For balances and transactions it needs your consent for each account.</p></li>
<li><h2>It asks to act</h2>
<p>It may prepare payments for you. A payment is made only after you approve it here.</p></li>
<li><h2>It never gets</h2>
<p>Your user name and your password.</p></li>
</ul>
<form method="post" action="/login/access">
<input type="hidden" name="request" value="${request.id}"><input type="hidden" name="token" value="${token}">
<div class="actions">
<button class="primary" name="decision" value="allow">Allow access</button>
<button name="decision" value="refuse">Refuse</button>
</div>
</form>
<p class="note after">Application: <bdi>${request.applicationName}</bdi></p>
</section>`;
}
