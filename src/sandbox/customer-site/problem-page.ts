import { html } from 'hono/html';
import type { Html } from './page.ts';

const START_AGAIN = 'Go back to the application that sent you here and start again.';

const PROBLEMS = {
  badRequest: {
    status: 400,
    title: 'This address is incomplete',
    text: 'The link or the form does not have everything that this page needs.',
    next: START_AGAIN,
  },
  staleForm: {
    status: 403,
    title: 'This form can’t be used any more',
    text: 'It does not belong to a page that this browser was shown. Nothing was decided.',
    next: 'Open the link from the application again. Allow cookies.',
  },
  noSuchPage: {
    status: 404,
    title: 'Page not found',
    text: 'The customer site of the sandbox bank has pages to log in and to authorise requests.',
    next: html`An application opens them for you. The <a href="/">front page</a> explains how to start.`,
  },
  unknownLogin: {
    status: 404,
    title: 'This login is not open',
    text: 'It is unknown, already used or expired.',
    next: START_AGAIN,
  },
  unknownSca: {
    status: 404,
    title: 'There is nothing to authorise here',
    text: 'The bank does not know this request.',
    next: START_AGAIN,
  },
  decidedSca: {
    status: 410,
    title: 'You already decided this',
    text: 'A decision is final.',
    next: 'Go back to the application that sent you here. It asks the bank how you decided.',
  },
  expiredSca: {
    status: 410,
    title: 'This request has expired',
    text: 'You did not decide in time. Nothing was authorised.',
    next: START_AGAIN,
  },
  tooLarge: {
    status: 413,
    title: 'This form is too large',
    text: 'It holds more than its fields allow. Nothing was decided.',
    next: START_AGAIN,
  },
  otherHost: {
    status: 421,
    title: 'Unknown host name',
    text: 'The sandbox bank answers only on this computer.',
    next: START_AGAIN,
  },
} as const;

/** Why the customer cannot continue. */
export type Problem = keyof typeof PROBLEMS;

/** Says what happened and what the customer can do. The page repeats nothing from the request. */
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
