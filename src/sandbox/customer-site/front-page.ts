import { html } from 'hono/html';
import type { SandboxLogin } from './bank-side.ts';
import type { Html } from './page.ts';

/** The front page of the bank's address: what there is to see, and how to start. */
export function frontPage(logins: SandboxLogin[]): Html {
  return html`
<section class="card" aria-labelledby="title">
<h1 id="title">Welcome to the Sandbox Bank</h1>
<p class="lead">An application sends you here to log in and to authorise requests. Try it in a terminal:</p>
<ol class="steps">
<li>Log in: <code>psd2 --profile sandbox auth login</code></li>
<li>Give your consent: <code>psd2 --profile sandbox consent request --category ACCOUNT_INFO --all-products</code></li>
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
