import { type Context, Hono } from 'hono';
import * as z from 'zod/mini';
import {
  ACCOUNT_FIELD,
  accessPage,
  donePage,
  foreignAccountsPage,
  otherCustomerPage,
  waitingPage,
} from './access-pages.ts';
import type { AccessRequest, AccessSide, Decided } from './access-side.ts';
import type { BankSide } from './bank-side.ts';
import { loginForm, sendLoginPage } from './login-page.ts';
import { sendPage } from './page.ts';
import { type FormTokens, formOf, goTo, sendProblem, sessionOf } from './session.ts';
import { SignedIn } from './signed-in.ts';

const decisionForm = z.looseObject({
  decision: z.enum(['approve', 'refuse']),
  request: z.string(),
  token: z.string(),
});
const waitingForm = z.object({
  decision: z.enum(['approve', 'refuse', 'withdraw']),
  id: z.string(),
  token: z.string(),
});

/** Whose requests the page `/requests` shows: its login is for all of them, not for one. */
const ALL = 'all';

/** What the pages share. */
interface Desk {
  bank: BankSide;
  access: AccessSide;
  tokens: FormTokens;
  signedIn: SignedIn;
}

/**
 * The second door's pages: `/authorise?request=<id>` for a customer whom the TPP sent here, `/requests` for one who was asked
 * without a browser, and the authorization endpoint of OAuth.
 */
export function accessRoutes(bank: BankSide, access: AccessSide, tokens: FormTokens): Hono {
  const desk = { bank, access, tokens, signedIn: new SignedIn() };
  const routes = new Hono();
  for (const path of access.authorizePaths) {
    routes.get(path, (c) => {
      const next = access.authorize(new URL(c.req.url).searchParams);
      return next ? goTo(c, next.href) : sendProblem(c, 'badRequest');
    });
  }
  routes.route('/', loginRoutes(desk));
  routes.route('/', decisionRoutes(desk));
  routes.route('/', waitingRoutes(desk));
  return routes;
}

/** The login for one request, or for all of them. */
function loginRoutes(desk: Desk): Hono {
  const { bank, access, tokens, signedIn } = desk;
  const isOpen = (id: string) => id.startsWith(ALL) || access.accessRequest(id) !== undefined;
  const routes = new Hono();
  routes.post('/authorise/login', async (c) => {
    const form = loginForm.safeParse(await formOf(c));
    if (!form.success) return sendProblem(c, 'badRequest');
    const { request: id, token } = form.data;
    if (!isOpen(id)) return sendProblem(c, 'unknownSca');
    const session = sessionOf(c);
    if (!tokens.accepts(token, session, `login ${id}`)) return sendProblem(c, 'staleForm');
    if (form.data.decision === 'refuse') return id === ALL ? goTo(c, '/') : end(c, access.refuse(id), false);
    const login = bank.authenticate(form.data.user, form.data.password);
    if (!login) return sendLogin(desk, c, id, form.data.user);
    signedIn.remember(keyOf(id, session), { session, login }, isOpen);
    return goTo(c, id === ALL ? '/requests' : `/authorise?${new URLSearchParams({ request: id })}`);
  });
  return routes;
}

/** One request: what it would show, and the decision. */
function decisionRoutes(desk: Desk): Hono {
  const { access, tokens, signedIn } = desk;
  const routes = new Hono();
  routes.get('/authorise', (c) => {
    const id = c.req.query('request');
    return id === undefined ? sendProblem(c, 'badRequest') : sendRequest(desk, c, id);
  });
  routes.post('/authorise', async (c) => {
    const fields = await formOf(c);
    const form = decisionForm.safeParse(fields);
    if (!form.success) return sendProblem(c, 'badRequest');
    const { request: id, token, decision } = form.data;
    if (access.accessRequest(id) === undefined) return sendProblem(c, 'unknownSca');
    const session = sessionOf(c);
    const login = signedIn.find(id, session);
    if (!login || !tokens.accepts(token, session, `access ${id}`)) return sendProblem(c, 'staleForm');
    if (decision === 'refuse') return end(c, access.refuse(id), false);
    const choose = access.shown(id, login.customerId)?.choose === true;
    return end(c, access.approve(id, login.customerId, choose ? chosenIn(fields) : undefined), true);
  });
  return routes;
}

