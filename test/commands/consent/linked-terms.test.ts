import { describe, expect, it } from 'vitest';
import { givenTerms, readTerms, type TermsOptions } from '../../../src/commands/consent/linked-terms.ts';
import { Psd2Error } from '../../../src/errors.ts';

const NONE: TermsOptions = {
  ...{ account: [], allAccounts: false, listOnly: false, balances: false, transactions: false },
  ...{ once: false, paste: false },
};
const [ONE, OTHER] = ['DE89370400440532013000', 'FR1420041010050500013M02606'];

describe('the terms that the operator chooses', () => {
  it.each<[Partial<TermsOptions>, object]>([
    [{}, {}],
    [{ allAccounts: true }, { access: { type: 'all-accounts' } }],
    [{ listOnly: true }, { access: { type: 'list-only' } }],
    [{ balances: true }, { access: { type: 'bank-offered', balances: true, transactions: false } }],
    [{ transactions: true }, { access: { type: 'bank-offered', balances: false, transactions: true } }],
    [
      { balances: true, transactions: true },
      { access: { type: 'bank-offered', balances: true, transactions: true } },
    ],
    [
      { account: [ONE, 'DE89 3704 0044 0532 0130 00', OTHER] },
      {
        access: {
          ...{ type: 'dedicated', accounts: [ONE, OTHER] },
          ...{ balances: [ONE, OTHER], transactions: [ONE, OTHER] },
        },
      },
    ],
    [
      { account: [ONE], balances: true },
      { access: { type: 'dedicated', accounts: [ONE], balances: [ONE], transactions: [] } },
    ],
    [
      { account: [ONE], transactions: true },
      { access: { type: 'dedicated', accounts: [ONE], balances: [], transactions: [ONE] } },
    ],
    [
      { validUntil: '2027-03-31', frequency: '4' },
      { validUntil: '2027-03-31', frequencyPerDay: 4 },
    ],
    [{ frequency: '9999' }, { frequencyPerDay: 9999 }],
    [
      { account: ['maskedPan:525412******3241', `${ONE}:eur`], balances: true },
      {
        access: {
          ...{ type: 'dedicated', accounts: ['maskedPan:525412******3241', `${ONE}:EUR`] },
          ...{ balances: ['maskedPan:525412******3241', `${ONE}:EUR`], transactions: [] },
        },
      },
    ],
    [{ once: true }, { recurring: false }],
  ])('%j means %j', (options, terms) => {
    expect(readTerms({ ...NONE, ...options })).toEqual(terms);
  });

  const CHOOSE = { hint: 'Choose one.' };
  const BANK_DECIDES = { hint: 'The bank decides what such a consent covers.' };
  const FREQUENCY = { hint: 'Give a whole number from 1. Most banks allow 4.' };
  it.each<[Partial<TermsOptions>, string, object]>([
    [{ account: [ONE], allAccounts: true }, '--account and --all-accounts cannot be used together', CHOOSE],
    [{ allAccounts: true, listOnly: true }, '--all-accounts and --list-only cannot be used together', CHOOSE],
    [
      { account: [ONE], allAccounts: true, listOnly: true },
      '--account and --all-accounts and --list-only cannot be used together',
      CHOOSE,
    ],
    [
      { allAccounts: true, balances: true },
      '--all-accounts cannot be used with --balances or --transactions',
      BANK_DECIDES,
    ],
    [
      { listOnly: true, transactions: true },
      '--list-only cannot be used with --balances or --transactions',
      BANK_DECIDES,
    ],
    [{ once: true, frequency: '1' }, '--once is for one reading, so it cannot be used with --frequency', {}],
    ...['0', '', '01', '-1', '1.5', 'x4', '4x', '10000'].map((frequency): [object, string, object] => [
      { frequency },
      `--frequency ${JSON.stringify(frequency)} is not a number of readings a day`,
      FREQUENCY,
    ]),
  ])('%j is refused: %s', (options, message, advice) => {
    expect(() => readTerms({ ...NONE, ...options })).toThrow(new Psd2Error('usage', message, advice));
  });

  it('a wrong IBAN and a wrong day are refused', () => {
    expect(() => readTerms({ ...NONE, account: ['DE00'] })).toThrow(
      expect.objectContaining({ code: 'invalid_iban' }),
    );
    expect(() => readTerms({ ...NONE, validUntil: '2027-02-30' })).toThrow(
      expect.objectContaining({ code: 'invalid_date' }),
    );
  });
});

it.each<[Partial<TermsOptions>, string[]]>([
  [{}, []],
  [{ paste: true }, []],
  [{ account: [ONE] }, ['--account']],
  [{ listOnly: true, account: [ONE] }, ['--account', '--list-only']],
  [{ allAccounts: true, validUntil: '', once: true }, ['--all-accounts', '--once', '--valid-until']],
  [{ frequency: '4' }, ['--frequency']],
])('the options %j were given as %j', (options, given) => {
  expect(givenTerms({ ...NONE, ...options }).toSorted()).toEqual(given);
});
