import type { Hono } from 'hono';
import { html } from 'hono/html';
import * as z from 'zod/mini';
import type { BankSide, LoginRequest, SandboxLogin } from './bank-side.ts';
import { Desk } from './desk.ts';
import { decisionButtons, decisionCard, type Html, loggedInAs, sendPage } from './page.ts';
import { type FormTokens, formOf, goTo, sendProblem, sessionOf } from './session.ts';

const accessForm = z.object({
  decision: z.enum(['allow', 'refuse']),
  request: z.string(),
  token: z.string(),
});

/** `/login?request=<id>`: the customer logs in, then allows or refuses the TPP's access. */
export function loginRoutes(bank: BankSide, tokens: FormTokens): Hono {
  const desk = new Desk(bank, tokens, {
    loginPath: '/login',
    unknown: 'unknownLogin',
    tppNameOf: (id) => bank.loginRequest(id)?.tppName,
    pageOf: (id) => `/login?${new URLSearchParams({ request: id })}`,
    refuse: (c, id) => goTo(c, bank.refuseLogin(id).href),
  });
  const routes = desk.loginRoute();

  routes.get('/login', (c) => {
    const id = c.req.query('request');
    if (id === undefined) return sendProblem(c, 'badRequest');
    const request = bank.loginRequest(id);
    const login = request && desk.login(c, id);
    if (!request || !login) return desk.sendLogin(c, id);
    const body = accessPage({ request, login, token: tokens.issue(sessionOf(c), `access ${id}`) });
    return sendPage(c, 200, { title: 'Allow access', forms: 'decision', body });
  });

  routes.post('/login/access', async (c) => {
    const form = accessForm.safeParse(await formOf(c));
    if (!form.success) return sendProblem(c, 'badRequest');
    const { request: id, token, decision } = form.data;
    if (!bank.loginRequest(id)) return sendProblem(c, 'unknownLogin');
    const login = desk.decider(c, id, { token, subject: `access ${id}` });
    if (!login) return sendProblem(c, 'staleForm');
    return goTo(
      c,
      decision === 'allow' ? bank.allowLogin(id, login.customerId).href : bank.refuseLogin(id).href,
    );
  });

  return routes;
}

/** The page after the login: the customer allows or refuses the TPP's access. */
function accessPage(page: { request: LoginRequest; token: string; login: SandboxLogin }): Html {
  const { request, token, login } = page;
  return decisionCard({
    title: html`<bdi>${request.tppName}</bdi> asks for access to your accounts`,
    lead: loggedInAs(login),
    content: html`
<ul class="grants">
<li><h2>It asks to see</h2>
<p>Your customer number and the list of your accounts. For balances and transactions it needs your consent for each account.</p></li>
<li><h2>It asks to act</h2>
<p>It may prepare payments for you. A payment is made only after you approve it here.</p></li>
<li><h2>It never gets</h2>
<p>Your user name and your password.</p></li>
</ul>`,
    form: { action: '/login/access', fields: { request: request.id, token } },
    buttons: decisionButtons('Allow access', 'allow'),
    after: html`Application: <bdi>${request.applicationName}</bdi>`,
  });
}
