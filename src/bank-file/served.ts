import type { ServedBank } from './description.ts';

/** What names a bank: the country and the rest of an IBAN, a BIC, or words. Some words may also be a BIC. */
export interface BankQuery {
  /** An IBAN in compact upper case. */
  iban?: string;
  bic?: string;
  words: readonly string[];
}

/** Where the code of the bank begins in an IBAN: after the check digits, in some countries also after a letter (ISO 13616). */
const CODE_BEGINS: Readonly<Record<string, number>> = { IT: 5, SM: 5 };

/** The parts of a text that names a bank. @param isIban whether the compact text is an IBAN */
export function bankQuery(text: string, isIban: (compact: string) => boolean): BankQuery {
  const compact = text.replace(/\s/g, '').toUpperCase();
  if (isIban(compact)) return { iban: compact, words: [] };
  const isBic = /^[A-Z]{6}[A-Z0-9]{2}([A-Z0-9]{3})?$/.test(compact);
  return { ...(isBic && { bic: compact }), words: wordsIn(text) };
}

/**
 * The one of some banks that a query names most exactly.
 *
 * @param names of who serves them: words may name these, too
 * @returns how exactly: the number of characters that are the same. Undefined: none
 */
export function servedBy(
  query: BankQuery,
  banks: readonly ServedBank[],
  names: readonly string[],
): { bank: ServedBank | null; exactness: number } | undefined {
  const rated = banks.map((bank) => ({ bank, exactness: exactness(query, bank) }));
  const [best] = rated.filter((each) => each.exactness > 0).sort((a, b) => b.exactness - a.exactness);
  return best ?? (hasWords(query, names.join(' ')) ? { bank: null, exactness: 1 } : undefined);
}

function exactness({ iban, bic, words }: BankQuery, bank: ServedBank): number {
  if (iban !== undefined) return exactnessOfCode(iban, bank);
  const byBic = bic === undefined || bank.bic === undefined ? 0 : exactnessOfBic(bic, bank.bic);
  return byBic || (hasWords({ words }, bank.name) ? 1 : 0);
}

function exactnessOfCode(iban: string, { country, bankCode }: ServedBank): number {
  if (bankCode === undefined || country === undefined || !iban.startsWith(country)) return 0;
  const begin = CODE_BEGINS[country] ?? 4;
  const codeInIban = iban.slice(begin, begin + bankCode.length);
  const isSame = [...bankCode].every((character, at) => character === '?' || character === codeInIban[at]);
  return isSame ? bankCode.replaceAll('?', '').length : 0;
}

/** A BIC of 8 characters is that of the head office: XXX. A bank file may have only the first ones. */
function exactnessOfBic(queried: string, served: string): number {
  const [one, other] = [queried, served].map((bic) => bic.replace(/XXX$/, ''));
  if (one === undefined || other === undefined) return 0;
  return one.startsWith(other) || other.startsWith(one) ? Math.min(one.length, other.length) : 0;
}

function hasWords({ words }: Pick<BankQuery, 'words'>, text: string): boolean {
  const textWords = wordsIn(text);
  return words.length > 0 && words.every((word) => textWords.includes(word));
}

/** Whole words, without case and accents. */
function wordsIn(text: string): string[] {
  const plain = text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
  return plain.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
}
