import { compactIban } from './order/sepa-text.ts';

// The standard promises an id of an account only "throughout the lifecycle of a given consent". So an account is its IBAN, or its
// other number, and its currency, and the bank's id is its address of today.

/** An account as a list of the bank names it. */
export interface ListedAccount {
  /** The bank's id of today. */
  productId: string;
  iban: string | null;
  currency: string;
  name: string | null;
  /** It is a card account. */
  card?: boolean | undefined;
  bban?: string | null | undefined;
  maskedPan?: string | null | undefined;
}

/** An account of which something is stored, as the bank named it last. Absent: it is not known. */
export interface StoredAccount {
  iban?: string | null | undefined;
  currency?: string | undefined;
  name?: string | null | undefined;
  /** It is a card account. */
  card?: boolean | undefined;
  bban?: string | null | undefined;
  maskedPan?: string | null | undefined;
  productCode?: string | null | undefined;
  productDescription?: string | null | undefined;
  /** The id under which it is stored. It stays. */
  productId: string;
  /** The bank's id of the last reading. */
  bankId: string;
}

/** Where a listed account is stored. */
export interface Placed<Listed> {
  account: Listed;
  /** `null`: it may be one of several stored accounts, and nothing says which. */
  storedAs: string | null;
  /** The bank's id of before, if only kind, currency and name say that it is the same account. */
  takenFor: string | null;
}

/**
 * Finds the stored account of each account of a list. Two entries of one list are two accounts, whatever they share. An account that is
 * stored nowhere gets the bank's id, or one like it if another account has that.
 */
export function placeAccounts<Listed extends ListedAccount>(
  listed: readonly Listed[],
  stored: readonly StoredAccount[],
): Placed<Listed>[] {
  const placed = new Map<Listed, { stored: StoredAccount; isCertain: boolean }>();
  const free = new Set(stored);
  const open = () => listed.filter((each) => !placed.has(each));
  const fits = (rule: Rule, account: Listed) => [...free].filter((each) => rule.isSame(account, each));
  for (const rule of RULES) {
    // A pair that was found leaves less for the others.
    for (let hasFound = true; hasFound; ) {
      hasFound = false;
      const rest = open();
      for (const account of rest) {
        const [only, ...others] = fits(rule, account);
        if (!only || others.length > 0 || rest.some((each) => each !== account && rule.isSame(each, only)))
          continue;
        placed.set(account, { stored: only, isCertain: rule.isCertain });
        free.delete(only);
        hasFound = true;
        break;
      }
    }
  }
  const ids = new Set(stored.map(({ productId }) => productId));
  return listed.map((account) => {
    const place = placed.get(account);
    if (place)
      return {
        account,
        storedAs: place.stored.productId,
        takenFor: place.isCertain ? null : place.stored.bankId,
      };
    const mayBeStored = [...free].some((each) => hasSameNumber(account, each) || mayBe(account, each));
    return { account, storedAs: mayBeStored ? null : freeId(account.productId, ids), takenFor: null };
  });
}

interface Rule {
  isSame(account: ListedAccount, stored: StoredAccount): boolean;
  isCertain: boolean;
}

/** What says that two are the same, the strongest first. */
const RULES: readonly Rule[] = [
  { isSame: (a, b) => isSameAccount(a, b) && hasSameId(a, b) && hasSameName(a, b), isCertain: true },
  { isSame: (a, b) => isSameAccount(a, b) && hasSameName(a, b), isCertain: true },
  { isSame: (a, b) => isSameAccount(a, b) && hasSameId(a, b), isCertain: true },
  { isSame: isSameAccount, isCertain: true },
  { isSame: (a, b) => hasSameId(a, b) && (mayBe(a, b) || isNameless(b)), isCertain: true },
  // What follows is likely, and said.
  { isSame: hasSameNumber, isCertain: false },
  { isSame: mayBe, isCertain: false },
  // The customer has named it otherwise, or has another card of the same account.
  { isSame: (a, b) => hasSameId(a, b) && isNoOther(a, b, true), isCertain: false },
];

function hasSameId({ productId }: ListedAccount, { bankId }: StoredAccount): boolean {
  return productId === bankId;
}

function hasSameName(account: ListedAccount, stored: StoredAccount): boolean {
  return (account.name ?? null) === (stored.name ?? null);
}

/** Stored before psd2 kept how an account is named. */
function isNameless({ currency }: StoredAccount): boolean {
  return currency === undefined;
}

/** An account is its number and its currency. */
function isSameAccount(account: ListedAccount, stored: StoredAccount): boolean {
  return stored.currency === account.currency && hasSameNumber(account, stored);
}

function hasSameNumber(account: ListedAccount, stored: StoredAccount): boolean {
  return isNoOther(account, stored) && sharedNumber(account, stored) === 'same';
}

/** No number contradicts, and kind, currency and name are the same. */
function mayBe(account: ListedAccount, stored: StoredAccount): boolean {
  return (
    isNoOther(account, stored) && sharedNumber(account, stored) === 'none' && hasSameName(account, stored)
  );
}

/** A currency that a list leaves out contradicts no other. */
function isNoOther(account: ListedAccount, stored: StoredAccount, mayBeOtherCard = false): boolean {
  if (isNameless(stored) || Boolean(stored.card) !== Boolean(account.card)) return false;
  if (account.currency && stored.currency && stored.currency !== account.currency) return false;
  return (mayBeOtherCard && account.card === true) || sharedNumber(account, stored) !== 'other';
}

/** What the first number that both have says. A card has the IBAN of its account, so its own number counts first. */
function sharedNumber(account: ListedAccount, stored: StoredAccount): 'same' | 'other' | 'none' {
  const [one, other] = [numbersOf(account), numbersOf(stored)];
  for (const [kind, number] of one) {
    const its = other.get(kind);
    if (its !== undefined) return its === number ? 'same' : 'other';
  }
  return 'none';
}

function numbersOf({
  iban,
  bban,
  maskedPan,
  card: isCard,
}: ListedAccount | StoredAccount): Map<string, string> {
  const card: [string, string][] = maskedPan ? [['card', plainMask(maskedPan)]] : [];
  const account: [string, string][] = [
    ...(iban ? [['iban', compactIban(iban)] satisfies [string, string]] : []),
    ...(bban ? [['bban', bban.replace(/[\s-]/g, '').toUpperCase()] satisfies [string, string]] : []),
  ];
  return new Map(isCard ? [...card, ...account] : [...account, ...card]);
}

/** The digits that a mask leaves, however it is written. */
function plainMask(number: string): string {
  return number.replace(/[\s-]/g, '').replace(/\D+/g, '*');
}

/** @param used ids that are in use. Gets the new one */
function freeId(wanted: string, used: Set<string>): string {
  let id = wanted;
  for (let number = 2; used.has(id); number += 1) id = `${wanted.slice(0, 64)}~${number}`;
  used.add(id);
  return id;
}
