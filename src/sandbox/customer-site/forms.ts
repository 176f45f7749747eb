import type { Context } from 'hono';
import { sendPage } from './page.ts';
import { type Problem, problemPage } from './problem-page.ts';

/** The fields of the submitted form. */
export async function formOf(c: Context): Promise<Record<string, string>> {
  return Object.fromEntries(new URLSearchParams(await c.req.text()));
}

/** Answers with a page that says why the customer cannot continue. */
export function sendProblem(c: Context, problem: Problem): Response | Promise<Response> {
  const { status, title, body } = problemPage(problem);
  return sendPage(c, status, { title, forms: 'none', body });
}

/** Redirects with 303, so that the browser continues with GET after a POST (RFC 9110 section 15.4.4). */
export function goTo(c: Context, location: string): Response {
  return c.redirect(location, 303);
}
