import type { ConsentDetails } from '../../bank/ports/customer.ts';
import { bankDay } from '../../domain/calendar.ts';
import type { Consent } from '../../domain/consent.ts';
import type { GrantPorts } from '../../flows/linked-consent.ts';
import type { Customers, KeptConsent } from '../../store/ports/customers.ts';
import type { Context, CustomerBank } from '../context.ts';
import { dropConsent } from '../open/kept-customer.ts';
import { returnPortsOf } from '../open/returns.ts';
import { coverageOf } from './coverage.ts';

/**
 * What a consent needs besides, at a bank where the customer's SCA alone grants it.
 *
 * @param paste the operator pastes the address that the customer's browser ended at
 */
export async function grantPortsOf(
  context: Context,
  opened: CustomerBank,
  paste: boolean,
): Promise<GrantPorts> {
  const { customerId, tokens } = opened;
  const { customers } = await context.store();
  return {
    ...(await returnPortsOf(context, opened, paste)),
    async keepConsent(consent, details) {
      await keepConsent(customers, consent, details, context.world.now());
      // Who has just consented is the current customer.
      if (consent.state !== 'confirmed') await tokens.remember(customerId);
    },
    dropConsent: (consent) => dropConsent(customers, consent),
  };
}

/**
 * Keeps a granted consent for readings. A new recurring one replaces the others, unless the bank keeps them beside it. One that
 * is known to be granted replaces none: a newer one may have replaced it in the meantime.
 */
async function keepConsent(
  customers: Customers,
  consent: Consent,
  details: ConsentDetails,
  now: Date,
): Promise<void> {
  const { flow, customerId, resourceId, terms, besideOthers } = consent;
  if (resourceId === null) return;
  const recurring = details.recurring ?? terms?.recurring ?? true;
  const kept: KeptConsent = {
    flow,
    consentId: resourceId,
    ...coverageOf(consent, details),
    validUntil: details.validUntil ?? terms?.validUntil ?? null,
    recurring,
    frequencyPerDay: details.frequencyPerDay ?? terms?.frequencyPerDay ?? 1,
    grantedAt: consent.grantedAt ?? now.toISOString(),
  };
  await customers.change(customerId, (before) => {
    const known = before.consents.find((each) => each.consentId === resourceId);
    const replaces = consent.state !== 'confirmed' && recurring && !besideOthers;
    const today = bankDay(now);
    const others = before.consents.filter(
      (each) =>
        each.consentId !== resourceId && !(replaces && each.recurring) && (each.validUntil ?? today) >= today,
    );
    const again = {
      ...kept,
      grantedAt: known?.grantedAt ?? kept.grantedAt,
      ...(known?.listed && { listed: known.listed }),
    };
    return { ...before, consents: [again, ...others] };
  });
}
