import { Hono, type MiddlewareHandler } from 'hono';
import type { BankEnv } from '../server/bank-env.ts';
import { find, plannedRefusal } from './spoil.ts';

/** The environment of the second delivery: with what the checks of the request found. */
interface SecondEnv extends BankEnv {
  Bindings: BankEnv['Bindings'] & { checked: BankEnv['Variables'] };
}

/**
 * Plays a gateway that gives a call to the bank twice, and answers with what the bank says to the second. It runs after the
 * checks: the gateway makes them once, so the bank does not recognise the second by its request id.
 *
 * @param endpoints the groups of routes, for the second delivery
 */
export function deliveredTwice(endpoints: Hono<BankEnv>[]): MiddlewareHandler<BankEnv> {
  const again = new Hono<SecondEnv>();
  again.use(async (c, next) => {
    const { request, faults, keyId, caller } = c.env.checked;
    c.set('request', request);
    c.set('faults', faults);
    c.set('keyId', keyId);
    c.set('caller', caller);
    await next();
  });
  for (const routes of endpoints) again.route('/', routes);
  // The API answers it, as any other refusal.
  again.onError((error) => {
    throw error;
  });

  return async (c, next) => {
    await next();
    const status = find(c.var.faults, 'delivered-twice-status');
    if (status) {
      // A refusal of the first stays visible, because the bank did nothing.
      if (c.error) return;
      c.res = undefined;
      c.res = plannedRefusal(
        status.value,
        'A fault delivered the call twice',
        'The bank carried out the first delivery.',
      );
    } else if (find(c.var.faults, 'delivered-twice')) {
      c.error = undefined;
      c.res = undefined;
      c.res = await again.fetch(c.req.raw, { ...c.env, checked: c.var });
    }
  };
}
