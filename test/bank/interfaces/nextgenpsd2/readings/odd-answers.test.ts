import { describe, expect, it } from 'vitest';
import { consentsOf } from '../../../../../src/bank/interfaces/nextgenpsd2/consents/consents.ts';
import { accountsOf } from '../../../../../src/bank/interfaces/nextgenpsd2/readings/accounts.ts';
import type { Transaction } from '../../../../../src/bank/ports/bank.ts';
import type { ConsentSource } from '../../../../../src/bank/ports/call.ts';
import {
  aboutAnother,
  answered,
  failureOf,
  type Scripted,
  said,
  scriptedCalls,
  TRANSACTION_ID,
} from '../scripted.ts';

// Answers that are odd: what can only mean one thing is read so, what cannot be read is missing and counted, and what is about
// another account is refused.

const OWN = 'DE89370400440532013000';
const OTHER = 'DE02100100109307118603';
const consents: ConsentSource = {
  for: async () => ({ consentId: 'c1', reads: ['accounts', 'balances', 'transactions'] }),
  ibanOf: (account) => (account === 'a1' ? OWN : undefined),
};
const query = {
  ...{ customerId: 'shop', productId: 'a1', from: undefined, to: undefined },
  ...{ status: 'booked' as const, transactionId: TRANSACTION_ID },
};
const row = (more: object = {}) => ({
  ...{ transactionId: 't1', bookingDate: '2026-11-01' },
  ...{ transactionAmount: { amount: '-1.00', currency: 'EUR' } },
  ...more,
});

const amountOf = (amount: string, currency = 'EUR') => ({ transactionAmount: { amount, currency } });

const payeeAt = (creditorAccount: object) => ({ creditorAccount });

async function read(answer: Scripted) {
  const { calls, sent } = scriptedCalls([answer], {}, consents);
  const rows: Transaction[] = [];
  for await (const { booked } of accountsOf(calls).pages(query)) rows.push(...(booked?.rows ?? []));
  return { rows, unread: Object.fromEntries(calls.odd.unread), sent };
}
const readRow = async (more: object) => {
  const { rows, unread } = await read(said({ transactions: { booked: [row(more)] } }));
  return { ...rows[0], unread };
};

const LINES = ['Line one', 'Line two', 'Line three'];
const ALL_LINES = 'Line one Line two Line three';
const text = (
  remittanceInformationUnstructured: unknown,
  remittanceInformationUnstructuredArray?: unknown,
) => ({
  ...{ remittanceInformationUnstructured, remittanceInformationUnstructuredArray },
});
const references = (...list: string[]) => ({
  remittanceInformationStructured: { reference: 'RF18' },
  remittanceInformationStructuredArray: list.map((reference) => ({ reference })),
});

const exchange = (more: object) => ({ currencyExchange: [{ exchangeRate: '1.1', ...more }] });
const RATE = { exchangeRate: '1.1' };
const EXCHANGE = exchange({ instructedAmount: { amount: '14', currency: 'USD' } });
const OWN_CURRENCY = exchange({ instructedAmount: { amount: '14', currency: 'EUR' }, targetCurrency: 'USD' });
const NO_CURRENCY = exchange({ sourceCurrency: '1', targetCurrency: 'usd' });
const NO_IDS = { transactionId: null, entryReference: null, endToEndId: null, transferReference: null };
const euros = (amount: string) => ({ transactionAmount: { amount, currency: 'EUR' } });
const BATCH = {
  ...euros('-30.00'),
  entryDetails: [
    { ...euros('10.00'), endToEndId: 'A', creditorName: 'Shop', customerReference: 'P-1' },
    { ...euros('20.00'), remittanceInformationUnstructured: 'Rent' },
  ],
};
const BATCH_READ = [
  {
    ...{ amount: '-10.00', currency: 'EUR', endToEndId: 'A' },
    counterpartyName: 'Shop',
    customerReference: 'P-1',
  },
  { amount: '-20.00', currency: 'EUR', remittance: 'Rent' },
];
/** A batch of 30 euros that were paid, whose payments are of these amounts. */
const batchOf = (...amounts: string[]) => ({ ...euros('-30.00'), entryDetails: amounts.map(euros) });
const paymentsOf = (...amounts: string[]) => ({
  entryDetails: amounts.map((amount) => ({ amount, currency: 'EUR' })),
});

