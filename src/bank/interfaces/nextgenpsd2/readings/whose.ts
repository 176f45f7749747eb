import { extractIBAN } from 'ibantools';
import { isCurrency } from '../../../../domain/currency.ts';
import { Psd2Error } from '../../../../errors.ts';
import { aboutAnother } from '../wire/answer.ts';
import type { Calls } from '../wire/calls.ts';

/** Whether two texts are the same IBAN: blanks and case do not count. */
export function sameIban(one: string, other: string): boolean {
  return joinedIban(one) === joinedIban(other);
}

function joinedIban(iban: string): string {
  return iban.replace(/\s/g, '').toUpperCase();
}

/**
 * The IBAN of an account that an answer is about. If the answer names one and no list had the account, psd2 reads the list once.
 *
 * @param named the IBAN in the answer
 * @param mayAsk psd2 may read the list
 * @returns null if neither a list nor the answer says it
 * @throws Psd2Error `bank_answer` for an answer about another account: it must not be used
 */
export async function ownIban(
  calls: Calls,
  { productId, transactionId }: { productId: string; transactionId: string },
  named: string | null,
  mayAsk = true,
): Promise<string | null> {
  const own = await listedIban(calls, productId, transactionId, mayAsk && named !== null);
  if (own === null || named === null || sameIban(own, named)) return own ?? named;
  throw aboutAnother('account', named, `${productId} (${own})`, transactionId);
}

/** @throws Psd2Error `bank_answer` for a number that is another account's: the account's own IBAN has no such number */
export async function refuseOtherNumber(
  calls: Calls,
  { productId, transactionId }: { productId: string; transactionId: string },
  named: string | null,
): Promise<void> {
  const number = named === null ? '' : accountNumberIn(named);
  if (named === null || number === '') return;
  const own = await listedIban(calls, productId, transactionId, true);
  if (own === null || !isOther(number, joinedIban(own))) return;
  throw aboutAnother('account', named, `${productId} (${own})`, transactionId);
}

/**
 * The currency of an account that a list had. Undefined: none is known, or the account has many.
 */
export function listedCurrency({ currencies, settings }: Calls, accountId: string): string | undefined {
  return currencies.get(accountId) || settings.consents?.currencyOf?.(accountId) || undefined;
}

/**
 * Two currencies of one IBAN are two accounts.
 *
 * @param named the currency of the account in the answer
 * @param own the account's IBAN, if psd2 knows it
 * @throws Psd2Error `bank_answer` for an answer in another currency than the account's
 */
export function refuseOtherCurrency(
  calls: Calls,
  { productId, transactionId }: { productId: string; transactionId: string },
  named: string | null,
  own: string | null,
): void {
  const listed = listedCurrency(calls, productId) ?? '';
  if (named === null || named === listed || !isCurrency(named) || !isCurrency(listed)) return;
  const account = own ?? productId;
  throw aboutAnother('account', `${account}:${named}`, `${productId} (${account}:${listed})`, transactionId);
}

/** The number of an account, without signs, the bank's name and a currency: `37040044/0532013000EUR`, `1291.99.348EUR`. */
function accountNumberIn(text: string): string {
  const bare = joinedIban(text).replace(/(?<=\d)\/?[A-Z]{3}$/, '');
  // A bank code in Germany.
  if (/^[1-8]\d{7}\/\d{1,10}$/.test(bare)) return bare.replace('/', '');
  return (bare.split('/').at(-1) ?? '').replace(/[^A-Z0-9]/g, '');
}

/**
 * Whether a number is surely not that of an IBAN: it is as long as a number of its country, and the IBAN has another. A bank may have
 * numbers of its own, which say nothing, and letters before a number.
 */
function isOther(text: string, iban: string): boolean {
  const { bban = '', accountNumber = '', countryCode } = extractIBAN(iban);
  const [, letters, number = ''] = /^([A-Z]*)(\d+)$/.exec(text) ?? [];
  if (number === '' || isInBban(number.replace(/^0+/, ''), bban, accountNumber.replace(/^0+/, '')))
    return false;
  const isWhole = number.length === accountNumber.length || number.length === bban.length;
  if (countryCode !== 'DE') return isWhole;
  // In Germany the zeros before a number may be missing, also after a bank code.
  if (isGerman(number)) return bban !== withZeros(number);
  return isWhole || (letters === '' && number.length <= 10);
}

/** Whether a number is the part of a BBAN with all of the account's number. German banks may leave out the sub-account 00. */
function isInBban(number: string, bban: string, accountNumber: string): boolean {
  return bban.includes(number) && (number.includes(accountNumber) || `${number}00` === accountNumber);
}

function isGerman(number: string): boolean {
  return /^[1-8]\d{8,17}$/.test(number);
}

function withZeros(number: string): string {
  return number.slice(0, 8) + number.slice(8).padStart(10, '0');
}

/** The IBAN of an account, as far as psd2 knows it without a reading. Undefined: no list had the account; null: without an IBAN. */
export function knownIban(
  { ibans, settings }: Pick<Calls, 'ibans' | 'settings'>,
  accountId: string,
): string | null | undefined {
  if (/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(accountId)) return accountId;
  return ibans.get(accountId) ?? settings.consents?.ibanOf?.(accountId);
}

async function listedIban(
  calls: Calls,
  accountId: string,
  transactionId: string,
  mayAsk: boolean,
): Promise<string | null> {
  const iban = knownIban(calls, accountId);
  // A list without the IBAN was read, too: readings are scarce.
  if (iban !== undefined || calls.ibans.get(accountId) === null || !mayAsk) return iban ?? null;
  try {
    await calls.list(transactionId);
  } catch (error) {
    // Without a list, nothing contradicts the answer.
    if (!(error instanceof Psd2Error) || error.code === 'interrupted') throw error;
  }
  const listed = calls.ibans.get(accountId) ?? null;
  calls.ibans.set(accountId, listed);
  return listed;
}
