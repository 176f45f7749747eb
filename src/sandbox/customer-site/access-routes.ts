import { type Context, Hono } from 'hono';
import * as z from 'zod/mini';
import {
  ACCOUNT_FIELD,
  accessPage,
  DEBTOR_FIELD,
  donePage,
  foreignAccountsPage,
  otherCustomerPage,
  waitingPage,
} from './access-pages.ts';
import type { AccessRequest, AccessSide, Decided } from './access-side.ts';
import type { BankSide } from './bank-side.ts';
import { Desk } from './desk.ts';
import { sendPage } from './page.ts';
import { type FormTokens, formOf, goTo, sendProblem, sessionOf } from './session.ts';

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
interface Pages {
  access: AccessSide;
  desk: Desk;
}

/**
 * The second door's pages: `/authorise?request=<id>` for a customer whom the TPP sent here, `/requests` for one who was asked
 * without a browser, and the authorization endpoint of OAuth.
 */
export function accessRoutes(bank: BankSide, access: AccessSide, tokens: FormTokens): Hono {
  const desk = new Desk(bank, tokens, {
    loginPath: '/authorise/login',
    unknown: 'unknownSca',
    tppNameOf: (id) => (id === ALL ? 'An application' : access.accessRequest(id)?.tppName),
    pageOf: (id) => (id === ALL ? '/requests' : `/authorise?${new URLSearchParams({ request: id })}`),
    refuse: (c, id) => (id === ALL ? goTo(c, '/') : end(c, access.refuse(id), false)),
  });
  const routes = new Hono();
  for (const path of access.authorizePaths)
    routes.get(path, (c) => {
      const next = access.authorize(new URL(c.req.url).searchParams);
      return next instanceof URL ? goTo(c, next.href) : sendProblem(c, 'badRequest', next.wrong);
    });
  routes.route('/', desk.loginRoute());
  routes.route('/', decisionRoutes({ access, desk }));
  routes.route('/', waitingRoutes({ access, desk }));
  return routes;
}

/** One request: what it would show, and the decision. */
function decisionRoutes({ access, desk }: Pages): Hono {
  const routes = new Hono();
  routes.get('/authorise', (c) => {
    const id = c.req.query('request');
    return id === undefined ? sendProblem(c, 'badRequest') : sendRequest({ access, desk }, c, id);
  });
  routes.post('/authorise', async (c) => {
    const fields = await formOf(c);
    const form = decisionForm.safeParse(fields);
    if (!form.success) return sendProblem(c, 'badRequest');
    const { request: id, token, decision } = form.data;
    if (access.accessRequest(id) === undefined) return sendProblem(c, 'unknownSca');
    const login = desk.decider(c, id, { token, subject: `access ${id}` });
    if (!login) return sendProblem(c, 'staleForm');
    if (decision === 'refuse') return end(c, access.refuse(id), false);
    const choose = access.shown(id, login.customerId)?.choose === true;
    return end(c, access.approve(id, login.customerId, choose ? chosenIn(fields) : undefined), true);
  });
  return routes;
}

/** The product id of the account to pay from, or those of the boxes that are ticked. */
function chosenIn(fields: Record<string, string>): string[] {
  const debtor = fields[DEBTOR_FIELD];
  if (debtor !== undefined) return [debtor];
  return Object.keys(fields)
    .filter((name) => name.startsWith(ACCOUNT_FIELD))
    .map((name) => name.slice(ACCOUNT_FIELD.length));
}

/** All requests that wait for a customer, and the consents to withdraw. */
function waitingRoutes({ access, desk }: Pages): Hono {
  const { tokens } = desk;
  const routes = new Hono();
  routes.get('/requests', (c) => {
    const session = sessionOf(c);
    const login = desk.login(c, ALL);
    if (!login) return desk.sendLogin(c, ALL);
    const body = waitingPage({
      login,
      waiting: access.waiting(login.user).map((request) => ({
        request,
        shown: access.shown(request.id, login.customerId),
        token: tokens.issue(session, `waiting ${request.id}`),
      })),
      consents: access.given(login.customerId).map((consent) => ({
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
    const login = desk.decider(c, ALL, { token, subject: `waiting ${id}` });
    if (!login) return sendProblem(c, 'staleForm');
    if (decision === 'withdraw') access.revoke(id);
    else if (access.accessRequest(id) === undefined) return sendProblem(c, 'unknownSca');
    else if (decision === 'approve') access.approve(id, login.customerId);
    else access.refuse(id);
    return goTo(c, '/requests');
  });
  return routes;
}

function sendRequest({ access, desk }: Pages, c: Context, id: string): Response | Promise<Response> {
  const request = access.accessRequest(id);
  const login = request && desk.login(c, id);
  if (!request || !login) return desk.sendLogin(c, id);
  const token = desk.tokens.issue(sessionOf(c), `access ${id}`);
  if (request.user !== undefined && request.user !== login.user) {
    const body = otherCustomerPage({ request, login, token });
    return sendPage(c, 200, { title: 'Not your request', forms: 'decision', body });
  }
  const shown = access.shown(id, login.customerId);
  const body = shown
    ? accessPage({ request, login, shown, token })
    : foreignAccountsPage({ request, login, token });
  return sendPage(c, 200, {
    title: shown ? requestTitle(request) : 'Not your accounts',
    forms: 'decision',
    body,
  });
}

function requestTitle({ payments }: AccessRequest): string {
  if (!payments) return 'Give access';
  return payments.cancels ? 'Cancel a payment' : 'Authorise a payment';
}

/** Sends the browser back to the TPP, or says that the customer is done. */
function end(c: Context, { returnTo }: Decided, approved: boolean): Response | Promise<Response> {
  if (returnTo) return goTo(c, returnTo.href);
  return sendPage(c, 200, { title: 'Done', forms: 'none', body: donePage(approved) });
}
