import type { Context } from 'hono';
import { sendPage } from './page.ts';
import { type Problem, problemPage } from './problem-page.ts';

/** The fields of the form that was sent. */
export async function formOf(c: Context): Promise<Record<string, string>> {
  return Object.fromEntries(new URLSearchParams(await c.req.text()));
}

/** The answer that says why the customer can't go on. */
export function sendProblem(c: Context, problem: Problem): Response | Promise<Response> {
  const { status, title, body } = problemPage(problem);
  return sendPage(c, status, { title, forms: 'none', body });
}

/** 303: what was sent with POST is fetched with GET from there on (RFC 9110 section 15.4.4). */
export function goTo(c: Context, location: string): Response {
  return c.redirect(location, 303);
}
