import { Psd2Error } from '../../errors.ts';
import { runConsent } from '../../flows/consent.ts';
import type { Open } from '../../store/ports/flows.ts';
import type { Context } from '../context.ts';
import { customerPortsOf } from '../flow/customer-ports.ts';
import { endIfUntouched, tellFlow, withNext } from '../flow/rules.ts';
import type { CustomerBank } from '../open/bank.ts';
import { printConsent } from './output.ts';

/**
 * Takes a consent from where its journal says it stands to its end, and prints what became of it.
 *
 * @param allowPartial a consent that was granted for some of the categories only is a success too
 * @throws what {@link runConsent} throws, with the way on; Psd2Error `bank_refused` for one that was granted in part
 */
export async function driveConsent(
  context: Context,
  opened: CustomerBank,
  open: Open<'consent'>,
  allowPartial: boolean,
): Promise<void> {
  const { bank, profile } = opened;
  tellFlow(context.terminal, open.current);
  try {
    await runConsent(open, { bank, world: context.world, customer: customerPortsOf(context, profile) });
  } catch (error) {
    await endIfUntouched(open, error);
    printConsent(context, open.current);
    throw withNext(error, open.current);
  }
  printConsent(context, open.current);
  const refused = open.current.categories.filter(({ outcome }) => outcome === false);
  if (refused.length > 0 && !allowPartial) {
    throw new Psd2Error(
      'bank_refused',
      `The bank did not grant ${refused.map(({ name }) => name).join(', ')}`,
      {
        hint: 'The other categories are confirmed. With --allow-partial that counts as done.',
        transactionId: open.current.transactionId,
      },
    );
  }
}
