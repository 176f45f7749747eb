import { html } from 'hono/html';
import type { LoginRequest, SandboxLogin } from './bank-side.ts';
import type { Html } from './page.ts';

/** The login form, and a button for each of the sandbox's customers. */
export function loginPage(page: {
  request: LoginRequest;
  token: string;
  logins: SandboxLogin[];
  /** The user name that was entered, if user and password did not match. */
  refused?: string;
}): Html {
  const { request, token, logins, refused } = page;
  const hidden = html`<input type="hidden" name="request" value="${request.id}"><input type="hidden" name="token" value="${token}">`;
  const invalid = refused === undefined ? '' : html` aria-invalid="true" aria-describedby="refused"`;
  return html`
<section class="card" aria-labelledby="title">
<h1 id="title">Log in to your bank</h1>
<p class="lead"><bdi><strong>${request.tppName}</strong></bdi> sent you here to log in. It does not see your password.</p>
${refused === undefined ? '' : html`<p class="alarm" id="refused" role="alert">User and password do not match.</p>`}
<form method="post" action="/login">
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
<li><form method="post" action="/login">
${hidden}
<input type="hidden" name="user" value="${login.user}"><input type="hidden" name="password" value="${login.password}">
<p><strong>${login.name}</strong><span>User <code>${login.user}</code></span><span>Password <code>${login.password}</code></span></p>
<button name="decision" value="login" aria-label="Continue as ${login.name}">Continue</button>
</form></li>`,
  )}
</ul>
</section>`;
}

/** The page after the login: the customer allows or refuses the TPP's access. */
export function accessPage(page: { request: LoginRequest; token: string; login: SandboxLogin }): Html {
  const { request, token, login } = page;
  return html`
<section class="card" aria-labelledby="title">
<h1 id="title"><bdi>${request.tppName}</bdi> asks for access to your accounts</h1>
<p class="lead">You are logged in as <strong>${login.name}</strong>, customer ${login.customerId}.</p>
<ul class="grants">
<li><h2>It asks to see</h2>
<p>Your customer number and the list of your accounts. For balances and transactions it needs your consent for each account.</p></li>
<li><h2>It asks to act</h2>
<p>It may prepare payments for you. A payment is made only after you approve it here.</p></li>
<li><h2>It never gets</h2>
<p>Your user name and your password.</p></li>
</ul>
<form method="post" action="/login/access">
<input type="hidden" name="request" value="${request.id}"><input type="hidden" name="token" value="${token}">
<div class="actions">
<button class="primary" name="decision" value="allow">Allow access</button>
<button name="decision" value="refuse">Refuse</button>
</div>
</form>
<p class="note after">Application: <bdi>${request.applicationName}</bdi></p>
</section>`;
}
