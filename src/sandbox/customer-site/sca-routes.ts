import { Hono } from 'hono';
import * as z from 'zod/mini';
import type { BankSide, ScaState } from './bank-side.ts';
import { formOf, goTo, sendProblem } from './forms.ts';
import { sendPage } from './page.ts';
import type { Problem } from './problem-page.ts';
import { scaPage } from './sca-page.ts';
import { type FormTokens, sessionOf } from './session.ts';

const scaForm = z.object({
  decision: z.enum(['approve', 'refuse']),
  resourceId: z.string(),
  token: z.string(),
});

/** `/sca-authorize/?resourceId=<uuid>`: shows the customer the whole request and takes their decision. */
export function scaRoutes(bank: BankSide, tokens: FormTokens): Hono {
  const routes = new Hono();

  routes.get('/sca-authorize/', (c) => {
    const id = c.req.query('resourceId');
    if (id === undefined) return sendProblem(c, 'badRequest');
    const sca = bank.scaRequest(id);
    if (sca?.state !== 'PENDING') return sendProblem(c, closedSca(sca?.state));
    const token = tokens.issue(sessionOf(c), `sca ${id}`);
    return sendPage(c, 200, { ...scaPage(sca.request, token), forms: 'decision' });
  });

  routes.post('/sca-authorize/', async (c) => {
    const form = scaForm.safeParse(await formOf(c));
    if (!form.success) return sendProblem(c, 'badRequest');
    const { resourceId: id, token, decision } = form.data;
    const state = bank.scaRequest(id)?.state;
    if (state !== 'PENDING') return sendProblem(c, closedSca(state));
    if (!tokens.accepts(token, sessionOf(c), `sca ${id}`)) return sendProblem(c, 'staleForm');
    return goTo(c, decision === 'approve' ? bank.approveSca(id).href : bank.refuseSca(id).href);
  });

  return routes;
}

function closedSca(state: Exclude<ScaState, 'PENDING'> | undefined): Problem {
  if (state === undefined) return 'unknownSca';
  return state === 'EXPIRED' ? 'expiredSca' : 'decidedSca';
}
