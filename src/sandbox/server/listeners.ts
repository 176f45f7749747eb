import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import type { Bank } from '../bank.ts';
import { consoleSite } from '../console/console-site.ts';
import { controlSite } from '../control/control-site.ts';
import type { BankSide } from '../customer-site/bank-side.ts';
import { customerSite } from '../customer-site/site.ts';
import { IDENTITY_PATH, type RunningSandbox } from '../folder/running.ts';
import { bankApi } from './api.ts';

type Listener = ReturnType<typeof getRequestListener>;

/** Serves the API. */
export function apiListener(bank: Bank): Listener {
  return getRequestListener(bankApi(bank).fetch);
}

/** Serves the other port: the sandbox's identity, its control, the console and the customer site. */
export function siteListener(
  bank: Bank,
  customers: BankSide,
  { pid, startedAt, controlToken }: Omit<RunningSandbox, 'baseUrl' | 'customerSiteUrl'>,
): Listener {
  const site = new Hono()
    .get(IDENTITY_PATH, (c) => c.json({ pid, startedAt }))
    .route('/control', controlSite(bank, controlToken))
    .route('/console', consoleSite(bank))
    .get('/console/', (c) => c.redirect('/console', 302))
    .route('/', customerSite(customers));
  return getRequestListener(site.fetch);
}
