import { parse } from 'node-html-parser';
import { expect, test } from 'vitest';
import { type PaymentShown, paymentDetails } from '../../../src/sandbox/customer-site/payment-details.ts';
import { dateText, ibanText, moneyText } from '../../../src/sandbox/customer-site/texts.ts';

const money = (amount: string) => ({ amount, currency: 'EUR' });
const ada = { name: 'Ada', iban: 'DE89370400440532013000', amount: money('1200.00'), description: 'rent' };
const bob = { ...ada, name: 'Bob', amount: money('34.50'), description: '' };
const payment: PaymentShown = {
  ...{ kind: 'Bank transfer', debit: { productId: '0010482620', iban: 'IT12A0999' }, orders: [ada] },
  ...{ sum: money('1200.00'), fee: money('0.50'), total: money('1200.50') },
  ...{ date: '2026-11-21', isInstant: false },
};

const IBAN = 'DE89 3704 0044 0532 0130 00';
const INSTANT = 'An instant payment arrives within seconds and can’t be reversed.';

interface Expected {
  sum?: string;
  rows: string[];
  note?: string;
}

const payee = ['Payee: Ada', `IBAN: ${IBAN}`, 'Amount: 1,200.00 EUR'];
const costs = ['Fee: 0.50 EUR', 'Total: 1,200.50 EUR', 'Type: Bank transfer'];
const from = 'From your account: IT12 A099 9|0010482620';

test.each<[what: string, changes: Partial<PaymentShown>, expected: Expected]>([
  ['a transfer', {}, { rows: [...payee, ...costs, 'Date: 21 November 2026', 'Description: rent', from] }],
  [
    'an instant transfer',
    { isInstant: true },
    {
      rows: [...payee, ...costs, 'Date: 21 November 2026, immediately', 'Description: rent', from],
      note: INSTANT,
    },
  ],
  [
    'a standing order',
    { schedule: 'monthly' },
    { rows: [...payee, ...costs, 'Date: 21 November 2026', 'Schedule: monthly', 'Description: rent', from] },
  ],
  [
    'a transfer without a description',
    { orders: [{ ...ada, description: '' }] },
    { rows: [...payee, ...costs, 'Date: 21 November 2026', 'Description: None', from] },
  ],
  [
    'a transfer from an account that the customer chooses',
    { debit: undefined },
    { rows: [...payee, ...costs, 'Date: 21 November 2026', 'Description: rent'] },
  ],
  [
    'two transfers',
    { orders: [ada, bob] },
    {
      sum: '1,200.00 EUR to 2 payees',
      rows: [
        ...[...costs, 'Date: 21 November 2026', from],
        ...[`1,200.00 EUR: Ada|${IBAN}|rent`, `34.50 EUR: Bob|${IBAN}`],
      ],
    },
  ],
  [
    'no transfer',
    { orders: [] },
    { sum: '1,200.00 EUR to', rows: [...costs, 'Date: 21 November 2026', from] },
  ],
])('the customer sees %s in full', async (_, changes, { sum = '1,200.00 EUR to Ada', rows, note }) => {
  const root = parse(String(await paymentDetails({ ...payment, ...changes })));
  for (const br of root.querySelectorAll('br')) br.replaceWith('|');
  const shown = root
    .querySelectorAll('dl > div')
    .map((row) => row.childNodes.map((one) => one.textContent).join(': '));
  expect(shown).toEqual(rows);
  expect(root.querySelector('.sum')?.textContent.trim()).toBe(sum);
  expect(root.querySelector('.note')?.textContent).toBe(note);
});

test.each([
  ['0.05', '0.05'],
  ['999.00', '999.00'],
  ['1000.00', '1,000.00'],
  ['999999.99', '999,999.99'],
  ['1000000.00', '1,000,000.00'],
  ['1234', '1,234'],
  ['1234.5678', '1,234.5678'],
])('an amount of %s reads %s', (amount, text) => {
  expect(moneyText({ amount, currency: 'CHF' })).toBe(`${text} CHF`);
});

test.each([
  ['', ''],
  ['IT12', 'IT12'],
  ['IT12A', 'IT12 A'],
  ['IT12A0999', 'IT12 A099 9'],
  ['IT12A099', 'IT12 A099'],
])('the IBAN %j reads %j', (iban, text) => {
  expect(ibanText(iban)).toBe(text);
});

test.each([
  ['2026-01-01', '1 January 2026'],
  ['2026-12-31', '31 December 2026'],
  ['2028-02-29', '29 February 2028'],
])('the day %s reads %s', (day, text) => {
  expect(dateText(day)).toBe(text);
});
