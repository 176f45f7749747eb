import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import type { Bank } from '../bank.ts';
import { consoleSite } from '../console/console-site.ts';
import { controlSite } from '../control/control-site.ts';
import type { AccessSide } from '../customer-site/access-side.ts';
import type { BankSide } from '../customer-site/bank-side.ts';
import { customerSite } from '../customer-site/site.ts';
import { IDENTITY_PATH, type RunningSandbox } from '../folder/running.ts';
import { type DoorListener, doorListener, isForDoor } from '../nextgenpsd2/door.ts';
import { runDuePayments } from '../nextgenpsd2/payments/run-payments.ts';
import { bankApi } from './api.ts';

type Listener = ReturnType<typeof getRequestListener>;

/** Serves the API: both doors of the bank. */
export function apiListener(bank: Bank): (...call: Parameters<DoorListener>) => Promise<void> {
  const first = getRequestListener(bankApi(bank).fetch);
  const second = doorListener(bank);
  return async (incoming, outgoing) => {
    runDuePayments(bank);
    if (isForDoor(incoming.url ?? '')) await second(incoming, outgoing);
    else await first(incoming, outgoing);
  };
}

/** Serves the other port: the sandbox's identity, its control, the console and the customer site. */
export function siteListener(
  bank: Bank,
  customers: BankSide,
  access: AccessSide,
  { pid, startedAt, controlToken }: Omit<RunningSandbox, 'baseUrl' | 'customerSiteUrl'>,
): Listener {
  const site = new Hono()
    .use(async (_, next) => {
      runDuePayments(bank);
      await next();
    })
    .get(IDENTITY_PATH, (c) => c.json({ pid, startedAt }))
    .route('/control', controlSite(bank, access, controlToken))
    .route('/console', consoleSite(bank, access))
    .get('/console/', (c) => c.redirect('/console', 302))
    .route('/', customerSite(customers, access));
  return getRequestListener(site.fetch);
}
