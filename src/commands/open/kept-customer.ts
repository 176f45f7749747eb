import type { ConsentSource, PsuIdentification, Read } from '../../bank/ports/call.ts';
import { bankDay } from '../../domain/calendar.ts';
import type { Consent } from '../../domain/consent.ts';
import { Psd2Error } from '../../errors.ts';
import type { Customers, KeptConsent } from '../../store/ports/customers.ts';
import type { ProfileContext } from '../context.ts';

/** The consents of a customer, with how often each allows a reading while the customer is absent. */
export interface KeptConsents extends ConsentSource {
  for(what: Read): Promise<{ consentId: string; frequencyPerDay: number }>;
}

/**
 * What the calls of a customer take from the store, at a bank without ids of customers: who the customer is there, and the
 * consent of each reading.
 *
 * @throws Psd2Error `config` if the record is damaged
 */
export async function readKept(
  { world }: ProfileContext,
  customers: Customers,
  customer: string,
): Promise<{ psu: PsuIdentification; consents: KeptConsents }> {
  const { psu, consents = [] } = (await customers.read(customer)) ?? {};
  return {
    psu: {
      id: psu?.id ?? undefined,
      idType: psu?.idType ?? undefined,
      corporateId: psu?.corporateId ?? undefined,
    },
    consents: {
      async for(what) {
        const valid = validOf(consents, world.now());
        const consent = bestOf(valid, what);
        if (consent) return consent;
        throw lackingConsent(customer, consents.length > 0, valid.length > 0 ? what : undefined);
      },
    },
  };
}

/** The consents that have not ended by themselves. */
export function validOf(consents: readonly KeptConsent[], now: Date): KeptConsent[] {
  const today = bankDay(now);
  return consents.filter(({ validUntil }) => validUntil === null || validUntil >= today);
}

/** @param unread what no valid consent covers; undefined if none is valid */
function lackingConsent(customer: string, had: boolean, unread: Read | undefined): Psd2Error {
  const advice = {
    hint: 'Ask the customer for one:',
    next: [['consent', 'request', '--customer', customer]],
  };
  if (typeof unread === 'object') {
    const text = `The consent of the customer ${customer} does not cover ${unread.of ?? 'what is to be read'}`;
    // psd2 says what the bank would: the other accounts can have another consent.
    return new Psd2Error('not_logged_in', text, { ...advice, refusal: 'other' });
  }
  const lacks = had ? 'has no valid consent any more' : 'has given no consent';
  return new Psd2Error(
    'not_logged_in',
    `The customer ${customer} ${lacks}, so psd2 cannot read accounts`,
    advice,
  );
}

/**
 * The consent for a reading, of those that are valid, the newest first: one that names the account, else one for all accounts,
 * else any, because only the bank knows. The list of accounts has the most with a consent for all of them.
 */
export function bestOf(valid: readonly KeptConsent[], what: Read): KeptConsent | undefined {
  if (what === 'list') return valid.find(({ accounts }) => accounts === null) ?? valid[0];
  const { account, of } = what;
  const reading = valid.filter(({ reads }) => (of ? reads.includes(of) : reads.length > 1));
  return (
    reading.find(({ accounts }) => accounts?.includes(account)) ??
    reading.find(({ accounts }) => accounts === null) ??
    reading[0] ??
    (of ? undefined : valid[0])
  );
}

/** Forgets a consent that has ended, so that no reading uses it. */
export async function dropConsent(customers: Customers, { customerId, resourceId }: Consent): Promise<void> {
  const kept = await customers.read(customerId);
  if (!kept?.consents.some(({ consentId }) => consentId === resourceId)) return;
  await customers.change(customerId, (before) => ({
    ...before,
    consents: before.consents.filter(({ consentId }) => consentId !== resourceId),
  }));
}
