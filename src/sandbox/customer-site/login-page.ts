import { html } from 'hono/html';
import type { SandboxLogin } from './bank-side.ts';
import type { Html } from './page.ts';

/** The login form, and a button for each of the sandbox's customers. */
export function loginPage(page: {
  /** The path that takes the form. */
  action: string;
  /** What the customer logs in for. */
  id: string;
  tppName: string;
  token: string;
  logins: SandboxLogin[];
  /** The user name that was entered, if user and password did not match. */
  refused?: string;
}): Html {
  const { action, id, tppName, token, logins, refused } = page;
  const hidden = html`<input type="hidden" name="request" value="${id}"><input type="hidden" name="token" value="${token}">`;
  const invalid = refused === undefined ? '' : html` aria-invalid="true" aria-describedby="refused"`;
  return html`
<section class="card" aria-labelledby="title">
<h1 id="title">Log in to your bank</h1>
<p class="lead"><bdi><strong>${tppName}</strong></bdi> sent you here to log in. It does not see your password.</p>
${refused === undefined ? '' : html`<p class="alarm" id="refused" role="alert">User and password do not match.</p>`}
<form method="post" action="${action}">
${hidden}
<label for="user">User</label>
<input id="user" name="user" type="text" value="${refused ?? ''}" autocomplete="username" autocapitalize="none" spellcheck="false" required${refused === undefined ? html` autofocus` : ''}${invalid}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${refused === undefined ? '' : html` autofocus`}${invalid}>
<div class="actions">
<button class="primary" name="decision" value="login">Log in</button>
<button name="decision" value="refuse" formnovalidate>Cancel</button>
</div>
</form>
</section>
<section class="card" aria-labelledby="people">
<h2 id="people">Customers of this sandbox</h2>
<p class="note">Enter one of these, or continue directly as that customer.</p>
<ul class="people">${logins.map(
    (login) => html`
<li><form method="post" action="${action}">
${hidden}
<input type="hidden" name="user" value="${login.user}"><input type="hidden" name="password" value="${login.password}">
<p><strong>${login.name}</strong><span>User <code>${login.user}</code></span><span>Password <code>${login.password}</code></span></p>
<button name="decision" value="login" aria-label="Continue as ${login.name}">Continue</button>
</form></li>`,
  )}
</ul>
</section>`;
}
