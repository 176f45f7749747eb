import { Psd2Error } from '../../errors.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Context } from '../context.ts';
import { allEndings, certificateEndings, describeSoon, SOON_DAYS } from './endings.ts';

/** With more customers, psd2 checks only certificates: logins and consents are too many files. */
export const MAX_CUSTOMERS = 100;

/**
 * Warns of what ends soon, in one line. If psd2 can't read something, it stays silent, since the command is about something else.
 *
 * @param customers of the command; `many` if there are more than {@link MAX_CUSTOMERS}
 */
export async function warnOfEndings(context: Context, customers: readonly string[] | 'many'): Promise<void> {
  try {
    const endings =
      customers === 'many' || customers.length > MAX_CUSTOMERS
        ? await certificateEndings(context)
        : (await allEndings(context, () => {})).filter(
            ({ customerId }) => customerId === null || customers.includes(customerId),
          );
    const { terminal, world } = context;
    const soon = describeSoon(endings, world.now(), SOON_DAYS, terminal.writeTime);
    if (soon) terminal.warn(cleanText(`Expiring soon: ${soon}. See: psd2 expiring`));
  } catch (error) {
    if (!(error instanceof Psd2Error) || error.code === 'interrupted') throw error;
  }
}
