import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { createMiddleware } from 'hono/factory';
import type { Bank } from '../bank.ts';
import { answerError, MAX_BODY_BYTES, refuse, sameOriginOnly } from '../control/json-site.ts';
import { orderRoutes } from '../control/order-routes.ts';
import { accountsOf, flowsOf, ledgerOf } from './bank-view.ts';
import { detailOf, lineOf } from './call-view.ts';
import { eventStream } from './event-stream.ts';
import { playerRoutes } from './player-routes.ts';

/** The page's files. Their folder is next to this module in the source, and next to the bundle in the package. */
const FILES = new Map([
  ['/', ['index.html', 'text/html; charset=utf-8']],
  ['/console.css', ['console.css', 'text/css; charset=utf-8']],
  ['/console.js', ['console.js', 'text/javascript; charset=utf-8']],
]);

/** Blocks other origins, frames, and all scripts except the page's own. */
const safePage = createMiddleware(async (c, next) => {
  c.header(
    'Content-Security-Policy',
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
  c.header('X-Content-Type-Options', 'nosniff');
  c.header('X-Frame-Options', 'DENY');
  c.header('Cross-Origin-Resource-Policy', 'same-origin');
  c.header('Referrer-Policy', 'no-referrer');
  c.header('Cache-Control', 'no-store');
  return next();
});

/**
 * The console, under `/console`: shows live what the bank received and decided, and has buttons to act on the bank. The data
 * comes from outside, so the page inserts it only as text. Each action needs a token that only the page receives.
 */
export function consoleSite(bank: Bank): Hono {
  const pageToken = randomBytes(24).toString('base64url');
  const site = new Hono();
  site.use(sameOriginOnly);
  site.use(safePage);
  for (const [path, [name = '', type = '']] of FILES) {
    site.get(path, async (c) => {
      const file = await readFile(new URL(`./public/${name}`, import.meta.url));
      return c.body(file, 200, { 'Content-Type': type });
    });
  }

  site.get('/events', eventStream(bank, pageToken));
  site.get('/calls/:id{\\d+}', async (c) => {
    const seen = bank.calls.find(Number(c.req.param('id')));
    if (!seen) return refuse(c, 404, 'The console no longer has this call');
    const { tppCertificates, rules } = bank;
    return c.json(
      'reason' in seen
        ? lineOf(seen, rules.rowsAPage)
        : await detailOf(seen, tppCertificates, rules.rowsAPage),
    );
  });
  site.get('/flows', (c) => c.json(flowsOf(bank)));
  site.get('/accounts', (c) => c.json(accountsOf(bank, c.req.query('user'))));
  site.get('/accounts/:productId', (c) => {
    const ledger = ledgerOf(bank, c.req.param('productId'));
    return ledger ? c.json(ledger) : refuse(c, 404, 'The bank has no such account');
  });

  const orderedByPage = createMiddleware(async (c, next) => {
    if (c.req.header('x-console-token') !== pageToken) return refuse(c, 403, 'Reload the console');
    await next();
    bank.calls.tellChange();
    return undefined;
  });
  site.on(['POST', 'DELETE'], '*', bodyLimit({ maxSize: MAX_BODY_BYTES }), orderedByPage);
  site.route('/', playerRoutes(bank));
  site.route('/', orderRoutes(bank));

  site.notFound((c) => refuse(c, 404, 'Page not found'));
  site.onError(answerError);
  return site;
}
