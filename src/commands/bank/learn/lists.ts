import type { Heard } from '../../../bank/ports/questions.ts';
import type { Asker } from './asker.ts';

const STATUSES = ['booked', 'pending', 'both'] as const;

/**
 * Which lists of transactions the bank gives (`bookingStatus`), as far as it says so before a customer has authorised anything: it
 * refuses one list by name and not another one. That it refuses none shows nothing, since it may look at the consent first.
 *
 * @param consentId of a consent that nobody has authorised
 */
export async function learnLists(asker: Asker, consentId: string): Promise<void> {
  const { draft } = asker;
  const statuses: (typeof STATUSES)[number][] = [];
  const says: string[] = [];
  let last: Heard | undefined;
  for (const bookingStatus of STATUSES) {
    last = await asker.ask((bank, more) =>
      bank.transactions({ consentId, bookingStatus, dateFrom: draft.today }, more),
    );
    if (!namesStatus(last)) statuses.push(bookingStatus);
    says.push(`${bookingStatus}: ${last.brief}`);
  }
  if (!last) return;
  const evidence = { asked: last.asked, says: says.join('; ') };
  const isShown = statuses.length > 0 && statuses.length < STATUSES.length && last.verdict !== 'says nothing';
  draft.conclude(evidence, [[isShown, { accounts: { bookingStatuses: statuses } }]], FIELD, CONSENT_FIRST);
}

const FIELD = 'accounts.bookingStatuses';
const CONSENT_FIRST =
  'the bank refuses no list before a customer has consented. At a reading, psd2 asks for each list if the bank refuses both';

/** Whether the bank minds the `bookingStatus`. */
function namesStatus({ verdict, about }: Heard): boolean {
  return verdict === 'minds the content' && /booking[\s_-]?status/.test(about);
}
