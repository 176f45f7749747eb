import type { BankDescription } from '../../../bank/interfaces/nextgenpsd2/description/schema.ts';
import type { Product } from '../../customers/seed-customers.ts';
import { bankDay } from '../../ledger/bank-time.ts';
import type { Entry } from '../../ledger/entry.ts';
import { amountOf, maskedPanOf } from './account-view.ts';

/** ISO 20022 codes of the Italian banks' codes. */
const ISO_CODES = new Map([
  ['16', 'ACMT-MCOP-CHRG'],
  ['18', 'ACMT-MCOP-INTR'],
  ['26', 'PMNT-ICDT-ESCT'],
  ['27', 'PMNT-RCDT-SALA'],
  ['43', 'PMNT-CCRD-POSD'],
  ['48', 'PMNT-RCDT-ESCT'],
  ['50', 'PMNT-RDDT-ESDD'],
]);

const MAX_REMITTANCE = 140;

/** The bank's number of a booked entry, as `entryReference` and in `transactionId`: counted from the account's first entry. */
export function referenceOfNumber(number: number): string {
  return String(number).padStart(9, '0');
}

/** The number in an `entryReference` or a `transactionId`. Undefined for another text. */
export function numberOfReference(reference: string): number | undefined {
  const digits = /^T?(\d{9})$/.exec(reference)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/**
 * A transaction of an account (NextGenPSD2, `transactions`).
 *
 * @param number of a booked entry. Undefined: it is pending, and has no id yet
 */
export function transactionOf(entry: Entry, number: number | undefined): Record<string, unknown> {
  const { code, shortDescription, extendedDescription, transferReference } = entry;
  const isoCode = ISO_CODES.get(code);
  const shop = shopOf(entry);
  return {
    ...(number !== undefined && {
      transactionId: `T${referenceOfNumber(number)}`,
      entryReference: referenceOfNumber(number),
      bookingDate: entry.bookingDay,
    }),
    ...(transferReference !== '' && { endToEndId: transferReference }),
    valueDate: number === undefined ? bankDay(entry.enteredAt) : entry.valueDay,
    transactionAmount: amountOf(entry.amount),
    ...(shop !== undefined && { creditorName: shop }),
    remittanceInformationUnstructured: extendedDescription.slice(0, MAX_REMITTANCE),
    additionalInformation: shortDescription,
    ...(isoCode !== undefined && { bankTransactionCode: isoCode }),
    proprietaryBankTransactionCode: code,
  };
}

/**
 * The same at a bank whose amounts have no sign (`accounts.amounts`): the account itself is the debtor or the creditor. A bank that
 * names its zone (`accounts.zone`) writes each day as the time in UTC at which it begins.
 */
export function asTheBankWrites(
  { accounts }: BankDescription,
  { iban }: Product,
  plain: Record<string, unknown>,
  { amount }: Entry,
): Record<string, unknown> {
  const row = accounts.zone === undefined ? plain : withTimes(plain, accounts.zone);
  if (accounts.amounts === 'signed') return row;
  const isOut = amount < 0;
  return {
    ...row,
    transactionAmount: amountOf(isOut ? -amount : amount),
    [isOut ? 'debtorAccount' : 'creditorAccount']: { iban },
  };
}

function withTimes(row: Record<string, unknown>, zone: string): Record<string, unknown> {
  const days = ['bookingDate', 'valueDate'].filter((name) => typeof row[name] === 'string');
  return { ...row, ...Object.fromEntries(days.map((name) => [name, beginOf(String(row[name]), zone)])) };
}

/** When a day begins in a zone: `2026-11-19T22:00:00Z`. */
function beginOf(day: string, zone: string): string {
  const midnight = new Date(`${day}T00:00:00Z`);
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  const name = format.formatToParts(midnight).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign = '+', hours = '0', minutes = '0'] = /([+-])(\d{2}):(\d{2})/.exec(name) ?? [];
  const offset = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1);
  return `${new Date(midnight.getTime() - offset * 60_000).toISOString().slice(0, 19)}Z`;
}

/** A transaction of a card (NextGenPSD2, `cardTransaction`). */
export function cardTransactionOf(
  product: Product,
  entry: Entry,
  number: number | undefined,
): Record<string, unknown> {
  return {
    ...(number !== undefined && {
      cardTransactionId: `T${referenceOfNumber(number)}`,
      bookingDate: entry.bookingDay,
      valueDate: entry.valueDay,
    }),
    transactionDate: bankDay(entry.enteredAt),
    transactionAmount: amountOf(entry.amount),
    maskedPAN: maskedPanOf(product),
    transactionDetails: entry.extendedDescription,
    invoiced: number !== undefined,
    proprietaryBankTransactionCode: entry.code,
  };
}

/** The shop of a card payment. Its text is `<shop> DEL <date>`, or the shop alone while it is pending. */
function shopOf({ code, extendedDescription }: Entry): string | undefined {
  return code === '43' ? extendedDescription.replace(/ DEL \d{2}\.\d{2}\.\d{4}$/, '') : undefined;
}
