import { describe, expect, it } from 'vitest';
import { coverageOf, lackingIn, namesInAccess } from '../../../src/commands/consent/coverage.ts';
import {
  givenTerms,
  readFundsTerms,
  readTerms,
  type TermsOptions,
} from '../../../src/commands/consent/linked-terms.ts';
import type { Consent } from '../../../src/domain/consent.ts';
import { Psd2Error } from '../../../src/errors.ts';

const NONE: TermsOptions = {
  ...{ account: [], allAccounts: false, listOnly: false, balances: false, transactions: false },
  ...{ once: false, paste: false },
};
/** What comes from standard input, and the time. */
const CONTEXT = {
  readStdin: async () => '5254 1200-0000 3241\n',
  world: { now: () => new Date('2026-11-27T10:00:00Z') },
};
const [ONE, OTHER] = ['DE89370400440532013000', 'FR1420041010050500013M02606'];

/** Terms for these accounts, of which balances and transactions may be read of all by default. */
const dedicated = (accounts: string[], balances = accounts, transactions = accounts) => ({
  access: { type: 'dedicated' as const, accounts, balances, transactions },
});
const chosen = (balances: boolean, transactions: boolean) => ({
  access: { type: 'bank-offered' as const, balances, transactions },
});
const CARDS = ['maskedPan:525412******3241', `${ONE}:EUR`];

