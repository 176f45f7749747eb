import type { Context } from 'hono';
import { html } from 'hono/html';
import * as z from 'zod/mini';
import type { SandboxLogin } from './bank-side.ts';
import { type Html, hidden, sendPage } from './page.ts';

/** The fields of the login page. */
export const loginForm = z.discriminatedUnion('decision', [
  z.object({
    decision: z.literal('login'),
    request: z.string(),
    token: z.string(),
    user: z.string(),
    password: z.string(),
  }),
  z.object({ decision: z.literal('refuse'), request: z.string(), token: z.string() }),
]);

interface LoginPage {
  /** The path that takes the form. */
  action: string;
  /** What the customer logs in for. */
  id: string;
  tppName: string;
  token: string;
  logins: SandboxLogin[];
  /** The user name that was entered, if user and password did not match. */
  refused: string | undefined;
}

/** Sends the login form, and a button for each of the sandbox's customers. */
export function sendLoginPage(c: Context, page: LoginPage): Response | Promise<Response> {
  const [title, status] =
    page.refused === undefined ? (['Log in', 200] as const) : (['Error: log in', 422] as const);
  return sendPage(c, status, { title, forms: 'decision', body: loginPage(page) });
}

function loginPage({ action, id, tppName, token, logins, refused }: LoginPage): Html {
  const request = hidden({ request: id, token });
  const invalid = refused === undefined ? '' : html` aria-invalid="true" aria-describedby="refused"`;
  return html`
<section class="card" aria-labelledby="title">
<h1 id="title">Log in to your bank</h1>
<p class="lead"><bdi><strong>${tppName}</strong></bdi> sent you here to log in. It does not see your password.</p>
${refused === undefined ? '' : html`<p class="alarm" id="refused" role="alert">User and password do not match.</p>`}
<form method="post" action="${action}">
${request}
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
${request}
${hidden({ user: login.user, password: login.password })}
<p><strong>${login.name}</strong><span>User <code>${login.user}</code></span><span>Password <code>${login.password}</code></span></p>
<button name="decision" value="login" aria-label="Continue as ${login.name}">Continue</button>
</form></li>`,
  )}
</ul>
</section>`;
}