/** The product ids of the boxes that are ticked. */
function chosenIn(fields: Record<string, string>): string[] {
  return Object.keys(fields)
    .filter((name) => name.startsWith(ACCOUNT_FIELD))
    .map((name) => name.slice(ACCOUNT_FIELD.length));
}

/** All requests that wait for a customer, and the consents to withdraw. */
function waitingRoutes(desk: Desk): Hono {
  const { access, tokens, signedIn } = desk;
  const routes = new Hono();
  routes.get('/requests', (c) => {
    const session = sessionOf(c);
    const login = signedIn.find(keyOf(ALL, session), session);
    if (!login) return sendLogin(desk, c, ALL);
    const body = waitingPage({
      login,
      waiting: access.waiting(login.user).map((request) => ({
        request,
        shown: access.shown(request.id, login.customerId),
        token: tokens.issue(session, `waiting ${request.id}`),
      })),
      given: access.given(login.customerId).map((consent) => ({
        consent,
        token: tokens.issue(session, `waiting ${consent.id}`),
      })),
    });
    return sendPage(c, 200, { title: 'Your requests', forms: 'decision', body });
  });
  routes.post('/requests', async (c) => {
    const form = waitingForm.safeParse(await formOf(c));
    if (!form.success) return sendProblem(c, 'badRequest');
    const { decision, id, token } = form.data;
    const session = sessionOf(c);
    const login = signedIn.find(keyOf(ALL, session), session);
    if (!login || !tokens.accepts(token, session, `waiting ${id}`)) return sendProblem(c, 'staleForm');
    if (decision === 'withdraw') access.revoke(id);
    else if (access.accessRequest(id) === undefined) return sendProblem(c, 'unknownSca');
    else if (decision === 'approve') access.approve(id, login.customerId);
    else access.refuse(id);
    return goTo(c, '/requests');
  });
  return routes;
}

function sendRequest(desk: Desk, c: Context, id: string): Response | Promise<Response> {
  const { access, tokens, signedIn } = desk;
  const request = access.accessRequest(id);
  if (!request) return sendProblem(c, 'unknownSca');
  const session = sessionOf(c);
  const login = signedIn.find(id, session);
  if (!login) return sendLogin(desk, c, id);
  const token = tokens.issue(session, `access ${id}`);
  if (request.user !== undefined && request.user !== login.user) {
    const body = otherCustomerPage({ request, login, token });
    return sendPage(c, 200, { title: 'Not your request', forms: 'decision', body });
  }
  const shown = access.shown(id, login.customerId);
  const body = shown
    ? accessPage({ request, login, shown, token })
    : foreignAccountsPage({ request, login, token });
  return sendPage(c, 200, { title: shown ? titleOf(request) : 'Not your accounts', forms: 'decision', body });
}

function titleOf({ payments }: AccessRequest): string {
  if (!payments) return 'Give access';
  return payments.cancels ? 'Cancel a payment' : 'Authorise a payment';
}

/** @param refused the user name, if its password was wrong. */
function sendLogin(
  { bank, access, tokens }: Desk,
  c: Context,
  id: string,
  refused?: string,
): Response | Promise<Response> {
  return sendLoginPage(c, {
    action: '/authorise/login',
    id,
    tppName: access.accessRequest(id)?.tppName ?? 'An application',
    token: tokens.issue(sessionOf(c), `login ${id}`),
    logins: bank.logins(),
    refused,
  });
}

/** The login of the page with all requests belongs to the browser session alone. */
function keyOf(id: string, session: string): string {
  return id === ALL ? `${ALL} ${session}` : id;
}

/** Sends the browser back to the TPP, or says that the customer is done. */
function end(c: Context, { returnTo }: Decided, approved: boolean): Response | Promise<Response> {
  if (returnTo) return goTo(c, returnTo.href);
  return sendPage(c, 200, { title: 'Done', forms: 'none', body: donePage(approved) });
}
