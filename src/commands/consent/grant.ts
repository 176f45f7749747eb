import type { ConsentDetails } from '../../bank/ports/customer.ts';
import { bankDay } from '../../domain/calendar.ts';
import { type Consent, type CoveredFunds, isForFunds } from '../../domain/consent.ts';
import { Psd2Error } from '../../errors.ts';
import type { GrantPorts } from '../../flows/consent/by-links.ts';
import type { Customers, KeptConsent } from '../../store/ports/customers.ts';
import type { Context, CustomerBank } from '../context.ts';
import { dropConsent } from '../open/kept-customer.ts';
import { returnPortsOf } from '../open/returns.ts';
import { coverageOf } from './coverage.ts';

/**
 * What a consent needs besides, at a bank where the customer's SCA alone grants it.
 *
 * @param paste the operator pastes the address that the customer's browser ended at
 * @param consent the consent, as its journal has it
 * @param person who authorises it now, if it is not the customer
 * @param given its terms with the whole numbers of cards, which no journal has
 */
export async function grantPortsOf(
  context: Context,
  opened: CustomerBank,
  consent: Pick<Consent, 'terms' | 'transactionId'>,
  {
    paste = false,
    person,
    given: wholeTerms,
  }: { paste?: boolean } & Pick<GrantPorts, 'person' | 'given'> = {},
): Promise<GrantPorts> {
  const { customerId, tokens } = opened;
  const { transactionId } = consent;
  const { customers } = await context.store();
  return {
    ...(await returnPortsOf(context, opened, paste, isForFunds(consent) ? transactionId : undefined, person)),
    given: wholeTerms,
    async keepConsent(consent, details) {
      // Who has just consented is the current customer.
      if (consent.state !== 'confirmed') await tokens.remember(customerId);
      const access = consent.terms?.access;
      if (access?.type === 'funds') return keepFundsConsent(customers, consent, access, context.world.now());
      const former = await formerOf(customers, consent, details);
      for (const { flow } of former) await endFormer(opened, flow);
      await keepConsent(customers, consent, details, former, context.world.now());
    },
    dropConsent: (ended) => dropConsent({ customers, tokens }, ended),
  };
}

function isRecurring({ terms }: Consent, details: ConsentDetails): boolean {
  return details.recurring ?? terms?.recurring ?? true;
}

/**
 * The consents that a granted one ends: a new recurring one ends the others of its kind, unless the bank keeps them beside it. One
 * that is known to be granted ends none: a newer one may have ended it in the meantime.
 */
async function formerOf(
  customers: Customers,
  consent: Consent,
  details: ConsentDetails,
): Promise<readonly KeptConsent[]> {
  if (consent.state === 'confirmed' || consent.besideOthers || !isRecurring(consent, details)) return [];
  const record = await customers.read(consent.customerId);
  return (record?.consents ?? []).filter((each) => each.recurring && each.consentId !== consent.resourceId);
}

/** Records in the journal of a former consent that a newer one has ended it. Whatever fails here, the newer one is granted. */
async function endFormer({ flows, bank }: CustomerBank, flow: string): Promise<void> {
  const bankStatus = bank.consents.replaced ?? null;
  try {
    await flows.resume('consent', flow, async (open) => {
      if (open.current.state === 'confirmed')
        await open.record({ type: 'ended', state: 'expired', bankStatus });
    });
  } catch (error) {
    if (!(error instanceof Psd2Error) || error.code === 'interrupted') throw error;
  }
}

/** Keeps a granted consent for readings, without those that it has ended and those that are over. */
async function keepConsent(
  customers: Customers,
  consent: Consent,
  details: ConsentDetails,
  former: readonly KeptConsent[],
  now: Date,
): Promise<void> {
  const { flow, customerId, resourceId, terms } = consent;
  if (resourceId === null) return;
  const recurring = isRecurring(consent, details);
  const ended = new Set(former.map(({ consentId }) => consentId));
  const granted: KeptConsent = {
    flow,
    consentId: resourceId,
    ...coverageOf(consent, details),
    validUntil: details.validUntil ?? terms?.validUntil ?? null,
    recurring,
    frequencyPerDay: details.frequencyPerDay ?? terms?.frequencyPerDay ?? 1,
    grantedAt: consent.grantedAt ?? now.toISOString(),
  };
  await customers.change(customerId, (before) => {
    const earlier = before.consents.find((each) => each.consentId === resourceId);
    const today = bankDay(now);
    const others = before.consents.filter(
      ({ consentId, validUntil }) =>
        consentId !== resourceId && !ended.has(consentId) && (validUntil ?? today) >= today,
    );
    const again = {
      ...granted,
      grantedAt: earlier?.grantedAt ?? granted.grantedAt,
      ...(earlier?.listed && { listed: earlier.listed }),
    };
    return { ...before, consents: [again, ...others] };
  });
}

/** Keeps a granted consent for confirmations of funds. It ends no other one. */
async function keepFundsConsent(
  customers: Customers,
  { flow, transactionId, customerId, resourceId, grantedAt }: Consent,
  { account, cardExpiryDate }: CoveredFunds,
  now: Date,
): Promise<void> {
  if (resourceId === null) return;
  await customers.change(customerId, ({ funds = [], ...before }) => {
    const earlier = funds.find(({ consentId }) => consentId === resourceId);
    const granted = {
      flow,
      transactionId,
      consentId: resourceId,
      account,
      validUntil: cardExpiryDate ?? null,
      grantedAt: earlier?.grantedAt ?? grantedAt ?? now.toISOString(),
    };
    return { ...before, funds: [granted, ...funds.filter((each) => each !== earlier)] };
  });
}
