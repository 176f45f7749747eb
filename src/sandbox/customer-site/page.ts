import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import { html, raw } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';

/** The site's only style sheet, part of every page. Text has a contrast of at least 4.5:1 in light and dark mode. */
export const STYLE = `
:root { color-scheme: light dark;
  --ink: #16202a; --soft: #4d5a67; --paper: #f3f5f7; --card: #fff; --edge: #d7dde3; --field: #76838f;
  --accent: #0b5c6b; --accent-strong: #084652; --on-accent: #fff; --tint: #e8f2f3; --alarm: #a3231f; --alarm-tint: #fcefee;
  --strip: #16202a; --on-strip: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8edf2; --soft: #a8b4c0; --paper: #0f151b; --card: #18212a; --edge: #2c3843; --field: #7e8c99;
    --accent: #76cbd6; --accent-strong: #a0dfe7; --on-accent: #05262c; --tint: #16303a; --alarm: #ff9f97; --alarm-tint: #3a1f20;
    --strip: #e8edf2; --on-strip: #0f151b; }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; min-height: 100vh; display: flex; flex-direction: column; background: var(--paper); color: var(--ink);
  font: 1.0625rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", sans-serif; }
.sandbox { margin: 0; padding: .5rem 1rem; background: var(--strip); color: var(--on-strip); text-align: center;
  font-size: .875rem; font-weight: 600; letter-spacing: .02em; }
header .bank, main, footer { width: 100%; max-width: 38rem; margin: 0 auto; padding: 0 1rem; }
header .bank { display: flex; align-items: center; gap: .625rem; padding-top: 1.75rem; padding-bottom: 1.25rem;
  font-weight: 650; letter-spacing: -.01em; }
.bank svg { width: 1.75rem; height: 1.75rem; flex: none; fill: none; stroke: var(--accent); stroke-width: 2;
  stroke-linejoin: round; stroke-linecap: round; }
main { flex: 1; }
.card { padding: clamp(1.375rem, 5.5vw, 2.75rem); background: var(--card); border: 1px solid var(--edge); border-radius: 1rem; }
.card + .card { margin-top: 1.25rem; }
footer { padding-top: 2rem; padding-bottom: 2rem; color: var(--soft); font-size: .875rem; }
footer p { margin: 0; }
h1 { margin: 0 0 .5rem; font-size: clamp(1.5rem, 5vw, 1.75rem); line-height: 1.2; letter-spacing: -.02em; text-wrap: balance; }
h2 { margin: 0 0 .25rem; font-size: 1.125rem; line-height: 1.35; letter-spacing: -.005em; }
p { margin: 0 0 1rem; }
a { color: var(--accent); }
a:hover { color: var(--accent-strong); }
form + h2 { margin-top: 2.5rem; }
.steps { margin: 0; padding-left: 1.25rem; }
.steps li + li { margin-top: .75rem; }
.steps code { display: block; overflow-wrap: anywhere; }
.lead, .note { color: var(--soft); }
.lead { margin-bottom: 1.75rem; }
.lead strong { color: var(--ink); }
.note { font-size: .9375rem; }
bdi { overflow-wrap: anywhere; }
code, .digits { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; font-size: .9375em; }
.digits { display: inline-block; letter-spacing: -.02em; }
label { display: block; margin-bottom: .375rem; font-weight: 600; }
input { display: block; width: 100%; min-height: 3rem; margin-bottom: 1.25rem; padding: .625rem .875rem; font: inherit;
  color: inherit; background: var(--card); border: 1px solid var(--field); border-radius: .5rem; }
input[aria-invalid] { border-color: var(--alarm); }
.actions { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1.75rem; }
button { flex: 1 1 11rem; min-height: 3rem; padding: .625rem 1.25rem; font: inherit; font-weight: 600; cursor: pointer;
  color: var(--accent); background: var(--card); border: 1px solid var(--accent); border-radius: .5rem; }
button:hover { color: var(--accent-strong); border-color: var(--accent-strong); background: var(--tint); }
button.primary { color: var(--on-accent); background: var(--accent); }
button.primary:hover { color: var(--on-accent); background: var(--accent-strong); }
:is(button, input, a):focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.alarm { margin-bottom: 1.5rem; padding: .875rem 1rem; color: var(--alarm); background: var(--alarm-tint);
  border: 1px solid currentColor; border-radius: .5rem; font-weight: 600; }
.people { display: grid; gap: .75rem; margin: 1.25rem 0 0; padding: 0; list-style: none; }
.people form { display: flex; flex-wrap: wrap; align-items: center; gap: .75rem 1.25rem; padding: 1rem 1.125rem;
  border: 1px solid var(--edge); border-radius: .75rem; }
.people p { flex: 1 1 11rem; margin: 0; }
.people strong, .people span { display: block; }
.people span { color: var(--soft); font-size: .9375rem; }
.people button { flex: 0 1 auto; }
.sum { margin: 0 0 1.75rem; padding: 1.25rem 1.375rem; background: var(--tint); border-radius: .75rem; }
.sum strong { display: block; font-size: clamp(1.75rem, 7vw, 2.25rem); line-height: 1.2; letter-spacing: -.02em;
  font-variant-numeric: tabular-nums; }
.sum span { color: var(--soft); }
.sum bdi { color: var(--ink); font-weight: 600; }
dl { margin: 0; }
dl div { display: grid; grid-template-columns: minmax(7.5rem, 30%) 1fr; gap: .125rem 1.25rem; padding: .75rem 0;
  border-top: 1px solid var(--edge); }
dl div:last-child { border-bottom: 1px solid var(--edge); }
dt { color: var(--soft); }
dd { margin: 0; min-width: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
dl .total { font-weight: 650; }
dl .total dt { color: var(--ink); }
.grants { margin: 0; padding: 0; list-style: none; }
.grants > li { padding: 1.125rem 0; border-top: 1px solid var(--edge); }
.grants > li:last-child { border-bottom: 1px solid var(--edge); }
.grants p { margin: 0 0 .75rem; color: var(--soft); }
.grants p:last-child { margin: 0; }
.grants ul { display: grid; gap: .5rem; margin: 0; padding: 0; list-style: none; }
.grants ul li { padding: .625rem .875rem; background: var(--tint); border-radius: .5rem; }
.grants ul span { display: block; color: var(--soft); font-size: .9375rem; }
.after { margin: 1.25rem 0 0; }
@media (max-width: 30rem) {
  dl div { grid-template-columns: 1fr; }
  .digits { letter-spacing: -.04em; }
  .people button { flex: 1 1 100%; }
}
@media (forced-colors: active) { .sandbox { border-bottom: 2px solid; } }
`;

