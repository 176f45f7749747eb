import { Psd2Error } from '../../errors.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Context } from '../context.ts';
import { allEndings, certificateEndings, DAY_MS, type Ending, endingBefore } from './endings.ts';

/** With fewer days left it is worth a warning. */
export const SOON_DAYS = 14;
/** With more customers only certificates are looked at: their logins and consents are many files. */
export const MOST_CUSTOMERS = 100;

/** What ends soon in words; undefined where nothing does. @param writeTime of ISO 8601, for where the words go */
export function describeSoon(
  endings: readonly Ending[],
  now: Date,
  days: number,
  writeTime: (time: string) => string,
): string | undefined {
  const [first, ...more] = endingBefore(endings, new Date(now.getTime() + days * DAY_MS));
  if (!first) return undefined;
  const others = more.length === 0 ? '' : `, and ${more.length} more`;
  return `${nameOf(first)} ${Date.parse(first.endsAt) <= now.getTime() ? 'has ended' : 'ends'} at ${writeTime(first.endsAt)}${others}`;
}

/** `the QWAC`, `the login of customer 1048262`, ... */
function nameOf({ kind, name, customerId }: Ending): string {
  if (kind === 'certificate') return `the ${name} certificate`;
  return kind === 'login'
    ? `the login of customer ${customerId}`
    : `the consent ${name} of customer ${customerId}`;
}

/**
 * Warns of what ends soon, in one line. If psd2 can't read something, it stays silent, since the command is about something else.
 *
 * @param customers that the command is about; `many` where these are more than are looked at
 */
export async function warnOfEndings(context: Context, customers: readonly string[] | 'many'): Promise<void> {
  try {
    const endings =
      customers === 'many' || customers.length > MOST_CUSTOMERS
        ? await certificateEndings(context)
        : (await allEndings(context)).filter(
            ({ customerId }) => customerId === null || customers.includes(customerId),
          );
    const { terminal, world } = context;
    const soon = describeSoon(endings, world.now(), SOON_DAYS, terminal.writeTime);
    if (soon) terminal.warn(cleanText(`Soon over: ${soon}. See: psd2 expiring`));
  } catch (error) {
    if (!(error instanceof Psd2Error) || error.code === 'interrupted') throw error;
  }
}
