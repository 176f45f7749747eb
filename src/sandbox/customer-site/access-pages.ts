import { html } from 'hono/html';
import type { AccessRequest, AccessShown, GivenConsent } from './access-side.ts';
import type { SandboxLogin } from './bank-side.ts';
import { decisionButtons, decisionCard, type Html, hidden, loggedInAs } from './page.ts';
import { paymentDetails } from './payment-details.ts';
import { dateText, ibanText } from './texts.ts';

/** The names of the check boxes with which a customer chooses accounts. */
export const ACCOUNT_FIELD = 'account-';
/** The name of the field with which a customer chooses the account to pay from. */
export const DEBTOR_FIELD = 'debtor';

interface Asked {
  request: AccessRequest;
  login: SandboxLogin;
  token: string;
}

/** The page on which a customer gives a consent, or allows a login. */
export function accessPage({ request, login, shown, token }: Asked & { shown: AccessShown }): Html {
  const { consent } = request;
  return decisionCard({
    title: questionOf(request),
    lead: loggedInAs(login),
    content: requestHtml(request, shown),
    form: { action: '/authorise', fields: { request: request.id, token } },
    buttons: decisionButtons(approvalOf(request)),
    after: `${consent ? `${periodText(consent)} ` : ''}If you did not ask for this, refuse it.`,
  });
}

/** The title of a request. */
function questionOf({ tppName, consent, payments }: AccessRequest): Html {
  const name = html`<bdi>${tppName}</bdi>`;
  if (consent?.forFunds) return html`${name} wants to ask whether your account has an amount`;
  if (!payments) return html`${name} asks for access to your accounts`;
  if (payments.cancels) return html`${name} asks to cancel this payment`;
  const { length } = payments.all.flatMap(({ orders }) => orders);
  const one = payments.all[0]?.schedule === undefined ? 'a payment' : 'a standing order';
  return html`${name} asks you to authorise ${length === 1 ? one : `${length} payments`}`;
}

function requestHtml({ consent, payments }: AccessRequest, shown: AccessShown): Html {
  const others = othersText(shown);
  if (payments)
    return html`${others}${payments.all.map(paymentDetails)}${shown.choose ? accountChoice(shown) : ''}`;
  if (consent) return html`${others}${accountList(shown)}`;
  return html`<p>It may ask for your consents and your payments. You decide on each of them here.</p>`;
}

/** Of a company account: who has authorised it, and whether this customer's yes completes it. */
function othersText({ authorisedBy, alsoNeeded }: AccessShown): Html | string {
  if (authorisedBy.length === 0 && alsoNeeded.length === 0) return '';
  const names = (all: readonly string[]) => html`<strong><bdi>${all.join(' and ')}</bdi></strong>`;
  const before = authorisedBy.length === 0 ? '' : html`${names(authorisedBy)} has authorised this. `;
  return html`<p>${before}${alsoNeeded.length === 0 ? 'Your approval completes it.' : html`After you, ${names(alsoNeeded)} must authorise it too.`}</p>`;
}

function approvalOf({ consent, payments }: AccessRequest): string {
  if (payments) return payments.cancels ? 'Cancel payment' : 'Approve payment';
  return consent ? 'Approve consent' : 'Allow access';
}

/** The accounts that the customer can pay from. The first one is chosen. */
function accountChoice({ accounts }: AccessShown): Html {
  return html`
<fieldset><legend>Pay from your account</legend>${accounts.map(
    ({ productId, description, number }, index) => html`
<label><input type="radio" name="${DEBTOR_FIELD}" value="${productId}"${index === 0 ? ' checked' : ''}> <bdi>${description}</bdi> <span class="digits">${ibanText(number)}</span></label>`,
  )}
</fieldset>`;
}

/** The accounts, with a box to tick for each if the customer chooses. All are ticked. */
function accountList({ accounts, choose }: AccessShown): Html {
  return html`
<ul class="grants">${accounts.map(({ productId, description, number, rights }) => {
    const text = html`<bdi>${description}</bdi> · ${productId}<span class="digits">${ibanText(number)}</span>`;
    const box = html`<label><input type="checkbox" name="${ACCOUNT_FIELD}${productId}" value="yes" checked> ${text}</label>`;
    return html`<li><h2>${choose ? box : text}</h2><p>${rightsText(rights)}</p></li>`;
  })}
</ul>`;
}

