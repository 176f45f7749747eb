import { createHash } from 'node:crypto';
import { isPaymentHolder } from '../../domain/identifiers.ts';
import type { Holder } from '../ports/tokens.ts';

// File names for ids. The name of a customer or an account can be turned back into its id. Some file systems ignore case, so names differ also without
// it. Ids of psd2 before 0.3 (customers: digits, accounts: up to 35 letters and digits) are their own names, as they always were.

/** These characters stand for themselves. All others become `_` and two hexadecimal digits, including upper-case letters. */
const PLAIN = /[a-z0-9-]/;
const ALL_PLAIN = /^[a-z0-9-]+$/;
/** Windows keeps these names for devices. Programs take a name that begins with a dash for an option. */
const SPECIAL = /^(?:-|(?:con|prn|aux|nul|com\d|lpt\d)$)/;
/** The ids of accounts that are their own names. Two of them may differ only by case. */
const OWN_NAME = /^[A-Za-z0-9]{1,35}$/;

/** The file name for a customer: at most 192 characters. */
export function nameOfCustomer(customerId: string): string {
  return encode(customerId);
}

/** The customer with this file name. Undefined if psd2 did not make the name. */
export function customerOfName(name: string): string | undefined {
  const customerId = decode(name);
  return customerId !== '' && encode(customerId) === name ? customerId : undefined;
}

/** The file name for an account: at most 210 characters. */
export function nameOfAccount(accountId: string): string {
  return OWN_NAME.test(accountId) ? accountId : encode(accountId);
}

/** The account with this file name. Undefined if psd2 did not make the name. */
export function accountOfName(name: string): string | undefined {
  const accountId = decode(name);
  return accountId !== '' && nameOfAccount(accountId) === name ? accountId : undefined;
}

/** The name of a bank's folder, from its base URL, which may be longer than a file name. It cannot be turned back. */
export function nameOfBank(baseUrl: string): string {
  return createHash('sha256').update(baseUrl).digest('hex').slice(0, 32);
}

/** The file name for the tokens and notes of a holder. */
export function nameOfHolder(holder: Holder): string {
  if (holder === null) return APPLICATION;
  return isPaymentHolder(holder) ? encode(holder) : `${CUSTOMER}${nameOfCustomer(holder)}`;
}

/** The holder with this file name. Undefined if psd2 did not make the name. */
export function holderOfName(name: string): Holder | undefined {
  if (name === APPLICATION) return null;
  if (isPaymentHolder(decode(name))) return customerOfName(name);
  return name.startsWith(CUSTOMER) ? customerOfName(name.slice(CUSTOMER.length)) : undefined;
}

const APPLICATION = 'client-credentials';
const CUSTOMER = 'customer-';

function encode(id: string): string {
  const isSpecial = SPECIAL.test(id);
  if (!isSpecial && ALL_PLAIN.test(id)) return id;
  return [...Buffer.from(id)]
    .map((byte, index) => {
      const character = String.fromCharCode(byte);
      const isPlain = PLAIN.test(character) && !(isSpecial && index === 0);
      return isPlain ? character : `_${byte.toString(16).padStart(2, '0')}`;
    })
    .join('');
}

function decode(name: string): string {
  return name.replace(/_([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
