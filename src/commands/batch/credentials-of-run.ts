import { Psd2Error } from '../../errors.ts';
import type { Share } from '../../flows/batch/run.ts';
import { embeddedOf } from '../../store/machine/settings.ts';
import type { Context } from '../context.ts';

/** What the customers of a run authorise, before it begins. */
interface Authorised {
  /** The shares that are not over: each is authorised once. */
  shares: readonly Share[];
  /** One person authorises all of them. */
  isOnePerson: boolean;
}

/**
 * Says how many PINs and TANs a run takes, at a bank that may want them from psd2 (docs/embedded.md).
 *
 * @throws Psd2Error `usage` if a file has the credential of one authorisation, or of one person, and there are more
 */
export async function tellCredentials(context: Context, { shares, isOnePerson }: Authorised): Promise<void> {
  const { takesCredentials } = await context.bankInterface();
  if (!takesCredentials || shares.length === 0 || embeddedOf(context.profile()) === 'never') return;
  const { psuPasswordFile: pin, otpFile: tan } = context.credentials ?? {};
  const lines = shares.flat();
  const customers = new Set(lines.map(({ customer }) => customer)).size;
  const count = shares.length;
  if (count > 1 && (pin === '-' || tan === '-'))
    throw new Psd2Error(
      'usage',
      `Standard input has one ${pin === '-' ? 'PIN' : 'TAN'}, and this run takes ${count}`,
      {
        hint: 'psd2 has sent nothing. Choose one payment with --only, or name a file.',
      },
    );
  if (customers > 1 && !isOnePerson && pin !== undefined)
    throw new Psd2Error(
      'usage',
      `A file has the PIN of one customer, and these payments are of ${customers}`,
      {
        hint: 'psd2 has sent nothing. Choose the payments of one customer with --only.',
      },
    );
  const { terminal } = context;
  const when = takesCredentials.isAlone ? '' : 'If the bank wants them from psd2: ';
  const payments = lines.length === 1 ? '1 payment' : `${lines.length} payments`;
  terminal.warn(
    `${when}${plural(count, 'PIN')} and ${plural(count, 'TAN')} for ${payments}. psd2 stops at the first PIN that the bank does not accept.`,
  );
  if (count > 1 && tan !== undefined)
    terminal.warn('psd2 reads the TAN file for each authorisation anew: it must have the new TAN by then.');
}

function plural(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
