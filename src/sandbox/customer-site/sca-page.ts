import { html } from 'hono/html';
import type { ScaRequest } from './bank-side.ts';
import type { Html } from './page.ts';
import { categoryText, dateText, ibanText, moneyText } from './wording.ts';

type Payment = Extract<ScaRequest, { kind: 'payment' }>;
type Consent = Extract<ScaRequest, { kind: 'consent' }>;
type Inquiry = Extract<ScaRequest, { kind: 'inquiry' }>;

/** Shows the whole request, with buttons to approve and refuse it (dynamic linking: RTS (EU) 2018/389, article 5). */
export function scaPage(request: ScaRequest, token: string): { title: string; body: Html } {
  const { title, details, approve } = contentOf(request);
  const body = html`
<section class="card" aria-labelledby="title">
<h1 id="title">${title}</h1>
<p class="lead"><bdi><strong>${request.tppName}</strong></bdi> asks <strong>${request.customerName}</strong> to authorise this.</p>
${details}
<form method="post" action="/sca-authorize/">
<input type="hidden" name="resourceId" value="${request.resourceId}"><input type="hidden" name="token" value="${token}">
<div class="actions">
<button class="primary" name="decision" value="approve">${approve}</button>
<button name="decision" value="refuse">Refuse</button>
</div>
</form>
<p class="note after">If you did not ask for this, refuse it.</p>
</section>`;
  return { title, body };
}

interface Content {
  title: string;
  details: Html;
  approve: string;
}

function contentOf(request: ScaRequest): Content {
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
  const kind = transfer ? (request.instant ? 'Instant bank transfer' : 'Bank transfer') : request.operation;
  const once = request.instant ? 'Authorise an instant payment' : 'Authorise a payment';
  return {
    title: request.schedule === undefined ? once : 'Authorise a standing order',
    approve: 'Approve payment',
    details: html`
<p class="sum"><strong>${moneyText(request.amount)}</strong> <span>to <bdi>${request.beneficiaryName}</bdi></span></p>
<dl>
${row('Payee', html`<bdi>${request.beneficiaryName}</bdi>`)}
${row('IBAN', html`<span class="digits">${ibanText(request.beneficiaryIban)}</span>`)}
${row('Amount', moneyText(request.amount))}
${row('Fee', moneyText(request.commissions))}
<div class="total"><dt>Total</dt><dd>${moneyText(request.total)}</dd></div>
${row('Type', html`<bdi>${kind}</bdi>`)}
${row('Date', request.instant ? `${dateText(request.executionDate)}, immediately` : dateText(request.executionDate))}
${request.schedule === undefined ? '' : row('Schedule', request.schedule)}
${row('Description', request.description === '' ? 'None' : html`<bdi>${request.description}</bdi>`)}
${row('From your account', html`<span class="digits">${ibanText(request.debitAccount.iban)}</span><br>${request.debitAccount.productId}`)}
</dl>
${request.instant ? html`<p class="note after">An instant payment arrives within seconds and can’t be reversed.</p>` : ''}`,
  };
}

function row(term: string, value: Html | string): Html {
  return html`<div><dt>${term}</dt><dd>${value}</dd></div>`;
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
