import { expect, it } from 'vitest';
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
const chosen = (balances: boolean, transactions: boolean) =>
  asking({ type: 'bank-offered', balances, transactions });
const BALANCES = ['accounts', 'balances'];
const TRANSACTIONS = ['accounts', 'transactions'];
const covers = (accounts: string[] | null, reads = all) => ({ accounts, reads });
const noCards = (accounts: string[], reads = all) => ({ accounts, reads, cards: 'none' });

it.each<[string, Asked, object]>([
  ['nothing said', asking(), covers(null)],
  ['the list alone', asking({ type: 'list-only' }), covers(null, ['accounts'])],
  ['all accounts', asking({ type: 'all-accounts' }), covers(null)],
  ['balances of what the customer chooses', chosen(true, false), covers(null, BALANCES)],
  ['transactions of what the customer chooses', chosen(false, true), covers(null, TRANSACTIONS)],
  ['accounts', dedicated([ONE, OTHER]), noCards([ONE, OTHER])],
  ['balances of an account', dedicated([ONE], [ONE, OTHER], []), noCards([ONE, OTHER], BALANCES)],
  ['transactions of an account', dedicated([ONE], [], [ONE]), noCards([ONE], TRANSACTIONS)],
  ['a card', dedicated([ONE, CARD]), covers([ONE, CARD])],
])('without an answer of the bank, a consent covers what was asked for: %s', (_, consent, coverage) => {
  for (const access of [null, { accounts: 'all' }, { accounts: [{ maskedPan: CARD }] }, {}])
    expect(coverageOf(consent, { access })).toEqual(coverage);
});

const one = [{ iban: ONE }];
const withCard = [...one, { maskedPan: CARD }];
const ALL_OF_ONE = { accounts: one, balances: one, transactions: one };
const REPEATED = { accounts: [...one, { iban: OTHER }, ...one] };
it.each<[string, Asked, Record<string, unknown>, object]>([
  ['an account for all readings', dedicated([ONE, OTHER]), ALL_OF_ONE, noCards([ONE])],
  ['balances alone', dedicated([ONE]), { balances: one }, noCards([ONE], BALANCES)],
  ['transactions', dedicated([ONE]), { transactions: [{ iban: OTHER }] }, noCards([OTHER], TRANSACTIONS)],
  ['accounts, without a word on what may be read', dedicated([ONE]), REPEATED, noCards([ONE, OTHER])],
  ['what was not asked for is not read', dedicated([ONE], [ONE], []), ALL_OF_ONE, noCards([ONE], BALANCES)],
  ['a card beside an account', dedicated([ONE]), { accounts: withCard }, covers([ONE, CARD])],
  ['a card, of what the customer chose', asking(), { accounts: withCard }, covers([ONE, CARD])],
  ['an account of what the customer chose', asking(), { accounts: one }, covers([ONE])],
])('a consent covers what the bank says that was granted: %s', (_, consent, access, coverage) => {
  expect(coverageOf(consent, { access })).toEqual(coverage);
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
