import type { Context } from 'hono';
import { html, raw } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';
import { STYLE, STYLE_SOURCE } from './style.ts';

/** HTML whose values were escaped by hono's `html` template. */
export type Html = HtmlEscapedString | Promise<HtmlEscapedString>;

/** What a page's forms may do: nothing, or end in a redirect to the third-party provider. */
export type Forms = 'none' | 'decision';

/**
 * Chromium holds the redirect after a form against `form-action` too, and the provider's address is only known
 * once the customer has decided: any web address is allowed, scripts and other schemes are not.
 */
const FORM_ACTION: Record<Forms, string> = { none: "'none'", decision: "'self' https: http:" };

/** A whole page of the customer site, with the headers that keep it from being framed, cached or told of. */
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