/** The value of `style-src` in the content security policy. */
const STYLE_SOURCE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;

/** HTML whose values were escaped by hono's `html` template. */
export type Html = HtmlEscapedString | Promise<HtmlEscapedString>;

/** What a page's forms may do: nothing, or redirect to the TPP. */
type Forms = 'none' | 'decision';

/**
 * Chromium also applies `form-action` to the redirect after a form. The TPP's address is known only after the
 * customer has decided, so any web address is allowed. Scripts and other schemes are not.
 */
const FORM_ACTION: Record<Forms, string> = { none: "'none'", decision: "'self' https: http:" };

/** Sends a page of the customer site with its content security policy. */
export function sendPage(
  c: Context,
  status: 200 | 400 | 403 | 404 | 410 | 413 | 421 | 422,
  page: { title: string; forms: Forms; body: Html },
): Response | Promise<Response> {
  c.header(
    'Content-Security-Policy',
    `default-src 'none'; style-src ${STYLE_SOURCE}; img-src data:; form-action ${FORM_ACTION[page.forms]}; base-uri 'none'; frame-ancestors 'none'`,
  );
  return c.html(layout(page.title, page.body), status);
}

/** The hidden fields of a form. */
export function hidden(fields: Readonly<Record<string, string>>): Html {
  return html`${Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )}`;
}

/** The buttons to decide a request. */
export function decisionButtons(label: string, value: 'allow' | 'approve' = 'approve'): Html {
  return html`
<div class="actions">
<button class="primary" name="decision" value="${value}">${label}</button>
<button name="decision" value="refuse">Refuse</button>
</div>`;
}

/** Who is logged in. */
export function loggedInAs({ name, customerId }: { name: string; customerId: string }): Html {
  return html`You are logged in as <strong>${name}</strong>, customer ${customerId}.`;
}

/** A request of a TPP: what it is about, and the form to decide it. */
export function decisionCard(card: {
  title: Html | string;
  lead: Html;
  content: Html | string;
  form: { action: string; fields: Readonly<Record<string, string>> };
  buttons: Html;
  after: Html | string;
}): Html {
  const { title, lead, content, form, buttons, after } = card;
  return html`
<section class="card" aria-labelledby="title">
<h1 id="title">${title}</h1>
<p class="lead">${lead}</p>
<form method="post" action="${form.action}">
${hidden(form.fields)}
${content}
${buttons}
</form>
${after === '' ? '' : html`<p class="note after">${after}</p>`}
</section>`;
}

/** A term and its value in the list of a page. */
export function row(term: string, value: Html | string): Html {
  return html`<div><dt>${term}</dt><dd>${value}</dd></div>`;
}

function layout(title: string, body: Html): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Sandbox Bank</title>
<link rel="icon" href="data:,">
<style>${raw(STYLE)}</style>
</head>
<body>
<header>
<p class="sandbox">Sandbox — no real money</p>
<p class="bank"><svg viewBox="0 0 28 28" aria-hidden="true"><path d="M3 11 14 4l11 7H3Z"/><path d="M6.5 14.5v6M11.500 14.5v6M16.500 14.5v6M21.500 14.5v6M3 24h22"/></svg> Sandbox Bank</p>
</header>
<main>${body}</main>
<footer><p>A bank for trying out psd2. Its customers, accounts and payments are made up.</p></footer>
</body>
</html>
`;
}
