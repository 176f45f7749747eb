import { getRequestListener } from '@hono/node-server';
import { Hono, type MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { isLoopback } from '../../domain/local-address.ts';
import type { Bank } from '../bank.ts';
import { consoleSite } from '../console/console-site.ts';
import { controlSite } from '../control/control-site.ts';
import { ownPagesOnly } from '../control/json-site.ts';
import type { AccessSide } from '../customer-site/access-side.ts';
import type { BankSide } from '../customer-site/bank-side.ts';
import { customerSite } from '../customer-site/site.ts';
import { DOORS, runDue } from '../doors.ts';
import { IDENTITY_PATH, type RunningSandbox } from '../folder/running.ts';
import { isSameSecret } from '../same-secret.ts';
import { type Listener as CallListener, type Doors, listenerOf } from './pipeline.ts';

type Listener = ReturnType<typeof getRequestListener>;

/** Serves the API: all doors of the bank. */
export async function apiListener(bank: Bank): Promise<CallListener> {
  const doors = [...(await openDoors(bank)).values()].map((door) => ({
    door,
    answer: listenerOf(bank, door),
  }));
  return async (incoming, outgoing) => {
    runDue(bank);
    await doors.findLast(({ door }) => door.isFor(incoming.url ?? ''))?.answer(incoming, outgoing);
  };
}

async function openDoors(bank: Bank): Promise<Doors> {
  return new Map(
    await Promise.all([...DOORS].map(async ([name, { open }]) => [name, await open(bank)] as const)),
  );
}

/** What the site needs: the bank, its two sides for customers, and the token of its owner. */
export interface SitePlace {
  bank: Bank;
  customers: BankSide;
  access: AccessSide;
  identity: Pick<RunningSandbox, 'pid' | 'startedAt' | 'controlToken'>;
}

/**
 * Serves the other port: the sandbox's identity, its control, the console and the customer site.
 *
 * @param names the host names under which others reach it. Then the console wants the control token too. Undefined: it
 *   listens on the loopback interface only. What a request says in `Host` does not decide that.
 */
export async function siteListener(place: SitePlace, names?: readonly string[]): Promise<Listener> {
  const { bank, customers, access, identity } = place;
  const { pid, startedAt, controlToken } = identity;
  const doors = await openDoors(bank);
  const isOwn = names ? ({ hostname }: URL) => names.includes(hostname) : isLoopback;
  const sameOrigin = ownPagesOnly(isOwn);
  const guards = names ? [consoleToken(controlToken), sameOrigin] : [sameOrigin];
  const site = new Hono()
    .use(async (_c, next) => {
      runDue(bank);
      await next();
      await bank.keep();
    })
    .get(IDENTITY_PATH, (c) => c.json({ pid, startedAt }))
    .route('/control', controlSite(bank, doors, controlToken, sameOrigin))
    .route('/console', consoleSite(bank, doors, guards))
    .get('/console/', (c) => c.redirect('/console', 302))
    .route('/', customerSite(customers, access, isOwn));
  return getRequestListener(site.fetch);
}

/** The browser refuses it for another host, and does not send it with requests from other sites. */
const COOKIE = '__Host-sandbox-console';

/** Wants the control token once, as `/console?token=...`, and then the cookie with it. */
function consoleToken(controlToken: string): MiddlewareHandler {
  return async (c, next) => {
    if (isSameSecret(c.req.query('token'), controlToken)) {
      setCookie(c, COOKIE, controlToken, { secure: true, httpOnly: true, sameSite: 'Strict', path: '/' });
      return c.redirect('/console', 302);
    }
    if (isSameSecret(getCookie(c, COOKIE), controlToken)) return next();
    return c.text('The console needs the control token: open /console?token=<token>', 401);
  };
}