describe('an odd row', () => {
  it.each<[string, object, object]>([
    ['30 February', { valueDate: '2026-02-30' }, { valueDate: '2026-02-28' }],
    ['30 February of a leap year', { valueDate: '2028-02-30' }, { valueDate: '2028-02-29' }],
    ['29 February of another year', { bookingDate: '2026-02-29' }, { bookingDate: '2026-02-28' }],
    ['a day with a zone', { bookingDate: '2026-11-20+01:00' }, { bookingDate: '2026-11-20' }],
    ['a day with Z', { bookingDate: '2026-11-20Z' }, { bookingDate: '2026-11-20' }],
    ['a clock', { bookingDate: '2026-11-20T13:45:00' }, { bookingDate: '2026-11-20' }],
    ['a clock after a blank', { bookingDate: ' 2026-11-20 13:45:00.000 ' }, { bookingDate: '2026-11-20' }],
    ['midnight of another zone', { bookingDate: '2026-11-19T23:00:00Z' }, { bookingDate: '2026-11-20' }],
    ['midnight in UTC', { bookingDate: '2026-11-20T00:00:00.000Z' }, { bookingDate: '2026-11-20' }],
    ['the day first, with points', { bookingDate: '7.11.2026' }, { bookingDate: '2026-11-07' }],
    ['the day first, and a clock', { bookingDate: '27.11.2026 10:15' }, { bookingDate: '2026-11-27' }],
    ['a day that cannot be a month', { bookingDate: '27/11/2026' }, { bookingDate: '2026-11-27' }],
    ['the month first', { bookingDate: '11/27/2026' }, { bookingDate: '2026-11-27' }],
    ['the same number twice', { bookingDate: '11-11-2026' }, { bookingDate: '2026-11-11' }],
    ['the year first, with strokes', { bookingDate: '2026/11/7' }, { bookingDate: '2026-11-07' }],
    ['30 February, the day first', { valueDate: '30.02.2026' }, { valueDate: '2026-02-28' }],
    ['numbers for texts', { creditorName: 47, endToEndId: 5 }, { counterpartyName: '47', endToEndId: '5' }],
    ['an amount as a number', { transactionAmount: { amount: -1.5, currency: 'EUR' } }, { amount: '-1.5' }],
    ['a decimal comma', amountOf('-12,30', ' eur '), { amount: '-12.30', currency: 'EUR' }],
    ['marks between thousands', amountOf('1.234.567,8'), { amount: '1234567.8' }],
    ['other marks between thousands', amountOf("-1'234.50"), { amount: '-1234.50' }],
    ['a minus as wide as a plus', amountOf('\u22121\u202f234,50'), { amount: '-1234.50' }],
    ['a minus at the end', amountOf('12.30-'), { amount: '-12.30' }],
    ['zeros before an amount', amountOf('000000149.87'), { amount: '149.87' }],
    ['a negative amount with zeros', amountOf('-007'), { amount: '-7' }],
    ['zero with a minus', amountOf('-0'), { amount: '0' }],
    ['cents of it', amountOf('-00.00'), { amount: '0.00' }],
    ['no digit before the point', amountOf('-.50'), { amount: '-0.50' }],
    ['no digit after the point', amountOf('12.'), { amount: '12' }],
    ['NONREF for ids', { transactionId: 'NONREF', entryReference: ' nonref ', endToEndId: 'NONREF' }, NO_IDS],
    [
      'NONREF beside a reference',
      { remittanceInformationStructuredArray: [{ reference: 'NONREF' }, { reference: 'RF18' }] },
      { remittanceStructured: 'RF18' },
    ],
    ['an offset', { bookingDate: '2026-11-20T00:00:00+02:00' }, { bookingDate: '2026-11-20' }],
    [
      'what was ordered in another currency',
      EXCHANGE,
      { ...RATE, originalAmount: '14', originalCurrency: 'USD' },
    ],
    ['what was ordered in its own currency', OWN_CURRENCY, { ...RATE, originalCurrency: 'USD' }],
    ['a currency that is none', NO_CURRENCY, { ...RATE, originalCurrency: 'USD' }],
    [
      'a reason that is an object',
      { returnReason: { code: 'AC04', text: 'closed' } },
      { returnReason: 'AC04 closed' },
    ],
    ...[
      { reasonCode: 'AC04', reason: 'closed' },
      { returnReasonCode: 'AC04', additionalInformation: 'closed' },
      { reason: { code: 'AC04' }, text: 'closed' },
    ].map((returnInformation): [string, object, object] => [
      `a reason as ${Object.keys(returnInformation)}`,
      { returnInformation },
      { returnReason: 'AC04 closed' },
    ]),
    [
      'the one payment of an entry',
      { entryDetails: [{ endToEndId: 'E-1', creditorName: 'Shop' }] },
      { endToEndId: 'E-1', counterpartyName: 'Shop' },
    ],
    ['the payments of a batch', BATCH, { entryDetails: BATCH_READ }],
    ['their signs', batchOf('-10.00', '-20.00'), paymentsOf('-10.00', '-20.00')],
    ['their signs, and one that came back', batchOf('-40.00', '10.00'), paymentsOf('-40.00', '10.00')],
    ['one that came back first', batchOf('10.00', '-40.00'), paymentsOf('10.00', '-40.00')],
    ['its first line in a place of its own', text('Line one', LINES), { remittance: ALL_LINES }],
    ['a line that is not in the list', text('Other', LINES), { remittance: `${ALL_LINES} Other` }],
    [
      'all lines in one',
      text('Line one Line twoLine three', LINES),
      { remittance: 'Line one Line twoLine three' },
    ],
    ['the same line twice', text(null, ['a', 'a']), { remittance: 'a a' }],
    ['two references', references('RF18', 'RF19'), { remittanceStructured: 'RF18 RF19' }],
    ['another reference in the list', references('RF19'), { remittanceStructured: 'RF18 RF19' }],
    [
      'a text of its own, and one of its payment',
      { ...text('One'), entryDetails: [text('Two', LINES)] },
      { remittance: `${ALL_LINES} One Two` },
    ],
    ['an IBAN with blanks', payeeAt({ iban: 'de02 1001 0010 9307 1186 03' }), { counterpartyIban: OTHER }],
    ['blanks', { creditorName: '  Shop ' }, { counterpartyName: 'Shop' }],
    ['new members', { news: { a: 1 }, ...payeeAt({ iban: OTHER, kind: 7 }) }, { counterpartyIban: OTHER }],
    ['nothing for an account', { creditorAccount: {}, debtorAccount: null }, { counterpartyIban: null }],
  ])('with %s is read', async (_, more, expected) => {
    const { unread, ...read } = await readRow(more);
    expect(unread).toEqual({});
    expect(read).toMatchObject(expected);
  });

  it.each<[object, object]>([
    [exchange({ sourceCurrency: 'ABC', targetCurrency: 'EUR' }), RATE],
    [{ originalAmount: { amount: '14', currency: 'ABC' } }, { originalAmount: '14' }],
    [
      { originalAmount: { amount: '14', currency: 'ABC' }, ...exchange({ targetCurrency: 'USD' }) },
      { originalCurrency: 'USD' },
    ],
  ])('with %j has no original currency that is none', async (more, expected) => {
    const read = await readRow(more);
    expect({ originalCurrency: undefined, ...read }).toMatchObject({
      originalCurrency: undefined,
      ...expected,
    });
  });

  it.each(['mandateId', 'creditorId', 'customerReference', 'remittanceInformationStructured'])(
    'with NONREF as its %s has none',
    async (name) => {
      const read = await readRow({ [name]: ' NonRef', purposeCode: 'SALA' });
      expect(read).toMatchObject({ purposeCode: 'SALA', remittance: null, unread: {} });
      expect(read).not.toHaveProperty(name.replace('Information', ''));
    },
  );

  const SOON = { bookingDate: 'soon', valueDate: '2026-11-02' };
  const TWO_WRONG = { purposeCode: [], mandateId: {}, creditorId: { a: 1 }, ultimateDebtor: true };
  it('that cannot be read are counted by their fields', async () => {
    const rows = [{ mandateId: {}, creditorId: { a: 1 } }, {}, { creditorId: { a: 1 } }].map(row);
    expect((await read(said({ transactions: { booked: rows } }))).unread).toEqual({ creditorId: 2 });
  });

  it.each<[string, object, object, object]>([
    ['31 April', { valueDate: '2026-04-31' }, { valueDate: null }, { valueDate: 1 }],
    ['a flag for a day', { valueDate: true }, { valueDate: null }, { valueDate: 1 }],
    ...['0001-01-01', '1899-12-31', '2200-01-01', '9999-12-31'].map(
      (day): [string, object, object, object] => [
        `the booking day ${day}, but a value day`,
        { ...SOON, bookingDate: day },
        { ...SOON, bookingDate: null },
        { bookingDate: 1 },
      ],
    ),
    ['a wrong booking day, but a value day', SOON, { ...SOON, bookingDate: null }, { bookingDate: 1 }],
    ['31 November', { ...SOON, bookingDate: '2026-11-31' }, { bookingDate: null }, { bookingDate: 1 }],
    ['one of two days', { ...SOON, bookingDate: '05/11/2026' }, { bookingDate: null }, { bookingDate: 1 }],
    ['a month 13', { ...SOON, bookingDate: '27/13/2026' }, { bookingDate: null }, { bookingDate: 1 }],
    ['two signs', { ...SOON, bookingDate: '27.11/2026' }, { bookingDate: null }, { bookingDate: 1 }],
    ['an object for a name', { creditorName: { a: 'A' } }, { counterpartyName: null }, { creditorName: 1 }],
    ['a number for an account', { creditorAccount: [1] }, { counterpartyIban: null }, { creditorAccount: 1 }],
    ['no amount', { originalAmount: { amount: 'x', currency: 'USD' } }, {}, { originalAmount: 1 }],
    ['two of them', TWO_WRONG, {}, { creditorId: 1, ultimateDebtor: 1 }],
  ])('with %s keeps the rest, and the field is counted', async (_, more, expected, unread) => {
    expect(await readRow(more)).toMatchObject({ transactionId: 't1', ...expected, unread });
  });

  it.each([
    ['amount', amountOf('1,234'), 'transactionAmount.amount'],
    ['currency', { transactionAmount: { amount: '1.00' } }, 'transactionAmount.currency'],
    ['day', { bookingDate: 'soon' }, 'bookingDate'],
  ])('without a readable %s is refused', async (_, more, field) => {
    expect(await failureOf(readRow(more))).toMatchObject({
      code: 'bank_answer',
      message: expect.stringContaining(`has no usable transactions.booked.0.${field}`),
    });
  });

  it.each([
    ['null', null, 0],
    ['one row without the list', row(), 1],
  ])('the list can be %s', async (_, booked, rows) => {
    expect((await read(said({ transactions: { booked } }))).rows).toHaveLength(rows);
  });
});

