import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { createMiddleware } from 'hono/factory';
import { streamSSE } from 'hono/streaming';
import * as z from 'zod/mini';
import { bodyOf, refuse, sameOriginOnly } from '../control/control-site.ts';
import { BadFault, faultKinds } from '../faults/fault.ts';
import { faultOrder } from '../faults/fault-book.ts';
import { endpointNames } from '../faults/target.ts';
import { type Bank, resetBank } from '../server/bank.ts';
import { accountsOf, flowsOf, ledgerOf } from './bank-view.ts';
import { detailOf, lineOf } from './call-view.ts';

const MAX_BODY_BYTES = 16_384;
const HEARTBEAT_MS = 15_000;
const MOST_WATCHERS = 16;

/** The page's files, beside this module in the source and beside the bundle in the package. */
const FILES = new Map([
  ['/', ['index.html', 'text/html; charset=utf-8']],
  ['/console.css', ['console.css', 'text/css; charset=utf-8']],
  ['/console.js', ['console.js', 'text/javascript; charset=utf-8']],
]);

const decision = z.strictObject({
  resourceId: z.string(),
  decision: z.enum(['AUTHORIZED', 'NOT_AUTHORIZED', 'EXPIRED']),
});

const loginOrder = z.strictObject({
  id: z.string(),
  /** Who logs in; null: the customer refuses. */
  user: z.nullable(z.string()),
});

/**
 * The console, under `/console`: what the bank saw and decided, live, and buttons to play with it. What it shows came from
 * outside, so the page puts it in as text alone; what it does needs the token that only the page has been given.
 */
export function consoleSite(bank: Bank): Hono {
  const pageToken = randomBytes(24).toString('base64url');
  let watchers = 0;
  const site = new Hono();
  site.use(sameOriginOnly);
  site.use(async (c, next) => {
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
  for (const [path, [name = '', type = '']] of FILES) {
    site.get(path, async (c) => {
      const file = await readFile(new URL(`./public/${name}`, import.meta.url));
      return c.body(file, 200, { 'Content-Type': type });
    });
  }

  site.get('/events', (c) => {
    if (watchers >= MOST_WATCHERS) return refuse(c, 400, 'The console is open in too many windows');
    return streamSSE(c, async (stream) => {
      watchers += 1;
      const send = (event: string, data: unknown) =>
        void stream.writeSSE({ event, data: JSON.stringify(data) }).catch(() => undefined);
      send('hello', {
        token: pageToken,
        baseUrl: bank.baseUrl,
        calls: bank.calls.list().map(lineOf),
        faults: [...faultKinds].map(([kind, { says, value }]) => ({ kind, says, value })),
        endpoints: endpointNames,
      });
      const end = bank.calls.watch((seen) => (seen ? send('call', lineOf(seen)) : send('change', {})));
      await new Promise<void>((resolve) => {
        const heartbeat = setInterval(() => send('alive', {}), HEARTBEAT_MS).unref();
        stream.onAbort(() => {
          clearInterval(heartbeat);
          end();
          watchers -= 1;
          resolve();
        });
      });
    });
  });
  site.get('/calls/:id{\\d+}', async (c) => {
    const seen = bank.calls.find(Number(c.req.param('id')));
    if (!seen) return refuse(c, 404, 'This call is no longer remembered');
    return c.json('reason' in seen ? lineOf(seen) : await detailOf(seen, bank.tppCertificates));
  });
  site.get('/flows', (c) => c.json(flowsOf(bank)));
  site.get('/accounts', (c) => c.json(accountsOf(bank, c.req.query('user'))));
  site.get('/accounts/:productId', (c) => {
    const ledger = ledgerOf(bank, c.req.param('productId'));
    return ledger ? c.json(ledger) : refuse(c, 404, 'The bank has no such account');
  });
  site.get('/faults', (c) => c.json(bank.faults.list()));

  const asked = createMiddleware(async (c, next) => {
    if (c.req.header('x-console-token') !== pageToken) return refuse(c, 403, 'Load the console again');
    await next();
    bank.calls.tellChange();
    return undefined;
  });
  site.on(['POST', 'DELETE'], '*', bodyLimit({ maxSize: MAX_BODY_BYTES }), asked);
  site.post('/decide', async (c) => {
    const order = decision.safeParse(await bodyOf(c));
    if (!order.success) return refuse(c, 400, z.prettifyError(order.error));
    const { resourceId } = order.data;
    if (!bank.resources.find(resourceId)?.sca) return refuse(c, 404, 'There is nothing to decide on');
    return c.json({ returnTo: bank.resources.decide(resourceId, order.data.decision).href });
  });
  site.post('/login', async (c) => {
    const order = loginOrder.safeParse(await bodyOf(c));
    if (!order.success) return refuse(c, 400, z.prettifyError(order.error));
    const { id, user } = order.data;
    if (!bank.logins.find(id)) return refuse(c, 404, 'This login no longer waits');
    if (user === null) return c.json({ returnTo: bank.logins.refuse(id).href });
    const customer = bank.customers.byUser(user);
    if (!customer) return refuse(c, 404, `There is no customer ${user}`);
    return c.json({ returnTo: bank.logins.allow(id, customer.customerId).href });
  });
  site.post('/faults', async (c) => {
    const order = faultOrder.safeParse(await bodyOf(c));
    if (!order.success) return refuse(c, 400, z.prettifyError(order.error));
    return c.json(bank.faults.add(order.data), 201);
  });
  site.delete('/faults', (c) => c.json({ cleared: bank.faults.clear() }));
  site.delete('/faults/:id{\\d+}', (c) => c.json({ cleared: bank.faults.clear(Number(c.req.param('id'))) }));
  site.post('/reset', (c) => {
    resetBank(bank);
    return c.json({ reset: true });
  });

  site.notFound((c: Context) => refuse(c, 404, 'The console has no such page'));
  site.onError((error, c) =>
    error instanceof BadFault
      ? refuse(c, 400, `${error.message}. ${error.hint}`)
      : refuse(c, 500, `The sandbox failed: ${error.message}`),
  );
  return site;
}
