import type { Money } from './bank-side.ts';

// Amounts, account numbers and days as customers read them.

/** `1,250.00 EUR`: the exact digits, in groups of three. */
export function moneyText({ amount, currency }: Money): string {
  const [whole = '', ...decimals] = amount.split('.');
  return `${[whole.replace(/\B(?=(\d{3})+$)/g, ','), ...decimals].join('.')} ${currency}`;
}

/** An IBAN in groups of four, as ISO 13616 prints it. */
export function ibanText(iban: string): string {
  return iban.replace(/(.{4})(?=.)/g, '$1 ');
}

/** `21 November 2026` for `2026-11-21`. */
export function dateText(isoDate: string): string {
  return new Date(isoDate).toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
}