const RIGHTS = new Map([
  ['accounts', 'the account'],
  ['balances', 'its balance'],
  ['transactions', 'its transactions'],
  ['funds', 'whether it has an amount'],
]);

function rightsText(rights: readonly string[]): string {
  return `It may see ${rights.map((right) => RIGHTS.get(right) ?? right).join(', ')}.`;
}

function periodText({
  forFunds,
  recurring,
  until,
  frequencyPerDay,
}: NonNullable<AccessRequest['consent']>): string {
  if (forFunds) return 'Your consent is valid until you withdraw it.';
  if (!recurring) return 'Your consent is valid today, for one time.';
  return `Your consent is valid until ${dateText(until)}. Without you it may look at each account ${frequencyPerDay} times a day.`;
}

/** The consent is about accounts of somebody else. */
export function foreignAccountsPage({ request, login, token }: Asked): Html {
  return problem(
    request,
    token,
    'These are not your accounts',
    `${request.tppName} asks for accounts that ${login.name} does not have.`,
  );
}

/** The TPP named another customer. */
export function otherCustomerPage({ request, login, token }: Asked): Html {
  return problem(
    request,
    token,
    'This request is not for you',
    `${request.tppName} asks the customer ${request.user ?? ''}. You are logged in as ${login.name}.`,
  );
}

function problem({ id }: AccessRequest, token: string, title: string, text: string): Html {
  return html`
<section class="card" aria-labelledby="title">
<h1 id="title">${title}</h1>
<p class="alarm" role="alert">${text}</p>
<form method="post" action="/authorise">
${hidden({ request: id, token })}
<div class="actions"><button name="decision" value="refuse">Refuse</button></div>
</form>
</section>`;
}

/** The customer decided, and no browser has to go back anywhere. */
export function donePage(approved: boolean): Html {
  return html`
<section class="card" aria-labelledby="title">
<h1 id="title">${approved ? 'You approved the request' : 'You refused the request'}</h1>
<p class="lead">The application asks the bank how you decided. You can close this window.</p>
</section>`;
}

/** The requests that wait for a customer, and the consents that they gave. */
export function waitingPage(page: {
  login: SandboxLogin;
  waiting: { request: AccessRequest; shown: AccessShown | undefined; token: string }[];
  consents: { consent: GivenConsent; token: string }[];
}): Html {
  const { login, waiting, consents } = page;
  return html`
<section class="card" aria-labelledby="title">
<h1 id="title">${waiting.length === 0 ? 'Nothing waits for you' : 'Requests that wait for you'}</h1>
<p class="lead">${loggedInAs(login)}</p>
${waiting.map(
  ({ request, shown, token }) => html`
<h2>${questionOf(request)}</h2>
${shown ? requestHtml(request, { ...shown, choose: false }) : html`<p>These are not your accounts.</p>`}
<form method="post" action="/requests">
${hidden({ id: request.id, token })}
${shown ? decisionButtons(approvalOf(request)) : html`<button name="decision" value="refuse">Refuse</button>`}
</form>`,
)}
${waiting.length === 0 ? '' : html`<p class="note after">If you did not ask for one of these, refuse it.</p>`}
</section>
${
  consents.length === 0
    ? ''
    : html`
<section class="card" aria-labelledby="given">
<h2 id="given">Consents that you gave</h2>
${consents.map(
  ({ consent, token }) => html`
<form method="post" action="/requests">
<p><bdi>${consent.tppName}</bdi> ${consent.until === undefined ? 'may ask whether your account has an amount' : `sees ${consent.accounts} accounts until ${dateText(consent.until)}`}</p>
${hidden({ id: consent.id, token })}
<div class="actions"><button name="decision" value="withdraw">Withdraw consent</button></div>
</form>`,
)}
</section>`
}`;
}