describe('what a person needs of a row', () => {
  const DEBIT = {
    ...{ mandateId: 'M-1', creditorId: 'DE98ZZZ09999999999', purposeCode: 'SALA' },
    ...{ ultimateDebtor: 'Ann', ultimateCreditor: 'Bob' },
  };
  const EXCHANGE = { sourceCurrency: 'EUR', targetCurrency: 'USD' };
  const BOUGHT = {
    originalAmount: { amount: '-10.00', currency: 'USD' },
    currencyExchange: [{ ...EXCHANGE, exchangeRate: '1.0842', unitCurrency: 'EUR' }],
  };
  const PAID = { originalAmount: '-10.00', originalCurrency: 'USD', exchangeRate: '1.0842' };
  const MARKUP = { markupFee: { amount: '0.35', currency: 'EUR' } };
  const RATE = { currencyExchange: { ...EXCHANGE, exchangeRate: 0.93 } };
  it.each<[string, object, object]>([
    ['a card', { creditorAccount: { pan: '5254121234563241' } }, { counterpartyAccount: '************3241' }],
    ['a telephone', { creditorAccount: { msisdn: '+491234' } }, { counterpartyAccount: '+491234' }],
    ['a debit', DEBIT, DEBIT],
    ['another currency', BOUGHT, PAID],
    ['a fee', MARKUP, { feeAmount: '0.35', feeCurrency: 'EUR' }],
    ['a rate alone', RATE, { originalCurrency: 'USD', exchangeRate: '0.93' }],
  ])('is there: %s', async (_, more, expected) => {
    expect(await readRow(more)).toMatchObject(expected);
  });

  const CAME_IN = { ...amountOf('6'), creditorName: 'Me', ...payeeAt({ iban: OWN }) };
  const WENT_OUT = { debtorName: 'Me', debtorAccount: { iban: 'de89 3704 0044 0532 0130 00' } };
  const FROM_SHOP = { debtorName: 'Shop', debtorAccount: { iban: OTHER } };
  const NOBODY = { counterpartyName: null, counterpartyIban: null, description: '' };
  const SHOP = { counterpartyName: 'Shop', counterpartyIban: OTHER };
  it.each<[string, object, object]>([
    ['money that came in, with the holder alone', CAME_IN, NOBODY],
    ['money that went out, with the holder alone', WENT_OUT, NOBODY],
    ['the holder in the place of the payee', { ...payeeAt({ iban: OWN }), ...FROM_SHOP }, SHOP],
    ['no word on whose account it is', { creditorName: 'Shop' }, { counterpartyName: 'Shop' }],
  ])('names no holder as the other side: %s', async (_, more, expected) => {
    expect(await readRow(more)).toMatchObject(expected);
  });
});

