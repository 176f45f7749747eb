import { html } from 'hono/html';
import type { Html } from './page.ts';

const START_AGAIN = 'Go back to the application that sent you here, and start again from there.';

const PROBLEMS = {
  badRequest: {
    status: 400,
    title: 'This address is incomplete',
    text: 'The link or the form lacks something that this page needs.',
    next: START_AGAIN,
  },
  staleForm: {
    status: 403,
    title: 'This form can’t be used any more',
    text: 'It does not belong to a page that was shown in this browser. Nothing was decided.',
    next: 'Open the link again that the application gave you. Cookies must be allowed.',
  },
  noSuchPage: {
    status: 404,
    title: 'There is no such page',
    text: 'The customer site of the sandbox bank has pages for login and for authorising.',
    next: html`An application opens them for you. The <a href="/">front page</a> says how to begin.`,
  },
  unknownLogin: {
    status: 404,
    title: 'This login is not open',
    text: 'It is unknown, was used before or has expired.',
    next: START_AGAIN,
  },
  unknownSca: {
    status: 404,
    title: 'There is nothing to authorise here',
    text: 'The bank knows no such request.',
    next: START_AGAIN,
  },
  decidedSca: {
    status: 410,
    title: 'This was decided before',
    text: 'A decision holds, and can’t be made twice.',
    next: 'Go back to the application that sent you here; it asks the bank how you decided.',
  },
  expiredSca: {
    status: 410,
    title: 'This request has expired',
    text: 'The time for authorising is over. Nothing was authorised.',
    next: START_AGAIN,
  },
  tooLarge: {
    status: 413,
    title: 'This form is too large',
    text: 'More was sent than the form has fields for. Nothing was decided.',
    next: START_AGAIN,
  },
  otherHost: {
    status: 421,
    title: 'Not under this name',
    text: 'The sandbox bank answers on this computer only.',
    next: START_AGAIN,
  },
} as const;

/** Why the customer can't go on. */
export type Problem = keyof typeof PROBLEMS;

/** What happened, and what the customer can do about it. It holds nothing of the request. */
export function problemPage(problem: Problem): {
  status: (typeof PROBLEMS)[Problem]['status'];
  title: string;
  body: Html;
} {
  const { status, title, text, next } = PROBLEMS[problem];
  const body = html`
<section class="card" aria-labelledby="title">
<h1 id="title">${title}</h1>
<p class="lead">${text}</p>
<p>${next}</p>
</section>`;
  return { status, title, body };
}
