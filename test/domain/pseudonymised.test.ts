import { describe, expect, it } from 'vitest';
import { consentEvent, genericEvent, transferEvent } from '../../src/domain/events.ts';
import { parseProductId } from '../../src/domain/identifiers.ts';
import { parseSepaIban } from '../../src/domain/order/iban.ts';
import {
  accountsIn,
  accountsInRows,
  customerIn,
  type NameOf,
  pseudonymisedEvent,
  pseudonymisedLine,
} from '../../src/domain/pseudonymised.ts';
import { batchLine } from './batch/lines.ts';

const OWN = 'IT60X0542811101000000123456';
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
    amount: { amount: '5.00', currency: 'EUR' },
    ...{ frequency: 'MONTHLY', firstExecutionDate: '01/12/2026' },
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
  expect(kept).toMatchInlineSnapshot(`
    { amount: { amount: "5.00", currency: "EUR" }, count: 12, description: "",
      firstExecutionDate: "01/12/2026", frequency: "MONTHLY", ibanBeneficiary: "DE89370400440532013000",
      nickname: "" }
  `);
});

it('a consent loses accounts and the links to the bank, and stays readable', () => {
  const consent = {
    ...{ type: 'created', flow: 'co-1', transactionId: 't1', customerId: '1000001', returnState: 'secret' },
    categories: [{ name: 'PAYMENTS', products: ['ACC0000001'] }],
    terms: { access: { type: 'dedicated', accounts: [OWN], balances: [], transactions: [] } },
  };
  expect(customerIn(consent)).toBe('1000001');
  expect(accountsIn(consent)).toEqual(['ACC0000001', 'IT60X0542811101000000123456']);
  const event = pseudonymisedEvent(consent, nameOf);
  expect(consentEvent.safeParse(event).success).toBe(true);
  expect(event).toMatchObject({ customerId: 'p-customer', categories: [{ products: ['p-account'] }] });
  expect(JSON.stringify(event)).not.toMatch(/secret|IT60|ACC/);
  const requested = { type: 'requested', resourceId: 'r', outcomes: [] };
  const told = { links: { approach: null, redirect: 'https://x' }, access: { accounts: [{ iban: OWN }] } };
  expect(pseudonymisedEvent({ ...requested, ...told }, nameOf)).toEqual(requested);
});

it('a consent for confirmations of funds loses the account, the card, the contract and the person', () => {
  const funds = {
    ...{ type: 'funds', account: 'IT60X0542811101000000123456', cardExpiryDate: '2031-12-31' },
    ...{ cardNumber: '525412******3241', cardInformation: 'Gold', registrationInformation: 'Contract 7' },
  };
  const consent = {
    ...{ type: 'created', flow: 'co-1', transactionId: 't1', customerId: '1000001' },
    ...{ categories: [{ name: 'FUNDS_AVAILABILITY', products: [] }], terms: { access: funds } },
  };
  expect(accountsIn(consent)).toEqual(['IT60X0542811101000000123456']);
  const event = pseudonymisedEvent(consent, nameOf);
  expect(consentEvent.safeParse(event).success).toBe(true);
  const access = { type: 'funds', account: 'p-iban', cardExpiryDate: '2031-12-31' };
  expect(event).toEqual({ ...consent, customerId: 'p-customer', terms: { access } });
  for (const type of ['sca-started', 'approach-sent'])
    expect(pseudonymisedEvent({ type, psuId: 'anna' }, nameOf)).toEqual({ type });
});

it("a longer id goes from the bank's texts and a person's note goes whole", () => {
  expect(
    pseudonymisedEvent({ type: 'execute-refused', description: 'account ACC0000001 is closed' }, nameOf),
  ).toEqual({ type: 'execute-refused', description: 'account p-account is closed' });
  const named = { type: 'debtor-named', account: 'IT60X0542811101000000123456' };
  expect(pseudonymisedEvent(named, nameOf)).toEqual({ ...named, account: null });
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
      { kept: { funds: [{ account: 'msisdn:491701234567:EUR' }] } },
      'no row',
    ]),
  ).toEqual(['A1', 'A2', 'IT1', 'A3', 'A4', 'A5', 'IT5', 'msisdn:491701234567:EUR', '491701234567']);
});

it.each([undefined, null, 'text', 7, [], [{ customerId: '1000001' }]])(
  'what is no event has no customer and no accounts, and stays: %j',
  (event) => {
    expect([customerIn(event), accountsIn(event), pseudonymisedEvent(event, nameOf)]).toEqual([
      ...[undefined, [], event],
    ]);
  },
);