describe('what a row may say in several places', () => {
  const usd = (amount: string) => ({ amount, currency: 'USD' });
  const paid = (amount: string) => ({ originalAmount: amount, originalCurrency: 'USD' });
  const fee = (amount: string) => ({ feeAmount: amount, feeCurrency: 'USD' });
  const IN_EXCHANGE = { currencyExchange: { instructedAmount: usd('3') } };
  const at = (account: object, counterpartyAccount: string | undefined): [object, object] => [
    payeeAt(account),
    { counterpartyAccount },
  ];
  const detail = (more: object) => ({ entryDetails: [more] });
  it.each<[object, object]>([
    at({ bban: '1', maskedPan: '2*', pan: '12345', msisdn: '4', other: '5' }, '1'),
    at({ maskedPan: '2*', pan: '12345', msisdn: '4', other: '5' }, '2*'),
    at({ pan: '12345', msisdn: '4', other: '5' }, '*2345'),
    at({ msisdn: '4', other: '5' }, '4'),
    at({ other: '5' }, '5'),
    at({ other: { identification: '5' } }, '5'),
    at({ bban: { identification: '1' } }, '1'),
    at({ bban: { id: '1' } }, undefined),
    at({ iban: OTHER, bban: '1' }, '1'),
    [{ originalAmount: usd('1'), instructedAmount: usd('2'), ...IN_EXCHANGE }, paid('1')],
    [{ instructedAmount: usd('2'), ...IN_EXCHANGE }, paid('2')],
    [IN_EXCHANGE, paid('3')],
    [{ currencyExchange: [{ instructedAmount: usd('3') }, { instructedAmount: usd('4') }] }, paid('3')],
    [
      exchange({ sourceCurrency: 'EUR', targetCurrency: 'USD', unitCurrency: 'GBP' }),
      { originalCurrency: 'USD' },
    ],
    [exchange({ sourceCurrency: 'GBP', targetCurrency: 'USD' }), { originalCurrency: 'GBP' }],
    [exchange({ unitCurrency: ' usd ' }), { originalCurrency: 'USD' }],
    [exchange({ sourceCurrency: 'EUR', targetCurrency: 'EUR' }), { originalCurrency: undefined }],
    [{ markupFee: usd('1'), transactionFees: usd('2') }, fee('1')],
    [{ transactionFees: usd('2') }, fee('2')],
    [{ customerReference: 'C', paymentInformationId: 'P' }, { customerReference: 'C' }],
    [{ paymentInformationId: 'P' }, { customerReference: 'P' }],
    [{ customerReference: 'NONREF', paymentInformationId: 'P' }, { customerReference: 'P' }],
    [{ returnReason: 'R', returnInformation: 'I' }, { returnReason: 'R' }],
    [{ returnInformation: 'I' }, { returnReason: 'I' }],
    [{ returnReason: { proprietary: 'OWN' } }, { returnReason: 'OWN' }],
    [{ returnReason: { code: 'AC04', proprietary: 'OWN' } }, { returnReason: 'AC04' }],
    [{ returnReason: { reason: { code: 'AC04', text: 'a' }, text: 'b' } }, { returnReason: 'AC04 a b' }],
    [{ returnReason: { returnReasonCode: 'A', reasonCode: 'B' } }, { returnReason: 'B' }],
    [{ returnReason: {} }, { returnReason: undefined }],
    [{ transactionId: 'T', cardTransactionId: 'K' }, { transactionId: 'T' }],
    [{ transactionId: ' ', cardTransactionId: 'K' }, { transactionId: 'K' }],
    // What only its one detail says; what both say is that of the row.
    [
      { creditorName: 'Row', ...detail({ creditorName: 'Detail', mandateId: 'M' }) },
      { counterpartyName: 'Row', mandateId: 'M' },
    ],
    [{ creditorName: null, ...detail({ creditorName: 'Detail' }) }, { counterpartyName: 'Detail' }],
    [{ creditorName: ' ', ...detail({ creditorName: 'Detail' }) }, { counterpartyName: 'Detail' }],
    [{ creditorAccount: {}, ...detail({ creditorAccount: { iban: OTHER } }) }, { counterpartyIban: OTHER }],
    [{ entryDetails: { creditorName: 'Detail' } }, { counterpartyName: 'Detail', entryDetails: undefined }],
    [{ entryDetails: ['x', { creditorName: 'Detail' }, null] }, { counterpartyName: 'Detail' }],
    [{ entryDetails: [] }, { counterpartyName: null, entryDetails: undefined }],
    [{ entryDetails: 'x' }, { counterpartyName: null, entryDetails: undefined }],
    [{ ...text('a'), ...detail(text('b')) }, { remittance: 'a b' }],
    [{ ...text('a'), ...detail(text('a')) }, { remittance: 'a' }],
    [text('ab', ['a', 'b']), { remittance: 'ab' }],
    [{ ...text(['a', 'b']), ...detail(text('ab')) }, { remittance: 'ab' }],
    [{ ...text('ab'), ...detail(text(['a', 'b'])) }, { remittance: 'ab' }],
    [{ ...text('a b'), ...detail(text(['a', 'b'])) }, { remittance: 'a b' }],
    [{ ...text(['a', 'b', 'c']), ...detail(text(['ab', 'c'])) }, { remittance: 'ab c' }],
    [text('a', ['a', 'b', 'c']), { remittance: 'a b c' }],
    [text('d', ['a', 'b']), { remittance: 'a b d' }],
  ])('%j: %j', async (more, expected) => {
    const { unread, ...read } = await readRow(more);
    const names = Object.keys(expected);
    const found = new Map<string, unknown>(Object.entries(read));
    expect(unread).toEqual({});
    expect(Object.fromEntries(names.map((name) => [name, found.get(name)]))).toEqual(expected);
  });

  it.each<[object, string]>([
    [{ currencyExchange: { sourceCurrency: 'USD' } }, 'currencyExchange'],
    [{ currencyExchange: 'x' }, 'currencyExchange'],
    [{ currencyExchange: [], originalAmount: 'x' }, 'originalAmount'],
    [{ transactionFees: { amount: '1' } }, 'transactionFees'],
    [{ returnReason: true }, 'returnReason'],
    [{ transactionDate: 'x' }, 'transactionDate'],
    [{ remittanceInformationUnstructured: { a: 1 } }, 'remittanceInformationUnstructured'],
    [{ remittanceInformationStructuredArray: [{ a: 1 }] }, 'remittanceInformationStructuredArray'],
  ])('%j cannot be read, and only that is counted', async (more, name) => {
    expect((await readRow(more)).unread).toEqual({ [name]: 1 });
  });
});

