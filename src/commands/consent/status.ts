import { bankFor, recordStatus } from '../../flows/consent/by-links.ts';
import type { Context } from '../context.ts';
import { examples, verb } from '../declare.ts';
import { forFlow, refuseOtherCustomer } from '../flow/customer.ts';
import { printFlow, printsOne } from '../flow/describe.ts';
import { CONSENTS, warnOfLess } from './consents.ts';
import { grantPortsOf } from './grant.ts';

/** `psd2 consent status <flow>` */
export const status = verb(
  { prints: printsOne(CONSENTS), help: examples('psd2 consent status co-0mwq9zif7') },
  (command) => command.argument('<flow>'),
  (context, flow) => consentStatus(context, flow),
);

/** Asks the bank how a consent is, and records what has changed: the customer can revoke it there at any time. */
async function consentStatus(context: Context, reference: string): Promise<void> {
  const { flows } = await context.store(reference);
  const consent = await flows.find('consent', reference);
  refuseOtherCustomer(context, consent);
  if (consent.resourceId === null) return printFlow(context, CONSENTS, consent);
  const opened = await (await forFlow(context, consent)).bank();
  const grant = await grantPortsOf(context, opened, consent);
  await flows.resume('consent', consent.flow, async (open) => {
    await recordStatus(open, { bank: bankFor(opened.bank, consent) }, grant);
    printFlow(context, CONSENTS, open.current);
    warnOfLess(context, open.current);
  });
}
