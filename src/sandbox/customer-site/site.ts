import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { isLoopback } from '../../domain/loopback.ts';
import type { BankSide } from './bank-side.ts';
import { sendProblem } from './forms.ts';
import { frontPage } from './front-page.ts';
import { loginRoutes } from './login-routes.ts';
import { sendPage } from './page.ts';
import { scaRoutes } from './sca-routes.ts';
import { FormTokens } from './session.ts';

const MAX_FORM_BYTES = 8_192;

/**
 * The bank's customer site. The customer's browser comes here for login (`/login?request=<id>`) and SCA
 * (`/sca-authorize/?resourceId=<uuid>`). It has plain pages and forms, no scripts. After a decision the site
 * redirects the browser with 303 to the address that the bank gives. It serves loopback only and refuses other host names.
 */
export function customerSite(bank: BankSide): Hono {
  const tokens = new FormTokens();
  const site = new Hono();
  site.use(async (c, next) => {
    c.header('X-Content-Type-Options', 'nosniff');
    c.header('X-Frame-Options', 'DENY');
    c.header('Referrer-Policy', 'no-referrer');
    c.header('Cache-Control', 'no-store');
    // Prevents DNS rebinding: a foreign host name that resolves to this computer is refused.
    if (!isLoopback(new URL(c.req.url))) return sendProblem(c, 'otherHost');
    return next();
  });
  site.use(bodyLimit({ maxSize: MAX_FORM_BYTES, onError: (c) => sendProblem(c, 'tooLarge') }));

  site.get('/', (c) => sendPage(c, 200, { title: 'Welcome', forms: 'none', body: frontPage(bank.logins()) }));
  site.route('/', loginRoutes(bank, tokens));
  site.route('/', scaRoutes(bank, tokens));
  site.all('*', (c) => sendProblem(c, 'noSuchPage'));
  return site;
}