describe('an answer about another account', () => {
  const other = aboutAnother('account', OTHER, `a1 (${OWN})`);
  const transactions = (iban: unknown) => said({ account: { iban }, transactions: { booked: [row()] } });

  it('is refused', async () => {
    expect(await failureOf(read(transactions(OTHER)))).toEqual(other);
    const balances = [{ balanceType: 'closingBooked', balanceAmount: { amount: '1', currency: 'EUR' } }];
    const { calls } = scriptedCalls([said({ account: { iban: OTHER }, balances })], {}, consents);
    expect(await failureOf(accountsOf(calls).balance('shop', 'a1', TRANSACTION_ID))).toEqual(other);
    const details = scriptedCalls([said({ account: { iban: OTHER } })], {}, consents).calls;
    const of = { what: 'product', customerId: 'shop', productId: 'a1' } as const;
    expect(await failureOf(accountsOf(details).details(of, TRANSACTION_ID))).toEqual(other);
  });

  it.each(['de89 3704 0044 0532 0130 00', OWN, null, 7])('%j is the account', async (iban) => {
    const read1 = await read(transactions(iban === 7 ? undefined : iban));
    expect(read1.rows).toHaveLength(1);
  });

  it('is found by the list, which psd2 reads once for an account that it does not know', async () => {
    const asking = async (...list: Scripted[]) => {
      const answers = [transactions(OTHER), ...list, transactions(OTHER)];
      const script = scriptedCalls(answers, {}, { for: consents.for });
      const { list: _none, ...calls } = script.calls;
      const { fetchAccounts } = await import(
        '../../../../../src/bank/interfaces/nextgenpsd2/readings/accounts.ts'
      );
      const whole: typeof script.calls = { ...calls, list: (id) => fetchAccounts(whole, id) };
      const rows: Transaction[] = [];
      for (const _reading of ['first', 'second'])
        for await (const { booked } of accountsOf(whole).pages(query)) rows.push(...(booked?.rows ?? []));
      return rows.length;
    };
    const noCards = said({ cardAccounts: [] });
    const listed = (resourceId: string) => said({ accounts: [{ resourceId, iban: OWN }] });
    expect(await failureOf(asking(listed('a1'), noCards))).toEqual(other);
    expect(await asking(listed('a2'), noCards)).toBe(2);
    expect(await asking(said({}, 403))).toBe(2);
  });
});

