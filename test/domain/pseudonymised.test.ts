import { expect, it } from 'vitest';
import { consentEvent, genericEvent, transferEvent } from '../../src/domain/events.ts';
import {
  accountsIn,
  accountsInRows,
  customerIn,
  type NameOf,
  pseudonymisedEvent,
} from '../../src/domain/pseudonymised.ts';

const WORDS = new Map([
  ['1000001', 'p-customer'],
  ['ACC0000001', 'p-account'],
  ['IT60X0542811101000000123456', 'p-iban'],
]);
const nameOf: NameOf = (word) => WORDS.get(word);
const created = {
  ...{ type: 'created', flow: 'tr-1', transactionId: 't1', commits: 'on execute' },
  order: {
    ...{ customerId: '1000001', from: 'ACC0000001', fromIban: 'IT60X0542811101000000123456' },
    ...{ to: 'DE89370400440532013000', name: 'Ada Lovelace', amount: '1000001', currency: 'EUR' },
    ...{ description: 'rent of Anna Verdi', instant: false, type: null, executionDate: '2026-11-21' },
    ...{ futureDated: false, urgent: false, reference: 'R-1', payeeAddress: { town: 'Roma', country: 'IT' } },
  },
};

it('a transfer keeps what was paid to whom, when and under which reference, and loses the customer and their words', () => {
  const event = pseudonymisedEvent(created, nameOf);
  expect(event).toMatchObject({
    order: {
      ...{ customerId: 'p-customer', from: 'p-account', fromIban: 'p-iban', description: '' },
      ...{ to: 'DE89370400440532013000', name: 'Ada Lovelace', currency: 'EUR', executionDate: '2026-11-21' },
      reference: 'R-1',
    },
  });
  expect(JSON.stringify(event)).not.toMatch(/Verdi|Roma/);
  expect(transferEvent.safeParse(event).success).toBe(true);
  expect(pseudonymisedEvent(event, nameOf)).toEqual(event);
});

it('an amount that looks like the id of the customer stays', () => {
  const verified = { type: 'verified', resourceId: 'r', totalAmount: { amount: '21.00', currency: 'EUR' } };
  expect(pseudonymisedEvent(verified, nameOf)).toEqual(verified);
  const kept = pseudonymisedEvent(created, nameOf);
  expect(kept).toMatchObject({ order: { amount: '1000001' } });
});

it('a transfer to an account of their own loses the payee too', () => {
  const to = 'IT60X0542811101000000123456';
  const event = pseudonymisedEvent(
    { ...created, order: { ...created.order, to, name: 'Anna Verdi' } },
    nameOf,
  );
  expect(event).toMatchObject({ order: { to: 'p-iban', name: 'p-iban' } });
});

it("an operation's own data keeps amounts, dates and the beneficiary, and loses all other text", () => {
  const data = JSON.stringify({
    ...{
      amount: { amount: '5.00', currency: 'EUR' },
      frequency: 'MONTHLY',
      firstExecutionDate: '01/12/2026',
    },
    ...{ ibanBeneficiary: 'DE89370400440532013000', description: 'for Anna', nickname: 'Annie', count: 12 },
  });
  const order = { customerId: '1000001', from: 'ACC0000001', operation: 'standingOrder', data };
  const event = pseudonymisedEvent({ ...created, order, furtherData: ['{"note":"Anna"}'] }, nameOf);
  expect(genericEvent.safeParse(event).success).toBe(true);
  expect(event).toMatchObject({
    order: { customerId: 'p-customer', from: 'p-account' },
    furtherData: ['{"note":""}'],
  });
  const kept: unknown = JSON.parse(String(Reflect.get(Reflect.get(Object(event), 'order'), 'data')));
  expect(kept).toEqual({
    ...{
      amount: { amount: '5.00', currency: 'EUR' },
      frequency: 'MONTHLY',
      firstExecutionDate: '01/12/2026',
    },
    ...{ ibanBeneficiary: 'DE89370400440532013000', description: '', nickname: '', count: 12 },
  });
});

it('a consent loses accounts and the links to the bank, and stays readable', () => {
  const consent = {
    ...{ type: 'created', flow: 'co-1', transactionId: 't1', customerId: '1000001', returnState: 'secret' },
    categories: [{ name: 'PAYMENTS', products: ['ACC0000001'] }],
    terms: {
      access: {
        type: 'dedicated',
        accounts: ['IT60X0542811101000000123456'],
        balances: [],
        transactions: [],
      },
    },
  };
  expect(customerIn(consent)).toBe('1000001');
  expect(accountsIn(consent)).toEqual(['ACC0000001', 'IT60X0542811101000000123456']);
  const event = pseudonymisedEvent(consent, nameOf);
  expect(consentEvent.safeParse(event).success).toBe(true);
  expect(event).toMatchObject({ customerId: 'p-customer', categories: [{ products: ['p-account'] }] });
  expect(JSON.stringify(event)).not.toMatch(/secret|IT60|ACC/);
  const requested = {
    type: 'requested',
    resourceId: 'r',
    outcomes: [],
    links: { approach: null, redirect: 'https://x' },
    access: { accounts: [{ iban: 'IT60X0542811101000000123456' }] },
  };
  expect(pseudonymisedEvent(requested, nameOf)).toEqual({ type: 'requested', resourceId: 'r', outcomes: [] });
});

it("a longer id goes from the bank's texts and a person's note goes whole", () => {
  expect(
    pseudonymisedEvent({ type: 'execute-refused', description: 'account ACC0000001 is closed' }, nameOf),
  ).toEqual({ type: 'execute-refused', description: 'account p-account is closed' });
  const resolved = { type: 'resolved', outcome: 'executed', by: 'ada@pisp-1', note: 'Anna called' };
  expect(pseudonymisedEvent(resolved, nameOf)).toEqual({ ...resolved, note: null });
});

it.each([
  [
    'The bank refused PUT /private/customers/1000001/products/ACC0000001/moneyTransfer/r/execute (HTTP 412): no',
    'The bank refused PUT /private/customers/p-customer/products/p-account/moneyTransfer/r/execute (HTTP 412): no',
  ],
  [
    'Customer 1000001 is blocked: ask customer 1000001.',
    'Customer p-customer is blocked: ask customer p-customer.',
  ],
  ['Limit 1000001.00 EUR', 'Limit 1000001.00 EUR'],
])('the customer goes from a text of the bank: %s', (description, kept) => {
  const event = { type: 'execute-unanswered', description };
  expect(pseudonymisedEvent(event, nameOf)).toEqual({ ...event, description: kept });
});

it('accounts are found in stored rows of tables, files and consents', () => {
  expect(
    accountsInRows([
      { product_id: 'A1', iban: null, amount: '1' },
      { kind: 'account', productId: 'A2', accountId: 'A2', iban: 'IT1' },
      { consents: [{ accounts: ['A3'] }, { accounts: null }] },
      { kept: { consents: [{ accounts: ['A4'] }], accounts: [{ accountId: 'A5', iban: 'IT5' }] } },
      'no row',
    ]),
  ).toEqual(['A1', 'A2', 'IT1', 'A3', 'A4', 'A5', 'IT5']);
});