it('the customer and the accounts of a payment are those of its order, each once and only texts', () => {
  expect(customerIn(created)).toBe('1000001');
  expect(accountsIn(created)).toEqual(['ACC0000001', 'IT60X0542811101000000123456']);
  const order = { customerId: 7, from: '', fromIban: undefined };
  expect([customerIn({ order }), accountsIn({ order })]).toEqual([undefined, []]);
  expect(accountsIn({ order: 'x', categories: 'y', terms: 'z' })).toEqual([]);
  expect(
    accountsIn({
      categories: [null, 'x', { products: ['A1', 7, ''] }, { products: ['A1', 'A2'] }],
      terms: { access: { accounts: ['A3'], balances: ['A4', null], transactions: ['A2'] } },
    }),
  ).toEqual(['A1', 'A2', 'A3', 'A4']);
});

describe('an account that stands in one place alone is found there', () => {
  const PHONE = 'msisdn:491701234567:EUR';
  it.each<[string, object]>([
    ['the order: its id', { order: { from: 'A1' } }],
    ['the order: its IBAN', { order: { fromIban: 'A1' } }],
    ['a category', { categories: [{ products: ['A0'] }, { products: ['A1'] }] }],
    ['the terms: of funds', { terms: { access: { account: 'A1' } } }],
    ['the terms: accounts', { terms: { access: { accounts: ['A1'] } } }],
    ['the terms: balances', { terms: { access: { accounts: ['A0'], balances: ['A1'] } } }],
    ['the terms: transactions', { terms: { access: { balances: ['A0'], transactions: ['A1'] } } }],
  ])('in the first event of a flow: %s', (_, event) => {
    expect(accountsIn(event).filter((each) => each !== 'A0')).toEqual(['A1']);
  });

  it.each<[string, object]>([
    ['a file: its id', { productId: 'A1' }],
    ['a table: its id', { product_id: 'A1' }],
    ['a file: the id of the bank', { accountId: 'A1' }],
    ['a table: the id of the bank', { account_id: 'A1' }],
    ['its IBAN', { iban: 'A1' }],
    ['a consent', { consents: [{ accounts: null }, { accounts: ['A1'] }] }],
    ['a consent for funds', { funds: [{ account: 7 }, { account: 'A1' }] }],
    ['a list: the id of the bank', { accounts: [{}, { accountId: 'A1' }] }],
    ['a list: the IBAN', { accounts: [{ accountId: null, iban: 'A1' }] }],
  ])('in a stored row: %s', (_, row) => {
    expect(accountsInRows([row])).toEqual(['A1']);
    expect(accountsInRows([{ kept: row }])).toEqual(isInside(row) ? ['A1'] : []);
  });

  it('also without the words around it', () => {
    expect(accountsIn({ terms: { access: { transactions: [PHONE] } } })).toEqual([PHONE, '491701234567']);
  });
});

/** Whether what the machine keeps of a customer has such a list. */
function isInside(row: object): boolean {
  return ['consents', 'funds', 'accounts'].some((name) => name in row);
}

describe('an event loses', () => {
  const paid = { type: 'execute-unanswered', description: 'The bank does not say' };
  it.each<[string, object, object]>([
    ['the links of the bank', { links: { approach: null, redirect: 'https://x' } }, {}],
    ['what the bank says', { messages: ['Dear Anna'] }, {}],
    ['what ties the return of the browser to it', { returnState: 's' }, {}],
    ['what the bank has granted', { access: { accounts: [{ iban: OWN }] } }, {}],
    ['the person', { psuId: 'anna' }, {}],
    [
      'what the bank says beside its words',
      { bank: { transactionStatus: 'RJCT', scaStatus: null, messages: ['Dear Anna'] } },
      { bank: { transactionStatus: 'RJCT', scaStatus: null } },
    ],
  ])('%s, and nothing else', (_, more, kept) => {
    expect(pseudonymisedEvent({ ...paid, ...more }, nameOf)).toStrictEqual({ ...paid, ...kept });
  });

  it("the payee's own reference, which may name the customer", () => {
    const creditorReference = { reference: 'RF18539007547034', type: 'SCOR', issuer: 'ISO' };
    const event = { ...created, order: { ...created.order, creditorReference } };
    expect(pseudonymisedEvent(event, nameOf)).toEqual(pseudonymisedEvent(created, nameOf));
    expect(JSON.stringify(pseudonymisedLine(batchLine({ creditorReference }), nameOf))).not.toMatch(/RF18/);
  });
});

it('empty texts and what is no text are no accounts of stored rows', () => {
  expect(
    accountsInRows([
      { productId: '', accountId: 7, iban: null, consents: 'x' },
      { accounts: [null, { accountId: '', iban: 'IT1' }] },
      { kept: { consents: [{ accounts: [7, '', 'A1'] }, 'x'], accounts: 'y' } },
      { kept: ['A2'] },
      [{ iban: 'IT2' }],
    ]),
  ).toEqual(['IT1', 'A1']);
});