describe('an answer about another currency of the IBAN', () => {
  const named = (currency: string) => `<Acct><Id><IBAN>${OWN}</IBAN></Id>${currency}</Acct>`;
  const camt = (account: string) =>
    `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><Stmt>${account}<Ntry><Amt Ccy="USD">1.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK</Sts><BookgDt><Dt>2026-11-01</Dt></BookgDt></Ntry></Stmt></BkToCstmrStmt></Document>`;
  const balance = (code: string, currency: string) =>
    `<Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp><Amt Ccy="${currency}">1</Amt><CdtDbtInd>CRDT</CdtDbtInd></Bal>`;
  const mt940 = (account: string, currency: string) =>
    `:20:X\n:25:${account}\n:28C:1\n:60F:C261101${currency}2,\n:61:261101D1,NTRFX\n:62F:C261130${currency}1,\n-`;
  const interim = (account: string, more = '') =>
    `:20:X\n:25:${account}\n${more}:13D:2611212210+0000\n:61:261101D1,NTRFX\n-`;
  const transactions = (account: object) =>
    said({ account, transactions: { booked: [row(amountOf('-1.00', 'USD'))] } }).body ?? '';
  const balances = (account: object) =>
    said({ account, balances: [{ balanceType: 'closingBooked', ...balanceOf('USD') }] });
  const balanceOf = (currency: string) => ({ balanceAmount: { amount: '1', currency } });
  const listed = (currency: string, answer: Scripted) => {
    const of: ConsentSource = { ...consents, currencyOf: () => currency };
    return accountsOf(scriptedCalls([answer], { accounts: { cards: 'never' } }, of).calls);
  };
  const countOf = async (currency: string, body: string | Buffer) => {
    let rows = 0;
    for await (const { booked, pending } of listed(currency, { body }).pages({ ...query, status: undefined }))
      rows += (booked?.rows.length ?? 0) + (pending?.rows.length ?? 0);
    return rows;
  };

  it.each<[string, string | Buffer]>([
    ['Acct/Ccy of camt', camt(named('<Ccy>USD</Ccy>'))],
    ['Acct/Ccy of camt in small letters', camt(named('<Ccy>usd</Ccy>'))],
    ['the balances of camt', camt(named('') + balance('OPBD', 'USD') + balance('CLBD', 'USD'))],
    [':25: and the balances of MT940', mt940('37040044/0532013000USD', 'USD')],
    ['the balances of MT940', mt940(OWN, 'USD')],
    [':25: of MT942', interim('37040044/0532013000USD', ':34F:USD0\n')],
    [':90D: of MT942', interim(OWN).replace(/-$/, ':90D:1USD1,\n-')],
    ['account.currency of JSON', transactions({ iban: OWN, currency: 'USD' })],
    ['account.currency of JSON without an IBAN', transactions({ currency: ' usd ' })],
  ])('by %s is refused, and is read for that currency', async (_, body) => {
    expect(await failureOf(countOf('EUR', body))).toEqual(
      aboutAnother('account', `${OWN}:USD`, `a1 (${OWN}:EUR)`),
    );
    for (const currency of ['USD', '', 'XXX']) expect(await countOf(currency, body)).toBe(1);
  });

  it.each<[string, string | Buffer]>([
    ['JSON', transactions({ iban: OWN })],
    ['JSON with no currency', transactions({ iban: OWN, currency: 'XXX' })],
    ['camt', camt(named(''))],
    ['camt with balances in both', camt(named('') + balance('OPBD', 'EUR') + balance('OPBD', 'USD'))],
  ])('is none that names no currency: %s', async (_, body) => {
    expect(await countOf('EUR', body)).toBe(1);
  });

  it.each([
    [':25:', interim('37040044/0532013000USD'), 'USD'],
    [':90D:', interim('37040044/0532013000').replace(/-$/, ':90D:1USD1,\n-'), 'USD'],
    [':90C:', interim('37040044/0532013000').replace(/-$/, ':90C:0USD0,\n-'), 'USD'],
    ['the list alone', interim('37040044/0532013000'), 'EUR'],
  ])('of MT942 with a time alone is that of %s', async (_, body, currency) => {
    const pages = listed(currency, { body }).pages({ ...query, status: undefined });
    for await (const { pending } of pages) expect(pending?.rows).toMatchObject([{ amount: '-1', currency }]);
    expect(await countOf(currency, body)).toBe(1);
  });

  it('is refused by its balances and its details', async () => {
    const other = aboutAnother('account', `${OWN}:USD`, `a1 (${OWN}:EUR)`);
    const account = { iban: OWN, currency: 'USD' };
    const balance = listed('EUR', balances(account)).balance('shop', 'a1', TRANSACTION_ID);
    expect(await failureOf(balance)).toEqual(other);
    const of = { what: 'product', customerId: 'shop', productId: 'a1' } as const;
    const details = listed('EUR', said({ account })).details(of, TRANSACTION_ID);
    expect(await failureOf(details)).toEqual(other);
  });

  it('is refused if :25: of MT940 names another than its balances', async () => {
    const body = mt940('37040044/0532013000USD', 'EUR');
    expect(await failureOf(countOf('EUR', body))).toMatchObject({
      message: expect.stringContaining('several accounts'),
    });
  });
});

