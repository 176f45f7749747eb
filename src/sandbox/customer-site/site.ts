import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { html } from 'hono/html';
import { isLoopback } from '../../domain/local-address.ts';
import { accessRoutes } from './access-routes.ts';
import type { AccessSide } from './access-side.ts';
import type { BankSide, SandboxLogin } from './bank-side.ts';
import { loginRoutes } from './login-routes.ts';
import { type Html, sendPage } from './page.ts';
import { scaRoutes } from './sca-routes.ts';
import { FormTokens, sendProblem } from './session.ts';

const MAX_FORM_BYTES = 8_192;

/**
 * The bank's customer site. The customer's browser comes here for login (`/login?request=<id>`) and SCA
 * (`/sca-authorize/?resourceId=<uuid>`), and for the requests of the second door (`/authorise?request=<id>`). It has plain pages and forms, no scripts. After a decision the site
 * redirects the browser with 303 to the address that the bank gives. It refuses other host names than its own.
 *
 * @param isOwn whether an address is the site's. Default: those of this computer
 */
export function customerSite(
  bank: BankSide,
  access?: AccessSide,
  isOwn: (url: URL) => boolean = isLoopback,
): Hono {
  const tokens = new FormTokens();
  const site = new Hono();
  site.use(async (c, next) => {
    c.header('X-Content-Type-Options', 'nosniff');
    c.header('X-Frame-Options', 'DENY');
    c.header('Referrer-Policy', 'no-referrer');
    c.header('Cache-Control', 'no-store');
    // Prevents DNS rebinding: a foreign host name that resolves to this computer is refused.
    if (!isOwn(new URL(c.req.url))) return sendProblem(c, 'otherHost');
    return next();
  });
  site.use(bodyLimit({ maxSize: MAX_FORM_BYTES, onError: (c) => sendProblem(c, 'tooLarge') }));

  site.get('/', (c) => sendPage(c, 200, { title: 'Welcome', forms: 'none', body: frontPage(bank.logins()) }));
  site.route('/', loginRoutes(bank, tokens));
  site.route('/', scaRoutes(bank, tokens));
  if (access) site.route('/', accessRoutes(bank, access, tokens));
  site.all('*', (c) => sendProblem(c, 'noSuchPage'));
  return site;
}

/** The front page of the bank's address: what there is to see, and how to start. */
function frontPage(logins: SandboxLogin[]): Html {
  return html`
<section class="card" aria-labelledby="title">
<h1 id="title">Welcome to the Sandbox Bank</h1>
<p class="lead">An application sends you here to log in and to authorise requests. Try it in a terminal:</p>
<ol class="steps">
<li>Log in: <code>psd2 --profile sandbox auth login</code></li>
<li>Give your consent: <code>psd2 --profile sandbox consent request --category ACCOUNT_INFO --all-accounts</code></li>
<li>See your accounts: <code>psd2 --profile sandbox accounts list</code></li>
</ol>
</section>
<section class="card" aria-labelledby="console">
<h2 id="console"><a href="/console">Console</a></h2>
<p class="note">See what the bank saw:
<a href="/console#calls">calls</a>, <a href="/console#flows">pending logins and payments</a>,
<a href="/console#accounts">accounts</a>, <a href="/console#faults">faults</a>.</p>
</section>
<section class="card" aria-labelledby="people">
<h2 id="people">Customers of this sandbox</h2>
<p class="note">Their passwords work here only.</p>
<dl>${logins.map(
    ({ name, user, password, customerId }) => html`
<div><dt>${name}</dt><dd>User <code>${user}</code>, password <code>${password}</code>, customer ${customerId}</dd></div>`,
  )}
</dl>
</section>`;
}