describe('the terms that the operator chooses', () => {
  it.each<[Partial<TermsOptions>, object]>([
    [{}, {}],
    [{ allAccounts: true }, { access: { type: 'all-accounts' } }],
    [{ listOnly: true }, { access: { type: 'list-only' } }],
    [{ balances: true }, chosen(true, false)],
    [{ transactions: true }, chosen(false, true)],
    [{ balances: true, transactions: true }, chosen(true, true)],
    [{ account: [ONE, 'DE89 3704 0044 0532 0130 00', OTHER] }, dedicated([ONE, OTHER])],
    [{ account: [ONE], balances: true }, dedicated([ONE], [ONE], [])],
    [{ account: [ONE], transactions: true }, dedicated([ONE], [], [ONE])],
    [{ validUntil: '2027-03-31' }, { validUntil: '2027-03-31' }],
    [{ frequency: '4' }, { frequencyPerDay: 4 }],
    [{ frequency: '9999' }, { frequencyPerDay: 9999 }],
    [{ account: ['maskedPan:525412******3241', `${ONE}:eur`] }, dedicated(CARDS)],
    [{ account: ['pan:-:eur'] }, dedicated(['pan:5254120000003241:EUR'])],
    [{ once: true }, { recurring: false }],
  ])('%j means %j', async (options, terms) => {
    expect(await readTerms(CONTEXT, { ...NONE, ...options })).toEqual(terms);
  });

  const CHOOSE = { hint: 'Choose one.' };
  const BANK_DECIDES = { hint: 'The bank decides what such a consent covers.' };
  const WITH_READINGS = 'cannot be used with --balances or --transactions';
  const TWO = '--all-accounts and --list-only cannot be used together';
  const ALL_AND_LIST = { allAccounts: true, listOnly: true };
  it.each<[Partial<TermsOptions>, string, object]>([
    [{ account: [ONE], allAccounts: true }, '--account and --all-accounts cannot be used together', CHOOSE],
    [ALL_AND_LIST, TWO, CHOOSE],
    [{ account: [ONE], ...ALL_AND_LIST }, `--account and ${TWO}`, CHOOSE],
    [{ allAccounts: true, balances: true }, `--all-accounts ${WITH_READINGS}`, BANK_DECIDES],
    [{ listOnly: true, transactions: true }, `--list-only ${WITH_READINGS}`, BANK_DECIDES],
    [{ once: true, frequency: '1' }, '--once is for one reading, so it cannot be used with --frequency', {}],
  ])('%j is refused: %s', async (options, message, advice) => {
    await expect(readTerms(CONTEXT, { ...NONE, ...options })).rejects.toThrow(
      new Psd2Error('usage', message, advice),
    );
  });

  it.each(['0', '', '01', '-1', '1.5', 'x4', '4x', '10000'])('%j a day is no number', async (frequency) => {
    await expect(readTerms(CONTEXT, { ...NONE, frequency })).rejects.toThrow(
      new Psd2Error('usage', `--frequency ${JSON.stringify(frequency)} is not a number of readings a day`, {
        hint: 'Give a whole number from 1. Most banks allow 4.',
      }),
    );
  });

  it.each<[Partial<TermsOptions>, string]>([
    [{ account: ['DE00'] }, 'invalid_iban'],
    [{ validUntil: '2027-02-30' }, 'invalid_date'],
  ])('%j is refused', async (options, code) => {
    await expect(readTerms(CONTEXT, { ...NONE, ...options })).rejects.toMatchObject({ code });
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

describe('a consent for confirmations of funds', () => {
  it.each<[Partial<TermsOptions>, object]>([
    [{ account: [ONE] }, {}],
    [{ account: ['pan:-'] }, { account: 'pan:5254120000003241' }],
    [
      {
        ...{ account: [ONE], cardNumber: '-', cardExpiryDate: '2026-11-27' },
        ...{ cardInformation: ' Gold ', registrationInformation: '5254120000003017' },
      },
      {
        ...{ cardNumber: '5254120000003241', cardExpiryDate: '2026-11-27' },
        ...{ cardInformation: 'Gold', registrationInformation: '5254120000003017' },
      },
    ],
    [{ account: [ONE], cardNumber: '525412******3241' }, { cardNumber: '525412******3241' }],
  ])('%j is for %j', async (options, access) => {
    expect(await readFundsTerms(CONTEXT, { ...NONE, ...options })).toEqual({
      access: { type: 'funds', account: ONE, ...access },
    });
  });

  const FULL = '5254121234563241';
  it.each<[Partial<TermsOptions>, RegExp]>([
    [{}, /^A consent for confirmations of funds is for one account$/],
    [{ account: [ONE, OTHER] }, /is for one account$/],
    [{ account: [ONE], once: true }, /^A consent for confirmations of funds has no --once$/],
    [{ account: [ONE], validUntil: '2027-01-01' }, /has no --valid-until$/],
    [{ account: ['pan:-'], cardNumber: '-' }, /^Only one number can come from standard input$/],
    [{ account: [ONE], cardNumber: '5254 1200 0000 3241' }, /^psd2 does not take a full card number/],
    [{ account: [ONE], cardNumber: '' }, /^--card-number is not the number of a card$/],
    [{ account: [ONE], cardExpiryDate: '2026-11-26' }, /^The card has expired on 2026-11-26$/],
    [{ account: [ONE], cardInformation: '5254-1200.0000 3241' }, /^--card-information seems to contain a /],
    [{ account: [ONE], cardInformation: 'Gold 5254121234563241' }, /^--card-information seems to contain/],
    [{ account: [ONE], registrationInformation: FULL }, /^--registration-information seems to contain/],
    [{ account: [ONE], cardInformation: 'x'.repeat(141) }, /^--card-information is empty, longer than 140/],
    [{ account: [ONE], registrationInformation: ' ' }, /^--registration-information is empty/],
  ])('%j is refused: %s', async (options, message) => {
    await expect(readFundsTerms(CONTEXT, { ...NONE, ...options })).rejects.toThrow(message);
    await expect(readFundsTerms(CONTEXT, { ...NONE, ...options })).rejects.not.toThrow(/5254 ?1200/);
  });

  it('has options that no other consent has', async () => {
    await expect(readTerms(CONTEXT, { ...NONE, cardNumber: '3241' })).rejects.toThrow(
      'A consent for the account information of a customer has no --card-number',
    );
  });
});

describe('what a consent covers', () => {
  type Asked = Pick<Consent, 'terms'>;
  const CARD = '525412******3241';
  const all = ['accounts', 'balances', 'transactions'];

  /** A consent for which the operator asked for this. */
  const asking = (terms: NonNullable<Consent['terms']> = {}): Asked => ({ terms });
  const BALANCES = ['accounts', 'balances'];
  const TRANSACTIONS = ['accounts', 'transactions'];
  const covers = (accounts: string[] | null, reads = all) => ({ accounts, reads });
  const noCards = (accounts: string[], reads = all) => ({ accounts, reads, cards: 'none' });

  it.each<[string, Asked, object]>([
    ['nothing said', asking(), covers(null)],
    ['the list alone', asking({ access: { type: 'list-only' } }), covers(null, ['accounts'])],
    ['all accounts', asking({ access: { type: 'all-accounts' } }), covers(null)],
    ['balances of what the customer chooses', asking(chosen(true, false)), covers(null, BALANCES)],
    ['transactions of what the customer chooses', asking(chosen(false, true)), covers(null, TRANSACTIONS)],
    ['accounts', asking(dedicated([ONE, OTHER])), noCards([ONE, OTHER])],
    ['balances of an account', asking(dedicated([ONE], [ONE, OTHER], [])), noCards([ONE, OTHER], BALANCES)],
    ['transactions of an account', asking(dedicated([ONE], [], [ONE])), noCards([ONE], TRANSACTIONS)],
    ['a card', asking(dedicated([ONE, CARD])), covers([ONE, CARD])],
  ])('without an answer of the bank, a consent covers what was asked for: %s', (_, consent, coverage) => {
    for (const access of [null, { accounts: 'all' }, { accounts: [{ maskedPan: CARD }] }, {}])
      expect(coverageOf(consent, { access })).toEqual(coverage);
  });

  const one = [{ iban: ONE }];
  const withCard = [...one, { maskedPan: CARD }];
  const ALL_OF_ONE = { accounts: one, balances: one, transactions: one };
  const [ofOne, balancesOfOne] = [asking(dedicated([ONE])), asking(dedicated([ONE], [ONE], []))];
  const REPEATED = { accounts: [...one, { iban: OTHER }, ...one] };
  it.each<[string, Asked, Record<string, unknown>, object]>([
    ['an account for all readings', asking(dedicated([ONE, OTHER])), ALL_OF_ONE, noCards([ONE])],
    ['balances alone', ofOne, { balances: one }, noCards([ONE], BALANCES)],
    ['transactions', ofOne, { transactions: [{ iban: OTHER }] }, noCards([OTHER], TRANSACTIONS)],
    ['accounts, without a word on what may be read', ofOne, REPEATED, noCards([ONE, OTHER])],
    ['what was not asked for is not read', balancesOfOne, ALL_OF_ONE, noCards([ONE], BALANCES)],
    ['a card beside an account', ofOne, { accounts: withCard }, covers([ONE, CARD])],
    ['a card, of what the customer chose', asking(), { accounts: withCard }, covers([ONE, CARD])],
    ['an account of what the customer chose', asking(), { accounts: one }, covers([ONE])],
  ])('a consent covers what the bank says that was granted: %s', (_, consent, access, coverage) => {
    expect(coverageOf(consent, { access })).toEqual(coverage);
  });

  const TWO = { ...ALL_OF_ONE, accounts: REPEATED.accounts };
  const inEuro = (iban: string) => [{ iban, currency: 'EUR' }];
  it.each<[string, Asked, Record<string, unknown> | null, string[]]>([
    ['nothing, if all was granted', asking(dedicated([ONE])), ALL_OF_ONE, []],
    ['nothing, if the bank does not say', asking(dedicated([ONE, OTHER])), null, []],
    ['nothing, if the bank has other names', asking(dedicated([CARD])), { accounts: [{ pan: CARD }] }, []],
    [
      'nothing, if the bank names an account in another way',
      asking(dedicated([ONE])),
      { accounts: [{ iban: ONE.toLowerCase().replace(/(.{4})/g, '$1 ') }] },
      [],
    ],
    ['an account', asking(dedicated([ONE, OTHER])), ALL_OF_ONE, [OTHER]],
    ['the transactions of all', ofOne, { accounts: one, balances: one }, ['transactions']],
    [
      'a part of an account',
      asking(dedicated([ONE, OTHER], [ONE, OTHER], [ONE])),
      TWO,
      [`balances of ${OTHER}`],
    ],
    [
      'what the customer chose less',
      asking(chosen(true, true)),
      { accounts: one, transactions: one },
      ['balances'],
    ],
    [
      'an account in a currency',
      asking(dedicated([`${ONE}:USD`, `${ONE}:EUR`])),
      { accounts: inEuro(ONE) },
      [`${ONE}:USD`],
    ],
  ])('a granted consent lacks %s', (_, consent, access, lacking) => {
    const granted = { ...consent, access, grantedAt: '2026-11-21T10:00:00.000Z' };
    expect(lackingIn(granted)).toEqual(lacking);
    expect(lackingIn({ ...granted, grantedAt: null })).toEqual([]);
  });

  const PAN = { pan: 'p', bban: 'b' };
  it.each<[Record<string, unknown> | null, string[]]>([
    [null, []],
    [{}, []],
    [{ accounts: [{}] }, []],
    [{ accounts: [{ iban: ONE, maskedPan: CARD }], balances: one }, [ONE]],
    [{ transactions: [{ maskedPan: CARD, pan: 'p' }, PAN] }, [CARD, 'p']],
    [{ balances: [{ bban: 'b', msisdn: 'm' }, { msisdn: 'm' }] }, ['b', 'm']],
  ])('the bank names in %j the accounts %j', (access, names) => {
    expect(namesInAccess(access)).toEqual(names);
  });
});
