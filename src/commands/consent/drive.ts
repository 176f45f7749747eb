import { Psd2Error } from '../../errors.ts';
import { runConsent } from '../../flows/consent.ts';
import type { Open } from '../../store/ports/flows.ts';
import type { Context } from '../context.ts';
import { customerPortsOf } from '../flow/customer-ports.ts';
import { evidenceIn } from '../flow/evidence.ts';
import { endIfUntouched, tellFlow, withNext } from '../flow/rules.ts';
import type { CustomerBank } from '../open/bank.ts';
import { printConsent } from './output.ts';

/**
 * Continues a consent from its journal to its end, and prints the outcome.
 *
 * @param allowPartial succeed even if the bank grants only some of the categories
 * @throws what {@link runConsent} throws, with the commands to run next; Psd2Error `bank_refused` if the bank grants only some
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
    await runConsent(open, {
      bank,
      world: context.world,
      customer: customerPortsOf(context, profile),
      ...evidenceIn(context),
    });
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
        hint: 'The other categories are confirmed. With --allow-partial, this counts as success.',
        transactionId: open.current.transactionId,
      },
    );
  }
}
