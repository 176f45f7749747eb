import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type Handler, Hono, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { createMiddleware } from 'hono/factory';
import { streamSSE } from 'hono/streaming';
import * as z from 'zod/mini';
import type { Bank } from '../bank.ts';
import { orderRoutes, ordersOf } from '../control/control-site.ts';
import { answerError, bodyOf, invalidFields, MAX_BODY_BYTES, refuse } from '../control/json-site.ts';
import type { Customer } from '../customers/seed-customers.ts';
import { faultKinds } from '../faults/fault.ts';
import { decimal } from '../ledger/cents.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Doors } from '../server/pipeline.ts';
import { registeredFor } from '../strict/registered-pair.ts';
import { detailOf, shownCall } from './call-view.ts';
import { paymentsTogether } from './payments-together.ts';

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
 *
 * @param guards checks of each request, first of all
 */
export function consoleSite(bank: Bank, doors: Doors, guards: readonly MiddlewareHandler[]): Hono {
  const pageToken = randomBytes(24).toString('base64url');
  const site = new Hono();
  for (const guard of guards) site.use(guard);
  site.use(safePage);
  for (const [path, [name = '', type = '']] of FILES)
    site.get(path, async (c) => {
      const file = await readFile(new URL(`./public/${name}`, import.meta.url));
      return c.body(file, 200, { 'Content-Type': type });
    });

  site.get('/events', eventStream(bank, doors, pageToken));
  site.get('/calls/:id{\\d+}', async (c) => {
    const seen = bank.calls.find(Number(c.req.param('id')));
    if (!seen) return refuse(c, 404, 'The console no longer has this call');
    const { rules } = bank;
    return c.json(
      'reason' in seen
        ? shownCall(seen, rules.rowsAPage)
        : await detailOf(seen, registeredFor(bank, seen.request), rules.rowsAPage),
    );
  });
  site.get('/flows', (c) => c.json(flowsOf(bank, doors)));
  site.get('/accounts', (c) => c.json(accountRows(bank, c.req.query('user'))));
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
  const orders = ordersOf(doors).filter(({ programsOnly }) => !programsOnly);
  site.route('/', orderRoutes(bank, doors, orders));

  site.notFound((c) => refuse(c, 404, 'Page not found'));
  site.onError(answerError);
  return site;
}

const decision = z.strictObject({
  resourceId: z.string(),
  decision: z.enum(['AUTHORIZED', 'NOT_AUTHORIZED', 'EXPIRED']),
});

const loginOrder = z.strictObject({
  id: z.string(),
  /** The user that logs in. Null: the customer refuses. */
  user: z.nullable(z.string()),
});

/** The buttons that play the customer: they decide SCA and logins without the customer site. */
function playerRoutes(bank: Bank): Hono {
  const routes = new Hono();
  routes.post('/decide', async (c) => {
    const order = decision.safeParse(await bodyOf(c));
    if (!order.success) return refuse(c, 400, invalidFields('decision', order.error));
    const { resourceId } = order.data;
    if (!bank.resources.find(resourceId)?.sca) return refuse(c, 404, 'There is nothing to decide');
    return c.json({ returnTo: bank.resources.decide(resourceId, order.data.decision).href });
  });
  routes.post('/login', async (c) => {
    const order = loginOrder.safeParse(await bodyOf(c));
    if (!order.success) return refuse(c, 400, invalidFields('login', order.error));
    const { id, user } = order.data;
    const login = bank.logins.find(id);
    if (!login) return refuse(c, 404, 'This login is no longer pending');
    if (user === null) return c.json({ returnTo: bank.logins.refuse(login).href });
    const customer = bank.customers.byUser(user);
    if (!customer) return refuse(c, 404, `There is no customer ${user}`);
    const { customerId } = customer;
    const { application } = login;
    return c.json({ returnTo: bank.logins.allow(login, { application, customerId }).href });
  });
  return routes;
}

const HEARTBEAT_MS = 15_000;
const MAX_WATCHERS = 16;

/**
 * Sends the page events about the bank: `hello` with the calls so far, `call` for each new call, `change` for anything else.
 *
 * @param pageToken the token that the page's actions need
 */
function eventStream(bank: Bank, doors: Doors, pageToken: string): Handler {
  const { rowsAPage } = bank.rules;
  const owners = [...doors.values()].flatMap(({ owner }) => owner ?? []);
  let watchers = 0;
  return (c) => {
    if (watchers >= MAX_WATCHERS) return refuse(c, 400, 'The console is open in too many windows');
    return streamSSE(c, async (stream) => {
      watchers += 1;
      const send = (event: string, data: unknown) =>
        void stream.writeSSE({ event, data: JSON.stringify(data) }).catch(() => undefined);
      send('hello', {
        token: pageToken,
        addresses: owners.map(({ url }) => url ?? bank.baseUrl),
        calls: bank.calls.list().map((seen) => shownCall(seen, rowsAPage)),
        faults: [...faultKinds].map(([kind, { says, value }]) => ({ kind, says, value })),
        endpoints: owners.flatMap(({ calls }) => calls),
      });
      const end = bank.calls.watch((seen) =>
        seen ? send('call', shownCall(seen, rowsAPage)) : send('change', {}),
      );
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
  };
}

/** The maximum numbers of flows, payments and transactions that the console shows. */
const MAX_FLOWS = 100;
const MAX_PAYMENTS = 1_000;
const MAX_ENTRIES = 50;

/** What customers have to decide, and what they gave and paid: at each door, newest first. */
function flowsOf(bank: Bank, doors: Doors) {
  const owners = [...doors].flatMap(([name, { owner }]) => (owner ? [[name, owner] as const] : []));
  return {
    /** The users that have a button to log in. */
    users: bank.customers.seeded.map(({ user }) => user),
    together: paymentsTogether(owners.flatMap(([, owner]) => owner.paid(MAX_PAYMENTS))),
    doors: Object.fromEntries(owners.map(([name, owner]) => [name, owner.flows(MAX_FLOWS)])),
  };
}

/** The accounts of one customer. Default: of the seeded customers. */
function accountRows(bank: Bank, user: string | undefined) {
  const one = user === undefined ? undefined : bank.customers.byUser(user);
  const customers: readonly Customer[] = user === undefined ? bank.customers.seeded : one ? [one] : [];
  const now = bank.now();
  return customers.map(({ user: name, firstName, lastName, customerId, products }) => ({
    user: name,
    name: `${firstName} ${lastName}`,
    customerId,
    products: products.map((product) => {
      const { booked, available } = bank.ledger.balance(product, now);
      return {
        productId: product.productId,
        kind: product.kind,
        name: product.name,
        iban: product.iban,
        booked: decimal(booked),
        available: decimal(available),
      };
    }),
  }));
}

/** The newest entries of an account, pending ones first. Undefined if the bank has no such account. */
function ledgerOf(bank: Bank, productId: string) {
  const owned = bank.customers.byProduct(productId);
  if (!owned) return undefined;
  const whole = { from: undefined, to: undefined };
  const { booked, pending } = bank.ledger.entries(owned.product, whole, bank.now());
  const view =
    (state: string) =>
    ({ amount, bookingDay, shortDescription, extendedDescription, transferReference }: Entry) => ({
      state,
      day: bookingDay,
      amount: decimal(amount),
      text: `${shortDescription} ${extendedDescription}`,
      reference: transferReference,
    });
  return {
    productId,
    count: booked.count + pending.length,
    entries: [
      ...pending.slice(0, MAX_ENTRIES).map(view('pending')),
      ...booked.slice(0, MAX_ENTRIES).map(view('booked')),
    ],
  };
}
