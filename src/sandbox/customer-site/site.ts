import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import * as z from 'zod/mini';
import { isLoopback } from '../../domain/loopback.ts';
import type { BankSide, ScaState } from './bank-side.ts';
import { accessPage, loginPage } from './login-pages.ts';
import { sendPage } from './page.ts';
import { type Problem, problemPage } from './problem-page.ts';
import { scaPage } from './sca-page.ts';
import { FormTokens, sessionOf } from './session.ts';
import { SignedIn } from './signed-in.ts';

const MAX_FORM_BYTES = 8_192;

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
const accessForm = z.object({
  decision: z.enum(['allow', 'refuse']),
  request: z.string(),
  token: z.string(),
});
const scaForm = z.object({
  decision: z.enum(['approve', 'refuse']),
  resourceId: z.string(),
  token: z.string(),
});

/**
 * The bank's customer site, where the customer's browser is sent for login (`/login?request=<id>`) and SCA
 * (`/sca-authorize/?resourceId=<uuid>`): plain pages and forms, no scripts. After a decision the browser goes on
 * to the address that the bank gives, with 303. Meant for loopback only; another host name is refused.
 */
export function customerSite(bank: BankSide): Hono {
  const tokens = new FormTokens();
  const signedIn = new SignedIn();
  const isOpen = (id: string) => bank.loginRequest(id) !== undefined;

  const site = new Hono();
  site.use(async (c, next) => {
    c.header('X-Content-Type-Options', 'nosniff');
    c.header('X-Frame-Options', 'DENY');
    c.header('Referrer-Policy', 'no-referrer');
    c.header('Cache-Control', 'no-store');
    // A name that some page's owner has pointed at this computer (DNS rebinding) gets nothing.
    if (!isLoopback(new URL(c.req.url))) return sendProblem(c, 'otherHost');
    return next();
  });
  site.use(bodyLimit({ maxSize: MAX_FORM_BYTES, onError: (c) => sendProblem(c, 'tooLarge') }));

  site.get('/login', (c) => {
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

  site.post('/login', async (c) => {
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

  site.post('/login/access', async (c) => {
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

  site.get('/sca-authorize/', (c) => {
    const id = c.req.query('resourceId');
    if (id === undefined) return sendProblem(c, 'badRequest');
    const sca = bank.scaRequest(id);
    if (sca?.state !== 'PENDING') return sendProblem(c, closedSca(sca?.state));
    const token = tokens.issue(sessionOf(c), `sca ${id}`);
    return sendPage(c, 200, { ...scaPage(sca.request, token), forms: 'decision' });
  });

  site.post('/sca-authorize/', async (c) => {
    const form = scaForm.safeParse(await formOf(c));
    if (!form.success) return sendProblem(c, 'badRequest');
    const { resourceId: id, token, decision } = form.data;
    const state = bank.scaRequest(id)?.state;
    if (state !== 'PENDING') return sendProblem(c, closedSca(state));
    if (!tokens.accepts(token, sessionOf(c), `sca ${id}`)) return sendProblem(c, 'staleForm');
    return goTo(c, decision === 'approve' ? bank.approveSca(id).href : bank.refuseSca(id).href);
  });

  site.all('*', (c) => sendProblem(c, 'noSuchPage'));
  return site;

  /** @param refused the user that was tried with a wrong password. */
  function sendLogin(c: Context, id: string, session: string, refused?: string) {
    const request = bank.loginRequest(id);
    if (!request) return sendProblem(c, 'unknownLogin');
    const page = { request, token: tokens.issue(session, `login ${id}`), logins: bank.logins() };
    const body = loginPage(refused === undefined ? page : { ...page, refused });
    const title = refused === undefined ? 'Log in' : 'Error: log in';
    return sendPage(c, refused === undefined ? 200 : 422, { title, forms: 'decision', body });
  }
}

function closedSca(state: Exclude<ScaState, 'PENDING'> | undefined): Problem {
  if (state === undefined) return 'unknownSca';
  return state === 'EXPIRED' ? 'expiredSca' : 'decidedSca';
}

async function formOf(c: Context): Promise<Record<string, string>> {
  return Object.fromEntries(new URLSearchParams(await c.req.text()));
}

function sendProblem(c: Context, problem: Problem): Response | Promise<Response> {
  const { status, title, body } = problemPage(problem);
  return sendPage(c, status, { title, forms: 'none', body });
}

/** 303: what was sent with POST is fetched with GET from there on (RFC 9110 section 15.4.4). */
function goTo(c: Context, location: string): Response {
  return c.redirect(location, 303);
}
