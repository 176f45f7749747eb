import { describe, expect, it } from 'vitest';
import { pagesOf } from '../../../../../src/bank/interfaces/nextgenpsd2/readings/transactions.ts';
import type { Transaction } from '../../../../../src/bank/ports/bank.ts';
import type { ConsentSource } from '../../../../../src/bank/ports/call.ts';
import { failureOf, said, scriptedCalls, TRANSACTION_ID } from '../scripted.ts';

// Whether money came in or went out, who is the other side, and what the payments of a batch have of it.

const OWN = 'DE89370400440532013000';
const OTHER = 'DE02100100109307118603';
const NUMBER = '370400440532013000';

async function rowOf(row: object, amounts: 'signed' | 'unsigned' = 'unsigned', own: string | null = OWN) {
  const consents: ConsentSource = {
    for: async () => ({ consentId: 'c1', reads: ['transactions'] }),
    ibanOf: () => own,
  };
  const answer = said({ transactions: { booked: [row] } });
  const { calls } = scriptedCalls([answer], { accounts: { cards: 'never', amounts } }, consents);
  const query = { customerId: 'shop', productId: 'a1', from: undefined, to: undefined, status: undefined };
  const rows: Transaction[] = [];
  for await (const { booked } of pagesOf(calls, { ...query, transactionId: TRANSACTION_ID }))
    rows.push(...(booked?.rows ?? []));
  return rows[0];
}

const of = (amount: string, more: object = {}) => ({
  ...{ transactionAmount: { amount, currency: 'EUR' }, bookingDate: '2026-11-20', ...more },
});
const creditor = (more: object) =>
  Object.fromEntries(Object.entries(more).map(([name, value]) => [`creditor${name}`, value]));
const debtor = (more: object) =>
  Object.fromEntries(Object.entries(more).map(([name, value]) => [`debtor${name}`, value]));
const [ownIban, ownNumber, otherIban] = [
  { Account: { iban: OWN } },
  { Account: { bban: NUMBER } },
  { Account: { iban: OTHER } },
];
const named = { Name: 'Shop' };

describe('an amount without a sign', () => {
  it.each<[string, object]>([
    ['the account is the debtor, by its IBAN', debtor(ownIban)],
    ['the account is the debtor, by its number', debtor(ownNumber)],
    ['the account is the debtor, and a creditor is named', { ...debtor(ownIban), ...creditor(named) }],
    ['a creditor alone is named', creditor(named)],
    ['a creditor alone has an IBAN', creditor(otherIban)],
    ['a creditor alone has an account', creditor({ Account: { bban: '123' } })],
  ])('went out if %s', async (_, sides) => {
    expect((await rowOf(of('5.00', sides)))?.amount).toBe('-5.00');
    expect((await rowOf(of('0.00', sides)))?.amount).toBe('0.00');
    // What has a sign keeps it, and so does an amount of a bank that always writes it.
    expect((await rowOf(of('-5.00', sides)))?.amount).toBe('-5.00');
    expect((await rowOf(of('5.00', sides), 'signed'))?.amount).toBe('5.00');
  });

  it.each<[string, object]>([
    ['the account is the creditor, by its IBAN', creditor(ownIban)],
    ['the account is the creditor, by its number', creditor(ownNumber)],
    ['the account is the creditor, and a debtor is named', { ...creditor(ownIban), ...debtor(named) }],
    ['a debtor alone is named', debtor(named)],
    ['a debtor alone has an IBAN', debtor(otherIban)],
    ['a debtor alone has an account', debtor({ Account: { bban: '123' } })],
  ])('came in if %s', async (_, sides) => {
    expect((await rowOf(of('5.00', sides)))?.amount).toBe('5.00');
    expect((await rowOf(of('-5.00', sides)))?.amount).toBe('-5.00');
  });

  it.each<[string, object]>([
    ['nobody is named', {}],
    ['both are others', { ...creditor(named), ...debtor(otherIban) }],
    ['the account is both', { ...creditor(ownIban), ...debtor(ownNumber) }],
  ])('is not guessed if %s', async (_, sides) => {
    expect(await failureOf(rowOf(of('5.00', sides)))).toEqual({
      code: 'bank_answer',
      message:
        'A transaction of 5.00 EUR names neither its debtor nor its creditor, so it does not say whether money came in or went out',
      hint: 'accounts.amounts of the bank file says that amounts have no sign.',
    });
    expect((await rowOf(of('5.00', sides), 'signed'))?.amount).toBe('5.00');
  });

  it('says nothing by the IBAN of an account that nobody knows', async () => {
    expect((await rowOf(of('5.00', creditor(ownIban)), 'unsigned', null))?.amount).toBe('-5.00');
    expect(
      await failureOf(rowOf(of('5.00', { ...creditor(ownIban), ...debtor(named) }), 'unsigned', null)),
    ).toMatchObject({ code: 'bank_answer' });
  });
});

