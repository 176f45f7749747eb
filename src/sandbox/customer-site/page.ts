import type { Context } from 'hono';
import { html, raw } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';
import { STYLE, STYLE_SOURCE } from './style.ts';

/** HTML whose values were escaped by hono's `html` template. */
export type Html = HtmlEscapedString | Promise<HtmlEscapedString>;

/** What a page's forms may do: nothing, or redirect to the TPP. */
export type Forms = 'none' | 'decision';

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
