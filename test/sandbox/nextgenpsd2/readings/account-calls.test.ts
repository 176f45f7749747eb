import { describe, expect, test } from 'vitest';
import type { Json } from '../../tpp.ts';
import { bankHere } from '../bank-here.ts';
import { ANNA, CARD, CURRENT, consentBody, SAVINGS } from '../door-client.ts';
import { ANNAS } from '../payment-client.ts';

// What a consent shows of accounts and cards, and where their links lead.

/** A bank with a consent that anna gave. */
async function reader(access: object) {
  const here = await bankHere();
  const reply = here.serve('POST /v1/consents', { body: consentBody({ access }) });
  here.approve(reply, ANNA);
  const headers = { 'psu-ip-address': '192.0.2.1', 'consent-id': String(reply.json.consentId) };
  return {
    read: (path: string) => here.serve(`GET ${path}`, { headers }).json,
    ask: (path: string) => here.answer(`GET ${path}`, { headers }),
  };
}

const list = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);
const MASKED = '525412xxxxxx3017';
const ALL = [CURRENT, SAVINGS, CARD];
const LIST_ONLY = '401 CONSENT_INVALID Consent-ID: The consent is for the list of accounts only.';
const NO_ACCOUNT = '404 RESOURCE_UNKNOWN: The consent has no such account.';
const notFor = (right: string) =>
  `401 CONSENT_INVALID Consent-ID: The consent is not for the ${right} of this account.`;

describe('the links of an account lead to what its consent shows', () => {
  test.each<[access: object, ids: string[], names: string[], isList: boolean]>([
    [{ allPsd2: 'allAccounts' }, ALL, ['balances', 'transactions'], false],
    [{ accounts: [{ iban: ANNAS }, { maskedPan: MASKED }] }, [CURRENT, CARD], [], false],
    [{ balances: [{ iban: ANNAS }, { maskedPan: MASKED }] }, [CURRENT, CARD], ['balances'], false],
    [{ transactions: [{ iban: ANNAS }] }, [CURRENT], ['transactions'], false],
    [
      { balances: [{ iban: ANNAS }], transactions: [{ iban: ANNAS }] },
      ...([[CURRENT], ['balances', 'transactions'], false] as const),
    ],
    [{ balances: [] }, ALL, ['balances'], false],
    // The list itself has the balances, and leads to nothing.
    [{ availableAccounts: 'allAccounts' }, ALL, [], true],
    [{ availableAccountsWithBalance: 'allAccounts' }, ALL, [], true],
  ] as [object, string[], string[], boolean][])(
    'of %j: accounts %j, links %j',
    async (access, ids, names, isList) => {
      const { read, ask } = await reader(access);
      const accounts = list(read('/v1/accounts').accounts);
      const cards = list(read('/v1/card-accounts').cardAccounts);
      expect(accounts.map(({ resourceId }) => resourceId)).toEqual(ids.filter((id) => id !== CARD));
      expect(cards.map(({ resourceId }) => resourceId)).toEqual(ids.filter((id) => id === CARD));
      for (const [kind, all] of [
        ['accounts', accounts],
        ['card-accounts', cards],
      ] as const)
        for (const { resourceId, _links } of all) {
          const at = `/v1/${kind}/${resourceId}`;
          const hrefs = names.map((name) => [name, { href: `/nextgenpsd2${at}/${name}` }]);
          expect(_links).toEqual(Object.fromEntries(hrefs));
          expect(ask(at)).toBe(isList ? LIST_ONLY : 'taken');
          for (const right of ['balances', 'transactions']) {
            const query = right === 'transactions' ? '?bookingStatus=booked&dateFrom=2026-11-01' : '';
            const refused = isList ? LIST_ONLY : notFor(right);
            expect(ask(`${at}/${right}${query}`)).toBe(names.includes(right) ? 'taken' : refused);
          }
        }
    },
  );
});

test.each<[access: object, answer: string]>([
  [{ allPsd2: 'allAccounts' }, 'taken'],
  [{ availableAccountsWithBalance: 'allAccounts' }, 'taken'],
  [{ availableAccounts: 'allAccounts' }, notFor('balances')],
  [{ balances: [{ iban: ANNAS }] }, 'taken'],
  // One account without the right is enough.
  [{ accounts: [{ iban: ANNAS }] }, notFor('balances')],
])('a consent to %j shows balances in the list: %s', async (access, answer) => {
  const { read, ask } = await reader(access);
  expect(ask('/v1/accounts?withBalance=true')).toBe(answer);
  expect(list(read('/v1/accounts').accounts)[0]).not.toHaveProperty('balances');
  expect(list(read('/v1/accounts?withBalance=false').accounts)[0]).not.toHaveProperty('balances');
  if (answer !== 'taken') return;
  for (const { balances } of list(read('/v1/accounts?withBalance=true').accounts))
    expect(list(balances)).toHaveLength(2);
});

test('cards and accounts are each at their own path, and cards have no withBalance', async () => {
  const { ask } = await reader({ allPsd2: 'allAccounts' });
  expect([CURRENT, SAVINGS, CARD, 'x', '0020739150'].map((id) => ask(`/v1/accounts/${id}`))).toEqual([
    ...['taken', 'taken', NO_ACCOUNT, NO_ACCOUNT, NO_ACCOUNT],
  ]);
  expect([CURRENT, SAVINGS, CARD, 'x'].map((id) => ask(`/v1/card-accounts/${id}/balances`))).toEqual([
    ...[NO_ACCOUNT, NO_ACCOUNT, 'taken', NO_ACCOUNT],
  ]);
  expect(ask('/v1/card-accounts?withBalance=true')).toContain('400 PARAMETER_NOT_SUPPORTED withBalance');
  expect(ask(`/v1/accounts/${CURRENT}/balances?withBalance=true`)).toContain(
    '400 PARAMETER_NOT_SUPPORTED withBalance',
  );
});
