import * as z from 'zod/mini';
import type { ConsentDetails } from '../../bank/ports/customer.ts';
import { bankDay } from '../../domain/calendar.ts';
import type { Consent } from '../../domain/consent.ts';
import type { GrantPorts } from '../../flows/linked-consent.ts';
import type { Customers, KeptConsent } from '../../store/ports/customers.ts';
import type { Context, CustomerBank } from '../context.ts';
import { dropConsent } from '../open/kept-customer.ts';
import { returnPortsOf } from '../open/returns.ts';

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

type Coverage = Pick<KeptConsent, 'accounts' | 'reads'>;

/** What the customer has granted, as the bank says it; else what was asked for. */
function coverageOf(consent: Consent, { access }: ConsentDetails): Coverage {
  const asked = askedCoverage(consent);
  const { data: granted } = accessShape.safeParse(access);
  if (!granted) return asked;
  const { accounts = [], balances = [], transactions = [] } = granted;
  const all = [...accounts, ...balances, ...transactions];
  const names = all.flatMap(({ iban, maskedPan, bban }) => iban ?? maskedPan ?? bban ?? []);
  // At a bank with other names, an IBAN tells nothing.
  if (!all.some(({ iban }) => iban !== undefined)) return asked;
  const says = balances.length + transactions.length > 0;
  const isGranted = (each: KeptConsent['reads'][number]) =>
    each === 'accounts' || !says || (each === 'balances' ? balances : transactions).length > 0;
  return { accounts: [...new Set(names)], reads: asked.reads.filter(isGranted) };
}

const name = z.optional(z.string());
const references = z.optional(z.array(z.looseObject({ iban: name, maskedPan: name, bban: name })));
const accessShape = z.looseObject({
  ...{ accounts: references, balances: references, transactions: references },
});

function askedCoverage({ terms }: Consent): Coverage {
  const access = terms?.access;
  const all: KeptConsent['reads'] = ['accounts', 'balances', 'transactions'];
  switch (access?.type) {
    case 'list-only':
      return { accounts: null, reads: ['accounts'] };
    case 'dedicated': {
      const { accounts, balances, transactions } = access;
      const reads: KeptConsent['reads'] = [
        'accounts',
        ...(balances.length > 0 ? (['balances'] as const) : []),
        ...(transactions.length > 0 ? (['transactions'] as const) : []),
      ];
      return { accounts: [...new Set([...accounts, ...balances, ...transactions])], reads };
    }
    case 'bank-offered':
      return {
        accounts: null,
        reads: all.filter(
          (each) => each === 'accounts' || (each === 'balances' ? access.balances : access.transactions),
        ),
      };
    default:
      return { accounts: null, reads: all };
  }
}
