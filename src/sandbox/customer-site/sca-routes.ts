import { Hono } from 'hono';
import { html } from 'hono/html';
import * as z from 'zod/mini';
import type { BankSide, ScaRequest, ScaState } from './bank-side.ts';
import { decisionButtons, decisionCard, type Html, row, sendPage } from './page.ts';
import { paymentDetails } from './payment-details.ts';
import { type FormTokens, formOf, goTo, type Problem, sendProblem, sessionOf } from './session.ts';
import { dateText, ibanText } from './texts.ts';

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

type Payment = Extract<ScaRequest, { kind: 'payment' }>;
type Consent = Extract<ScaRequest, { kind: 'consent' }>;
type Inquiry = Extract<ScaRequest, { kind: 'inquiry' }>;

/** Shows the whole request, with buttons to approve and refuse it (dynamic linking: RTS (EU) 2018/389, article 5). */
function scaPage(request: ScaRequest, token: string): { title: string; body: Html } {
  const { title, details, approve } = scaContent(request);
  const { resourceId, tppName, customerName } = request;
  const body = decisionCard({
    title,
    lead: html`<bdi><strong>${tppName}</strong></bdi> asks <strong>${customerName}</strong> to authorise this.`,
    content: details,
    form: { action: '/sca-authorize/', fields: { resourceId, token } },
    buttons: decisionButtons(approve),
    after: 'If you did not ask for this, refuse it.',
  });
  return { title, body };
}

interface Content {
  title: string;
  details: Html;
  approve: string;
}

function scaContent(request: ScaRequest): Content {
  switch (request.kind) {
    case 'payment':
      return payment(request);
    case 'consent':
      return consent(request);
    case 'inquiry':
      return inquiry(request);
  }
}

function payment(request: Payment): Content {
  const transfer = request.operation === 'moneyTransfer';
  const { instant, beneficiaryName: name, beneficiaryIban: iban, amount, description, schedule } = request;
  const once = instant ? 'Authorise an instant payment' : 'Authorise a payment';
  return {
    title: schedule === undefined ? once : 'Authorise a standing order',
    approve: 'Approve payment',
    details: paymentDetails({
      kind: transfer ? (instant ? 'Instant bank transfer' : 'Bank transfer') : request.operation,
      debit: request.debitAccount,
      orders: [{ name, iban, amount, description }],
      sum: amount,
      fee: request.commissions,
      total: request.total,
      date: request.executionDate,
      isInstant: instant,
      ...(schedule !== undefined && { schedule }),
    }),
  };
}

function inquiry({ product, from }: Inquiry): Content {
  return {
    title: 'Confirm that it is you',
    approve: 'Show older transactions',
    details: html`
<p>The bank shows transactions older than 90 days only after this confirmation.</p>
<dl>
${row('Account', html`<bdi>${product.description}</bdi> · ${product.productId}<br><span class="digits">${ibanText(product.iban)}</span>`)}
${row('Transactions from', dateText(from))}
</dl>
<p class="note after">It applies to this login, and to all accounts that you gave consent for.</p>`,
  };
}

function consent(request: Consent): Content {
  return {
    title: 'Give your consent',
    approve: 'Approve consent',
    details: html`
<ul class="grants">${request.categories.map(({ name, products }) => {
      const { title, text } = categoryText(name);
      return html`
<li><h2>${title}</h2>
<p>${text}</p>
<ul>${products.map(
        ({ productId, description, iban }) => html`
<li><bdi>${description}</bdi> · ${productId}<span class="digits">${ibanText(iban)}</span></li>`,
      )}
</ul></li>`;
    })}
</ul>
<p class="note after">Your consent is valid for 180 days, until ${dateText(request.until)}. After that the bank asks you again.</p>`,
  };
}

const CATEGORIES = new Map([
  [
    'ACCOUNT_INFO',
    {
      title: 'See your accounts',
      text: 'Details, balances and transactions. Nothing can be changed or paid with this.',
    },
  ],
  [
    'FUNDS_AVAILABILITY',
    {
      title: 'Ask whether an amount is available',
      text: 'The answer is only yes or no. It does not show your balance.',
    },
  ],
  [
    'PAYMENTS',
    {
      title: 'Prepare payments from your accounts',
      text: 'You see each payment here. It is made only if you approve it.',
    },
  ],
]);

/** A consent category (interface specification, "Consent request") in plain words. */
function categoryText(name: string): { title: string; text: string } {
  return CATEGORIES.get(name) ?? { title: name, text: 'The bank has no description of this category.' };
}
