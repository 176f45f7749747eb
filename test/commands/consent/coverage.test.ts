import { describe, expect, it } from 'vitest';
import { coverageOf, namesInAccess } from '../../../src/commands/consent/coverage.ts';
import type { Consent } from '../../../src/domain/consent.ts';

type Asked = Pick<Consent, 'terms'>;
type Access = NonNullable<NonNullable<Consent['terms']>['access']>;
const [ONE, OTHER, CARD] = ['DE89370400440532013000', 'FR1420041010050500013M02606', '525412******3241'];
const all = ['accounts', 'balances', 'transactions'];

/** A consent for which the operator asked for this. */
const asking = (access?: Access): Asked => ({ terms: { ...(access && { access }) } });
const dedicated = (accounts: string[], balances = accounts, transactions = accounts) =>
  asking({ type: 'dedicated', accounts, balances, transactions });

describe('without an answer of the bank, a consent covers what was asked for', () => {
  it.each<[string, Asked, object]>([
    ['nothing said', asking(), { accounts: null, reads: all }],
    ['the list alone', asking({ type: 'list-only' }), { accounts: null, reads: ['accounts'] }],
    ['all accounts', asking({ type: 'all-accounts' }), { accounts: null, reads: all }],
    [
      'balances of what the customer chooses',
      asking({ type: 'bank-offered', balances: true, transactions: false }),
      { accounts: null, reads: ['accounts', 'balances'] },
    ],
    [
      'transactions of what the customer chooses',
      asking({ type: 'bank-offered', balances: false, transactions: true }),
      { accounts: null, reads: ['accounts', 'transactions'] },
    ],
    ['accounts', dedicated([ONE, OTHER]), { accounts: [ONE, OTHER], reads: all, cards: 'none' }],
    [
      'balances of an account',
      dedicated([ONE], [ONE, OTHER], []),
      { accounts: [ONE, OTHER], reads: ['accounts', 'balances'], cards: 'none' },
    ],
    [
      'transactions of an account',
      dedicated([ONE], [], [ONE]),
      { accounts: [ONE], reads: ['accounts', 'transactions'], cards: 'none' },
    ],
    ['a card', dedicated([ONE, CARD]), { accounts: [ONE, CARD], reads: all }],
  ])('%s', (_, consent, coverage) => {
    for (const access of [null, { accounts: 'all' }, { accounts: [{ maskedPan: CARD }] }, {}])
      expect(coverageOf(consent, { access })).toEqual(coverage);
  });
});

describe('a consent covers what the bank says that was granted', () => {
  it.each<[string, Asked, Record<string, unknown>, object]>([
    [
      'an account for all readings',
      dedicated([ONE, OTHER]),
      { accounts: [{ iban: ONE }], balances: [{ iban: ONE }], transactions: [{ iban: ONE }] },
      { accounts: [ONE], reads: all, cards: 'none' },
    ],
    [
      'balances alone',
      dedicated([ONE]),
      { balances: [{ iban: ONE }] },
      { accounts: [ONE], reads: ['accounts', 'balances'], cards: 'none' },
    ],
    [
      'transactions alone',
      dedicated([ONE]),
      { transactions: [{ iban: OTHER }] },
      { accounts: [OTHER], reads: ['accounts', 'transactions'], cards: 'none' },
    ],
    [
      'accounts, without a word on what may be read',
      dedicated([ONE]),
      { accounts: [{ iban: ONE }, { iban: OTHER }, { iban: ONE }] },
      { accounts: [ONE, OTHER], reads: all, cards: 'none' },
    ],
    [
      'what was not asked for is not read',
      dedicated([ONE], [ONE], []),
      { accounts: [{ iban: ONE }], balances: [{ iban: ONE }], transactions: [{ iban: ONE }] },
      { accounts: [ONE], reads: ['accounts', 'balances'], cards: 'none' },
    ],
    [
      'a card beside an account',
      dedicated([ONE]),
      { accounts: [{ iban: ONE }, { maskedPan: CARD }] },
      { accounts: [ONE, CARD], reads: all },
    ],
    [
      'a card beside an account, of what the customer chose',
      asking(),
      { accounts: [{ iban: ONE }, { maskedPan: CARD }] },
      { accounts: [ONE, CARD], reads: all },
    ],
    [
      'an account of what the customer chose',
      asking(),
      { accounts: [{ iban: ONE }] },
      { accounts: [ONE], reads: all },
    ],
  ])('%s', (_, consent, access, coverage) => {
    expect(coverageOf(consent, { access })).toEqual(coverage);
  });
});

it.each<[Record<string, unknown> | null, string[]]>([
  [null, []],
  [{}, []],
  [{ accounts: [{}] }, []],
  [{ accounts: [{ iban: ONE, maskedPan: CARD }], balances: [{ iban: ONE }] }, [ONE]],
  [
    {
      transactions: [
        { maskedPan: CARD, pan: 'p' },
        { pan: 'p', bban: 'b' },
      ],
    },
    [CARD, 'p'],
  ],
  [{ balances: [{ bban: 'b', msisdn: 'm' }, { msisdn: 'm' }] }, ['b', 'm']],
])('the bank names in %j the accounts %j', (access, names) => {
  expect(namesInAccess(access)).toEqual(names);
});
