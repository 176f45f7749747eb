import type { Money } from './bank-side.ts';

/** `1,250.00 EUR`: the exact digits, in groups of three. */
export function moneyText({ amount, currency }: Money): string {
  const [whole = '', ...decimals] = amount.split('.');
  return `${[whole.replace(/\B(?=(\d{3})+$)/g, ','), ...decimals].join('.')} ${currency}`;
}

/** An IBAN in groups of four, as ISO 13616 prints it. */
export function ibanText(iban: string): string {
  return iban.replace(/(.{4})(?=.)/g, '$1 ');
}

const LONG_DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

/** `21 November 2026` for `2026-11-21`. */
export function dateText(isoDate: string): string {
  return LONG_DATE.format(new Date(isoDate));
}

const CATEGORIES = new Map([
  [
    'ACCOUNT_INFO',
    {
      title: 'See your accounts',
      text: 'Details, balances and transactions. Nothing can be changed or paid with this.',
    },
  ],
  [
    'FUNDS_AVAILABILITY',
    {
      title: 'Ask whether an amount is available',
      text: 'The answer is only yes or no. It does not show your balance.',
    },
  ],
  [
    'PAYMENTS',
    {
      title: 'Prepare payments from your accounts',
      text: 'You see each payment here. It is made only if you approve it.',
    },
  ],
]);

/** A consent category (interface specification, "Consent request") in plain words. */
export function categoryText(name: string): { title: string; text: string } {
  return CATEGORIES.get(name) ?? { title: name, text: 'The bank has no description of this category.' };
}
