import { describe, expect, it } from 'vitest';
import { transactionsAnswerIn } from '../../../../src/bank/interfaces/nextgenpsd2/wire/accounts.ts';

// Where a value of a row in JSON may stand twice: in the row and in its details, and at two names. Each alone, both.

const AMOUNT = { transactionAmount: { amount: '-1.00', currency: 'EUR' }, bookingDate: '2026-11-20' };

/** The row with these fields. */
function rowOf(fields: object) {
  const answer = transactionsAnswerIn('Europe/Rome').parse({
    transactions: { booked: [{ ...AMOUNT, ...fields }] },
  });
  const [row, ...others] = answer.transactions?.booked ?? [];
  expect(others).toEqual([]);
  return row ?? expect.unreachable();
}
type Row = ReturnType<typeof rowOf>;

const NOTHING = [undefined, null, '', ' ', [], {}, [''], { reference: '' }];

describe.each<[string, (row: Row) => unknown, (value: string) => unknown]>([
  ['endToEndId', (row) => row.endToEndId, (value) => value],
  ['transactionId', (row) => row.transactionId, (value) => value],
  ['entryReference', (row) => row.entryReference, (value) => value],
  ['creditorName', (row) => row.creditor.name, (value) => value],
  ['debtorName', (row) => row.debtor.name, (value) => value],
  ['creditorAccount', (row) => row.creditor.account, (value) => ({ bban: value })],
  ['debtorAccount', (row) => row.debtor.account, (value) => ({ other: { identification: value } })],
  ['remittanceInformationUnstructured', (row) => row.remittance, (value) => value],
  [
    'remittanceInformationStructured',
    (row) => row.facts.remittanceStructured,
    (value) => ({ reference: value }),
  ],
  ['additionalInformation', (row) => row.facts.additionalInformation, (value) => value],
  ['mandateId', (row) => row.facts.mandateId, (value) => value],
  ['creditorId', (row) => row.facts.creditorId, (value) => value],
  ['purposeCode', (row) => row.facts.purposeCode, (value) => value],
  ['ultimateDebtor', (row) => row.facts.ultimateDebtor, (value) => value],
  ['ultimateCreditor', (row) => row.facts.ultimateCreditor, (value) => value],
  ['returnReason', (row) => row.facts.returnReason, (value) => ({ code: value })],
  ['bankTransactionCode', (row) => row.bankTransactionCode, (value) => value],
])('the %s', (name, read, write) => {
  it('is that of the row, and of its one detail where the row has none', () => {
    const of = (own: unknown, ...details: unknown[]) =>
      read(rowOf({ [name]: own, entryDetails: details.map((detail) => ({ [name]: detail })) })) ?? null;
    const [one, two] = [write('one'), write('two')];
    expect(of(one)).toBe('one');
    // Of what the payment was for, nothing is dropped.
    expect(of(one, two)).toBe(name.startsWith('remittance') ? 'one two' : 'one');
    expect(of(one, one)).toBe('one');
    for (const nothing of NOTHING) {
      expect([nothing, of(nothing)]).toEqual([nothing, null]);
      expect([nothing, of(nothing, two)]).toEqual([nothing, 'two']);
      expect([nothing, of(one, nothing)]).toEqual([nothing, 'one']);
    }
    // Of several, each has its own.
    expect(of(undefined, one, two)).toBeNull();
    expect(of(one, two, two)).toBe('one');
  });
});

it.each<[string, string, string, (row: Row) => unknown]>([
  ['of one', 'transactionId', 'cardTransactionId', (row) => row.transactionId],
  ['of two days', 'valueDate', 'transactionDate', (row) => row.valueDate],
  [
    'of two own references',
    'customerReference',
    'paymentInformationId',
    (row) => row.facts.customerReference,
  ],
  ['of two reasons', 'returnReason', 'returnInformation', (row) => row.facts.returnReason],
])('%s: %s counts before %s', (_, first, second, read) => {
  const [one, two] = first === 'valueDate' ? ['2026-11-21', '2026-11-22'] : ['one', 'two'];
  const of = (fields: object) => read(rowOf(fields)) ?? null;
  expect(of({})).toBeNull();
  expect(of({ [first]: one })).toBe(one);
  expect(of({ [second]: two })).toBe(two);
  expect(of({ [first]: one, [second]: two })).toBe(one);
  expect(of({ [second]: two, [first]: one })).toBe(one);
  for (const nothing of [null, '', ' ']) expect(of({ [first]: nothing, [second]: two })).toBe(two);
});

