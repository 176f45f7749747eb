import { Psd2Error } from '../../errors.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Context } from '../context.ts';
import { allEndings, certificateEndings, DAY_MS, type Ending, endingBefore } from './endings.ts';

/** With fewer days left, psd2 warns. */
export const SOON_DAYS = 14;
/** With more customers, psd2 checks only certificates: logins and consents are too many files. */
export const MAX_CUSTOMERS = 100;

/** Says what ends soon; undefined if nothing does. @param writeTime formats an ISO 8601 time */
export function describeSoon(
  endings: readonly Ending[],
  now: Date,
  days: number,
  writeTime: (time: string) => string,
): string | undefined {
  const [first, ...more] = endingBefore(endings, new Date(now.getTime() + days * DAY_MS));
  if (!first) return undefined;
  const others = more.length === 0 ? '' : `, and ${more.length} more`;
  return `${endingName(first)} ${Date.parse(first.endsAt) <= now.getTime() ? 'has ended' : 'ends'} at ${writeTime(first.endsAt)}${others}`;
}

/** `the QWAC`, `the login of customer 1048262`, ... */
function endingName({ kind, name, customerId }: Ending): string {
  if (kind === 'certificate') return `the ${name} certificate`;
  return kind === 'login'
    ? `the login of customer ${customerId}`
    : `the consent ${name} of customer ${customerId}`;
}

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
