import { Psd2Error } from '../../../errors.ts';
import { aboutAnother } from './answer.ts';
import type { Calls } from './calls.ts';

/** Whether two texts are the same IBAN: blanks and case do not count. */
export function sameIban(one: string, other: string): boolean {
  return compact(one) === compact(other);
}

function compact(iban: string): string {
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

/** @throws Psd2Error `bank_answer` for the number of another account, if both are German */
export async function refuseOtherNumber(
  calls: Calls,
  { productId, transactionId }: { productId: string; transactionId: string },
  named: string | null,
): Promise<void> {
  const number = named === null ? null : germanNumberIn(named);
  if (named === null || number === null) return;
  const own = await listedIban(calls, productId, transactionId, true);
  if (own === null || !/^DE\d{20}$/.test(compact(own)) || compact(own).endsWith(number)) return;
  throw aboutAnother('account', named, `${productId} (${own})`, transactionId);
}

/** The bank code (8 digits) and the number of an account, as a German IBAN has them. A number alone has at most 10 digits. */
function germanNumberIn(text: string): string | null {
  const [, bank, number, joined] =
    /^([1-8]\d{7})(?:\/0*(\d{1,10})|(\d{3,10}))(?:[A-Z]{3})?$/.exec(compact(text)) ?? [];
  return bank === undefined ? null : bank + (number ?? joined ?? '').padStart(10, '0');
}

async function listedIban(
  calls: Calls,
  accountId: string,
  transactionId: string,
  mayAsk: boolean,
): Promise<string | null> {
  if (/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(accountId)) return accountId;
  const inList = calls.ibans.get(accountId);
  const known = inList ?? calls.settings.consents?.ibanOf?.(accountId);
  // A list without the IBAN was read, too: readings are scarce.
  if (known !== undefined || inList === null || !mayAsk) return known ?? null;
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
