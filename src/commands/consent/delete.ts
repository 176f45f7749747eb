import { isOpen, isOver } from '../../domain/flow-states.ts';
import { Psd2Error } from '../../errors.ts';
import { bankFor } from '../../flows/consent/by-links.ts';
import { deleteAtBank } from '../../flows/consent/deletion.ts';
import type { Context } from '../context.ts';
import { examples, verb } from '../declare.ts';
import { forFlow, refuseOtherCustomer } from '../flow/customer.ts';
import { printFlow, printsOne } from '../flow/describe.ts';
import { flowPortsOf } from '../flow/ports.ts';
import { dropConsent } from '../open/kept-customer.ts';
import { CONSENTS } from './consents.ts';

/** `psd2 consent delete <flow>` */
export const deleteConsent = verb(
  {
    prints: printsOne(CONSENTS),
    help: `
The command ends the consent at the bank, for good. psd2 can then read nothing with it. If the bank wants the customer for that, psd2 sends
them there, and waits.
${examples('psd2 consent delete co-0mwq9zif7')}`,
  },
  (command) => command.argument('<flow>'),
  (context, flow) => endConsent(context, flow, 'may be asked'),
);

/**
 * Ends a consent at the bank, and then here.
 *
 * @param customer whether the customer is sent to the bank if they must authorise the end
 * @throws Psd2Error if nothing shows that it has ended at the bank, as {@link deleteAtBank}: then nothing ends here
 */
export async function endConsent(
  context: Context,
  reference: string,
  customer: 'may be asked' | 'is absent',
): Promise<void> {
  const { flows, customers, tokens } = await context.store(reference);
  const consent = await flows.find('consent', reference);
  refuseOtherCustomer(context, consent);
  if (consent.resourceId === null)
    throw new Psd2Error('usage', `The consent ${consent.flow} is not at the bank`, {
      ...(isOpen(consent) && { hint: 'End it here with:', next: [['consent', 'cancel', consent.flow]] }),
      flow: consent.flow,
    });
  const its = await forFlow(context, consent);
  const opened = await its.bank();
  const { bank } = opened;
  await flows.resume('consent', consent.flow, async (open) => {
    const ports = customer === 'may be asked' ? flowPortsOf(its, opened) : undefined;
    const bankStatus = await deleteAtBank(open, bankFor(bank, open.current), ports);
    // First no reading uses it, then the journal says so. A command that was killed in between is repeated.
    await dropConsent({ customers, tokens }, open.current);
    const { state } = open.current;
    if (state === 'confirmed' || !isOver({ state }))
      await open.record({ type: 'ended', state: 'cancelled', bankStatus });
    printFlow(context, CONSENTS, open.current);
  });
}
