import * as z from 'zod/mini';
import type { ConsentDetails } from '../../bank/ports/customer.ts';
import type { Consent } from '../../domain/consent.ts';
import { accountReferenceOf } from '../../domain/order/account-reference.ts';
import { isIban } from '../../domain/order/iban.ts';
import type { KeptConsent } from '../../store/ports/customers.ts';

type Coverage = Pick<KeptConsent, 'accounts' | 'reads' | 'cards'>;

/** A consent's `access` as the standard has it. */
function accessShape() {
  const name = z.optional(z.string());
  const reference = z.looseObject({
    iban: name,
    maskedPan: name,
    pan: name,
    bban: name,
    msisdn: name,
    currency: name,
  });
  const references = z.optional(z.array(reference));
  return z.looseObject({ accounts: references, balances: references, transactions: references });
}
type Access = z.infer<ReturnType<typeof accessShape>>;
type Reference = NonNullable<Access['accounts']>[number];

/** What the customer has granted, as the bank says it; else what was asked for. */
export function coverageOf(
  consent: Pick<Consent, 'terms'>,
  { access }: Pick<ConsentDetails, 'access'>,
): Coverage {
  const requested = askedCoverage(consent);
  const { data: granted } = accessShape().safeParse(access);
  if (!granted) return requested;
  const all = referencesIn(granted);
  // At a bank with other names, an IBAN tells nothing.
  if (!all.some(({ iban }) => iban !== undefined)) return requested;
  const { balances = [], transactions = [] } = granted;
  const says = balances.length + transactions.length > 0;
  const isGranted = (each: KeptConsent['reads'][number]) =>
    each === 'accounts' || !says || (each === 'balances' ? balances : transactions).length > 0;
  const hasCards = requested.cards !== 'none' || all.some(({ iban }) => iban === undefined || !isIban(iban));
  return {
    accounts: referenceNames(all),
    reads: requested.reads.filter(isGranted),
    ...(!hasCards && { cards: 'none' as const }),
  };
}

/** The accounts that the bank names in a granted `access`. Empty: it names none. */
export function namesInAccess(access: Consent['access']): readonly string[] {
  const { data } = accessShape().safeParse(access);
  return data ? referenceNames(referencesIn(data)) : [];
}

/** What a granted consent covers less than was asked for, in words. Empty: nothing, or the bank does not say. */
export function lackingIn({
  terms,
  access,
  grantedAt,
}: Pick<Consent, 'terms' | 'access' | 'grantedAt'>): string[] {
  const requested = terms?.access;
  const { data: granted } = accessShape().safeParse(access);
  if (!requested || grantedAt === null || !granted) return [];
  // At a bank with other names, an IBAN tells nothing.
  if (!referencesIn(granted).some(({ iban }) => iban !== undefined)) return [];
  const { reads } = coverageOf({ terms }, { access });
  const kinds = askedCoverage({ terms }).reads.filter((kind) => !reads.includes(kind));
  if (requested.type !== 'dedicated') return kinds;
  const lacking = (kind: KeptConsent['reads'][number]) => {
    const all = granted[kind] ?? (kind === 'accounts' ? referencesIn(granted) : []);
    return all.length === 0
      ? []
      : requested[kind].filter((each) => !all.some((other) => isReferenceTo(each, other)));
  };
  const whole = lacking('accounts');
  const parts = (['balances', 'transactions'] as const).flatMap((kind) =>
    lacking(kind).flatMap((each) => (whole.includes(each) ? [] : `${kind} of ${each}`)),
  );
  return [...kinds, ...whole, ...parts];
}

/** Whether a reference of the bank's is the account that the operator named. */
function isReferenceTo(
  reference: string,
  { iban, maskedPan, pan, bban, msisdn, currency }: Reference,
): boolean {
  const { id, currency: wanted } = accountReferenceOf(reference);
  const plain = (name: string) => name.replace(/\s/g, '').toUpperCase();
  const names = [iban, maskedPan, pan, bban, msisdn].flatMap((name) =>
    name === undefined ? [] : plain(name),
  );
  const isOfOne = wanted === null || currency === undefined || wanted === currency.toUpperCase();
  return names.includes(plain(id)) && isOfOne;
}

function referencesIn({ accounts = [], balances = [], transactions = [] }: Access) {
  return [...accounts, ...balances, ...transactions];
}

function referenceNames(all: ReturnType<typeof referencesIn>): string[] {
  return [
    ...new Set(
      all.flatMap(
        ({ iban, maskedPan, pan, bban, msisdn }) => iban ?? maskedPan ?? pan ?? bban ?? msisdn ?? [],
      ),
    ),
  ];
}

function askedCoverage({ terms }: Pick<Consent, 'terms'>): Coverage {
  const access = terms?.access;
  const all: KeptConsent['reads'] = ['accounts', 'balances', 'transactions'];
  switch (access?.type) {
    case 'list-only':
    case 'list-with-balances':
      return { accounts: null, reads: ['accounts'] };
    case 'dedicated': {
      const { accounts, balances, transactions } = access;
      const reads: KeptConsent['reads'] = [
        'accounts',
        ...(balances.length > 0 ? (['balances'] as const) : []),
        ...(transactions.length > 0 ? (['transactions'] as const) : []),
      ];
      const named = [
        ...new Set([...accounts, ...balances, ...transactions].map((each) => accountReferenceOf(each).id)),
      ];
      // A card has no IBAN (the standard, account references).
      return { accounts: named, reads, ...(named.every(isIban) && { cards: 'none' as const }) };
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