describe('the other side', () => {
  const [SHOP, ANN] = [creditor({ Name: 'Shop' }), debtor({ Name: 'Ann' })];
  it.each<[string, string, object, string | null]>([
    ['of what was paid, the creditor', '-1', { ...SHOP, ...ANN }, 'Shop'],
    ['of what came in, the debtor', '1', { ...SHOP, ...ANN }, 'Ann'],
    ['of what was paid, the debtor if no creditor is named', '-1', ANN, 'Ann'],
    ['of what came in, the creditor if no debtor is named', '1', SHOP, 'Shop'],
    ['nobody, if no one is named', '1', {}, null],
    ['not the account, in either place', '-1', { ...SHOP, ...creditor(ownIban), ...debtor(ownNumber) }, null],
    ['not the account, but who else is named', '-1', { ...SHOP, ...creditor(ownNumber), ...ANN }, 'Ann'],
    [
      'not the account by its number, of what came in',
      '1',
      { ...ANN, ...debtor(ownNumber), ...SHOP },
      'Shop',
    ],
    ['who has another IBAN, whatever the number', '-1', { ...SHOP, ...creditor(otherIban) }, 'Shop'],
    [
      'who has the start of the number',
      '-1',
      { ...SHOP, ...creditor({ Account: { bban: '3704' } }) },
      'Shop',
    ],
  ])('is %s', async (_, amount, sides, name) => {
    const row = await rowOf(of(amount, sides), 'signed');
    expect([row?.counterpartyName, row?.description]).toEqual([name, name ?? '']);
  });

  it('has a number only where it has no IBAN', async () => {
    const numbered = await rowOf(of('-1', creditor({ Account: { bban: '123' } })), 'signed');
    expect([numbered?.counterpartyIban, numbered?.counterpartyAccount]).toEqual([null, '123']);
    const named = await rowOf(of('-1', creditor(otherIban)), 'signed');
    expect(named?.counterpartyIban).toBe(OTHER);
    expect(named).not.toHaveProperty('counterpartyAccount');
  });

  it.each([
    ['an own IBAN with blanks', 'DE89 3704 0044 0532 0130 00', ownNumber, null],
    ['an unknown account', null, ownNumber, 'Shop'],
    ['an unknown account, by its IBAN', null, ownIban, 'Shop'],
  ])('at %s', async (_, own, account, name) => {
    const row = await rowOf(of('-1', { ...SHOP, ...creditor(account) }), 'signed', own);
    expect(row?.counterpartyName).toBe(name);
  });
});

describe('the payments of a batch', () => {
  const paymentsOf = async (amount: string, ...payments: object[]) =>
    (await rowOf(of(amount, { entryDetails: payments }), 'signed'))?.entryDetails;
  const euros = (amount: string) => ({ transactionAmount: { amount, currency: 'EUR' } });
  const read = (amount: string) => ({ amount, currency: 'EUR' });

  it.each<[string, string, string[], string[]]>([
    ['paid without signs', '-30', ['10', '20'], ['-10', '-20']],
    ['paid with signs', '-30', ['-10', '-20'], ['-10', '-20']],
    ['paid, of which the last has a sign', '-10', ['10', '-20'], ['10', '-20']],
    ['paid, of which the first has a sign', '-10', ['-20', '10'], ['-20', '10']],
    ['received without signs', '30', ['10', '20'], ['10', '20']],
    ['received, of which one has a sign', '10', ['20', '-10'], ['20', '-10']],
    ['paid, and one of nothing', '-10', ['0.00', '10'], ['0.00', '-10']],
  ])('%s', async (_, amount, payments, expected) => {
    expect(await paymentsOf(amount, ...payments.map(euros))).toStrictEqual(expected.map(read));
  });

  it('have the fields that they have, and no others', async () => {
    const full = {
      ...euros('10'),
      ...{ endToEndId: 'E-1', creditorName: 'Shop', creditorAccount: { iban: OTHER }, mandateId: 'M-1' },
      remittanceInformationUnstructured: 'Rent',
    };
    const numbered = { debtorAccount: { bban: '123' } };
    expect(await paymentsOf('-10', full, numbered, euros('1'))).toStrictEqual([
      {
        ...{ ...read('-10'), endToEndId: 'E-1', counterpartyName: 'Shop', counterpartyIban: OTHER },
        ...{ remittance: 'Rent', mandateId: 'M-1' },
      },
      { counterpartyAccount: '123' },
      read('-1'),
    ]);
  });

  it('name the other side by the direction of the batch, and never the account itself', async () => {
    const both = { creditorName: 'Shop', debtorName: 'Ann' };
    const own = { creditorName: 'Me', creditorAccount: { iban: OWN }, debtorName: 'Ann' };
    const names = async (amount: string) =>
      (await paymentsOf(amount, both, own))?.map(({ counterpartyName }) => counterpartyName);
    expect(await names('-10')).toEqual(['Shop', 'Ann']);
    expect(await names('10')).toEqual(['Ann', 'Ann']);
  });

  it.each([0, 1])('are none if there are fewer than two: %i', async (count) => {
    const row = await rowOf(
      of('-10', { entryDetails: Array.from({ length: count }, () => euros('10')) }),
      'signed',
    );
    expect(row).toMatchObject({ amount: '-10' });
    expect(row).not.toHaveProperty('entryDetails');
  });
});

it.each<[string, object, object]>([
  ['an internal id', { internalTransactionId: 'I-1' }, { internalTransactionId: 'I-1' }],
  [
    'a text that is its description',
    { remittanceInformationUnstructured: 'Rent' },
    { details: '', description: 'Rent' },
  ],
  [
    'a text beside a name',
    { creditorName: 'Shop', remittanceInformationUnstructured: 'Rent' },
    { details: 'Rent', description: 'Shop' },
  ],
  [
    'a reference beside a text',
    { remittanceInformationUnstructured: 'Rent', transactionDetails: 'x' },
    { remittance: 'Rent' },
  ],
])('a row with %s', async (_, more, expected) => {
  const [row, plain] = [await rowOf(of('-1', more), 'signed'), await rowOf(of('-1'), 'signed')];
  expect(row).toMatchObject(expected);
  expect(plain).not.toHaveProperty('internalTransactionId');
});