describe('words in other case, and with blanks', () => {
  it.each([
    ['VALID', 'valid', 'valid'],
    [' Valid ', 'valid', 'valid'],
    ['REVOKEDBYPSU', 'revokedByPsu', 'revoked'],
  ])('%j of a consent is %s', async (consentStatus, shown, means) => {
    const { calls } = scriptedCalls([said({ consentStatus, consentId: ' c1' })]);
    expect(await consentsOf(calls).status('c1', TRANSACTION_ID)).toEqual({ consentStatus: shown, means });
  });
});

describe('the words of a refusal in another form', () => {
  const refusedWith = (answer: Scripted) =>
    failureOf(consentsOf(scriptedCalls([answer]).calls).status('c1', TRANSACTION_ID));
  it.each([
    [{ code: 400, message: 'No such scope' }, 'No such scope'],
    [{ fault: { faultstring: 'No such key', detail: { errorcode: 'x' } } }, 'No such key'],
    [{ fault: { code: 9, message: 'No access.', description: 'The key ended' } }, 'No access: The key ended'],
    [{ fault: { message: 'No access', description: 'No access to x' } }, 'No access to x'],
    [{ message: 'No access to x', description: 'No access' }, 'No access to x'],
    [{ errors: [{ code: 'X', message: 'Not offered' }] }, 'Not offered'],
    [{ error: { message: 'Not here' } }, 'Not here'],
    [{ httpCode: '400', httpMessage: 'Error', moreInformation: 'Not valid' }, 'Not valid'],
    [[{ code: 'X', message: 'In a list' }], 'In a list'],
    [{ errors: ['A text alone'] }, 'A text alone'],
    [{ messages: [{ text: 'One of some' }] }, 'One of some'],
    [{ status: 400, statusMessage: 'Beside a number' }, 'Beside a number'],
    [{ tppMessages: { category: 'ERROR', text: 'Not a list' } }, 'Not a list'],
    ['A text as JSON', 'A text as JSON'],
    [[...Array.from({ length: 19 }, () => ({})), { message: 'The twentieth' }], 'The twentieth'],
  ])('%j are shown, and decide nothing', async (body, words) => {
    const failed = await refusedWith(said(body, 400));
    expect(failed).toMatchObject({ code: 'bank_refused', message: expect.stringContaining(`: ${words}`) });
    expect(failed).not.toHaveProperty('bankCode');
  });

  it('are not looked for behind the twentieth of a list', async () => {
    const body = [...Array.from({ length: 20 }, () => ({})), { message: 'One more' }];
    expect(JSON.stringify(await refusedWith(said(body, 400)))).not.toContain('One more');
  });

  it.each([
    ['Plain words of a gateway', 'Plain words of a gateway'],
    ['<html><h1>A heading</h1></html>', 'A heading'],
    ['<soap:Fault><soap:faultstring>Of a prefix</soap:faultstring></soap:Fault>', 'Of a prefix'],
    ['<s:Fault><s:text lang="en">Of a letter</s:text></s:Fault>', 'Of a letter'],
    ['<soap:Fault><faultstring>In XML</faultstring></soap:Fault>', 'In XML'],
  ])('that is no JSON (%s) are shown', async (body, words) => {
    const failed = await refusedWith({ status: 400, headers: {}, body });
    expect(failed).toMatchObject({ message: expect.stringContaining(`: ${words}`) });
    expect(failed).not.toHaveProperty('bankCode');
  });

  it.each([
    { message: 'No access', descriptionUrl: 'the other' },
    { message: 'No access', undescribed: 'the other' },
    { messageId: 'the other', message: 'No access' },
    { newMessage: 'the other', message: 'No access' },
    { textId: 'the other', text: 'No access' },
    { oldReason: 'the other', reason: 'No access' },
    { httpMessages: 'the other', httpMessage: 'No access' },
    { myHttpMessage: 'the other', httpMessage: 'No access' },
    { httpMessage: 'the other', text: 'No access' },
    { message: 'No access', text: 'the other' },
    { info: 'the other', moreInfo: 'No access' },
    { moreInfos: 'the other', moreInfo: 'No access' },
    { message: 'No access', error: { message: 'the other' } },
    { message: 'No access', items: [{ message: 'the other' }] },
    { error: { error: { error: { error: 'No access' } } }, other: { message: 'the other' } },
  ])('are the best of several, and no other member: %j', async (body) => {
    const failed = await refusedWith(said(body, 400));
    expect(failed).toMatchObject({ message: expect.stringMatching(/: No access/) });
    expect(JSON.stringify(failed)).not.toContain('the other');
  });

  it('beside a code are shown, and the code is kept', async () => {
    expect(await refusedWith(said({ code: 'E-17', message: 'Beside a code' }, 400))).toMatchObject({
      ...{ bankCode: 'E-17', message: expect.stringContaining(': Beside a code') },
    });
  });
});

describe('the charset', () => {
  const call = { method: 'GET', path: '/v1/accounts', transactionId: TRANSACTION_ID } as const;
  const facts = { reads: null, needsConsent: false, login: false };

  it('that was not declared makes a success unusable, and lets a refusal say its code', async () => {
    const latin = (text: string, status = 200) => ({ status, body: Buffer.from(text, 'latin1') });
    expect(await failureOf(read(latin('{"transactions":{"booked":[],"_links":{"a":"ü"}}}')))).toMatchObject({
      code: 'bank_answer',
      message: expect.stringContaining('is not UTF-8, and declares no other charset'),
    });
    const { reply: refused } = await answered(
      { ...call, facts },
      latin('{"tppMessages":[{"category":"ERROR","code":"FORMAT_ERROR","text":"Ungültig"}]}', 400),
    );
    expect(refused.decided).toMatchObject({ code: 'FORMAT_ERROR', text: 'Ungültig' });
  });
});