it("an initiation loses its body and the return of the customer's browser", () => {
  const initiation = {
    ...{ service: 'payments', product: 'sepa-credit-transfers', endToEndId: 'R-1', body: '{"name":"Anna"}' },
    ...{ returnAddress: 'https://tpp.example/back?state=s', returnState: 's', repeatMinutes: null },
    ...{ needsLink: true, executesWithoutSca: 'never' },
  };
  const event = pseudonymisedEvent({ ...created, commits: 'by the customer', initiation }, nameOf);
  expect(event).toMatchObject({
    initiation: { ...initiation, body: '', returnAddress: '', returnState: '' },
  });
  expect(transferEvent.safeParse(event).success).toBe(true);
  expect(pseudonymisedEvent({ type: 'created', initiation: 'x' }, nameOf)).toMatchObject({ initiation: 'x' });
});

it("the bank's and the operator's own data loses all text that is no fact, whatever its form", () => {
  const kept = (data: unknown) => Object(pseudonymisedEvent({ type: 'further-data', data }, nameOf)).data;
  expect(kept(['no JSON', '"text"', '7', '["a",1]', '{"a":{"amount":{"b":"5.00"}},"c":["d"]}'])).toEqual([
    ...['{}', '""', '7', '["",1]', '{"a":{"amount":{"b":"5.00"}},"c":[""]}'],
  ]);
  expect(kept([7, null, { amount: '5.00' }])).toEqual(['{}', '{}', '{}']);
  // What is kept under a name that is no fact is an id of psd2 or of the bank.
  const facts = {
    ...{ reference: '1000001', cro: '1000001', flow: '1000001', resourceId: '1000001' },
    ...{ transactionId: '1000001', endToEndId: '1000001', data: '1000001', amount: '1000001' },
  };
  expect(kept([JSON.stringify(facts)])).toEqual([JSON.stringify(facts)]);
  expect(kept([JSON.stringify({ iban: 'IT60X0542811101000000123456', reference: 7, cro: ['a'] })])).toEqual([
    JSON.stringify({ iban: 'p-iban', reference: 7, cro: [''] }),
  ]);
  expect(kept('text')).toBe('text');
});

it('an event whose order is damaged stays as readable as it was', () => {
  const order = { description: 7, to: 7, data: 7, name: 'Ada' };
  expect(pseudonymisedEvent({ type: 'created', order }, nameOf)).toEqual({ type: 'created', order });
  const unnamed = { to: 'IT60X0542811101000000123456' };
  expect(pseudonymisedEvent({ type: 'created', order: unnamed }, nameOf)).toEqual({
    ...{ type: 'created', order: { to: 'p-iban' } },
  });
});

it.each([
  ['/x/10 and 10', '/x/p-10 and 10'],
  ['/a', '/p-a'],
  ['a/', 'a/'],
  ['(1000001)', '(p-customer)'],
  ['1000001.', 'p-customer.'],
  ['/1000001.', '/p-customer.'],
])('a short word goes only as a part of a path: %s', (description, kept) => {
  const short: NameOf = (word) => nameOf(word) ?? (['10', 'a'].includes(word) ? `p-${word}` : undefined);
  const event = { type: 'execute-unanswered', description };
  expect(pseudonymisedEvent(event, short)).toEqual({ ...event, description: kept });
});

describe('a line of a batch', () => {
  const address = {
    ...{ country: 'IT', townName: 'Roma', postCode: null, streetName: null, buildingNumber: null, lines: [] },
  };
  const line = batchLine({
    ...{ customer: '1000001', from: parseProductId('0010482620'), description: 'rent of Anna', address },
    fromIban: parseSepaIban('IT60X0542811101000000123456'),
    iban: parseSepaIban('DE89370400440532013000'),
  });
  const LOST = { fromIban: null, description: '', address: null };
  const names: NameOf = (word) => (word === '0010482620' ? '0099999999' : nameOf(word));

  it('keeps what is paid to whom, and loses the customer, their account and their words', () => {
    expect(pseudonymisedLine(line, names)).toEqual({
      ...{ ...line, ...LOST, customer: 'p-customer', from: '0099999999' },
    });
  });

  it('keeps what belongs to nobody who is forgotten', () => {
    const other = { ...line, customer: '2000002', from: parseProductId('0000000001') };
    expect(pseudonymisedLine(other, names)).toEqual({ ...other, ...LOST });
    const none = { ...line, customer: null, from: null };
    expect(pseudonymisedLine(none, names)).toEqual({ ...none, ...LOST });
  });

  it('to an account of their own loses the payee too', () => {
    const own: NameOf = (word) => (word === line.iban ? 'IT60X0542811101000000123456' : undefined);
    expect(pseudonymisedLine(line, own)).toMatchObject({
      ...{ iban: 'IT60X0542811101000000123456', name: 'IT60X0542811101000000123456' },
    });
  });

  it('has no account if its pseudonym cannot be one', () => {
    const wrong: NameOf = (word) => (word === '0010482620' ? 'no account\u0000' : undefined);
    expect(pseudonymisedLine(line, wrong).from).toBe('0010482620');
  });
});