it.each<[string, (row: Row) => unknown]>([
  ['remittanceInformationUnstructured', (row) => row.remittance],
  ['remittanceInformationStructured', (row) => row.facts.remittanceStructured],
])('%s and its list: all lines, each once', (name, read) => {
  const of = (one: unknown, list: unknown) => read(rowOf({ [name]: one, [`${name}Array`]: list })) ?? null;
  expect(of('one', undefined)).toBe('one');
  expect(of(undefined, ['two'])).toBe('two');
  expect(of('one', ['two'])).toBe('one two');
  expect(of('one', ['one'])).toBe('one');
  expect(of('one', ['one', 'two'])).toBe('one two');
  for (const nothing of NOTHING) expect([nothing, of(nothing, ['two'])]).toEqual([nothing, 'two']);
});

const usd = (amount: string) => ({ amount, currency: 'USD' });
it.each<[object, object]>([
  [{}, {}],
  [{ originalAmount: usd('1.00') }, { originalAmount: '1.00', originalCurrency: 'USD' }],
  [{ instructedAmount: usd('2.00') }, { originalAmount: '2.00', originalCurrency: 'USD' }],
  [
    { currencyExchange: { instructedAmount: usd('3.00') } },
    { originalAmount: '3.00', originalCurrency: 'USD' },
  ],
  [{ originalAmount: usd('1.00'), instructedAmount: usd('2.00') }, { originalAmount: '1.00' }],
  [
    { currencyExchange: { instructedAmount: usd('3.00') }, instructedAmount: usd('2.00') },
    { originalAmount: '2.00' },
  ],
  [
    { currencyExchange: [{ instructedAmount: usd('3.00') }, { instructedAmount: usd('4.00') }] },
    { originalAmount: '3.00' },
  ],
  [
    { currencyExchange: { exchangeRate: '1.1', sourceCurrency: 'USD', targetCurrency: 'EUR' } },
    { exchangeRate: '1.1', originalCurrency: 'USD' },
  ],
  [
    { currencyExchange: { exchangeRate: '1.1', sourceCurrency: 'EUR', targetCurrency: 'USD' } },
    { exchangeRate: '1.1', originalCurrency: 'USD' },
  ],
  [{ markupFee: usd('1.00') }, { feeAmount: '1.00', feeCurrency: 'USD' }],
  [{ transactionFees: usd('2.00') }, { feeAmount: '2.00', feeCurrency: 'USD' }],
  [{ transactionFees: usd('2.00'), markupFee: usd('1.00') }, { feeAmount: '1.00' }],
])('the money of %j', (fields, facts) => {
  const read = rowOf(fields).facts;
  expect(read).toMatchObject(facts);
  if (Object.keys(facts).length === 0) expect(read).toEqual({});
});

it.each<[object, string | null, string | null]>([
  [{}, null, null],
  [{ iban: 'DE89370400440532013000' }, 'DE89370400440532013000', null],
  [{ bban: 'b' }, null, 'b'],
  [{ maskedPan: '123456****1234' }, null, '123456****1234'],
  [{ pan: '4111111111111111' }, null, '************1111'],
  [{ msisdn: '+49' }, null, '+49'],
  [{ other: { identification: 'o' } }, null, 'o'],
  [{ other: { identification: 'o' }, msisdn: '+49' }, null, '+49'],
  [{ msisdn: '+49', pan: '4111111111111111' }, null, '************1111'],
  [{ pan: '4111111111111111', maskedPan: '123456****1234' }, null, '123456****1234'],
  [{ maskedPan: '123456****1234', bban: 'b' }, null, 'b'],
  [{ bban: 'b', iban: 'DE89370400440532013000' }, 'DE89370400440532013000', 'b'],
  [{ iban: '', bban: 'b' }, null, 'b'],
  [{ bban: '', other: { identification: 'o' } }, null, 'o'],
])('the account %j is the IBAN %j and the number %j', (account, iban, number) => {
  for (const side of ['creditor', 'debtor'] as const)
    expect(rowOf({ [`${side}Account`]: account })[side]).toEqual({ name: null, iban, account: number });
});
