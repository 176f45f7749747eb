import { describe, expect, test } from 'vitest';
import { seedCustomers } from '../../../../src/sandbox/customers/seed-customers.ts';
import {
  chosenAccess,
  grantsFor,
  isReferredTo,
  kindOfConsent,
  showsOwner,
} from '../../../../src/sandbox/nextgenpsd2/consents/consent.ts';
import type { Access, ConsentOrder } from '../../../../src/sandbox/nextgenpsd2/consents/consent-request.ts';
import { CARD, CURRENT, SAVINGS } from '../door-client.ts';

const [anna = expect.unreachable()] = seedCustomers;
const [current, savings, card] = [CURRENT, SAVINGS, CARD].map(
  (id) => anna.products.find(({ productId }) => productId === id) ?? expect.unreachable(),
);
if (!current || !savings || !card) expect.unreachable();
const IBAN = { iban: current.iban };
const CARD_NUMBER = { maskedPan: '525412xxxxxx3017' };

/** What a consent shows, as text. Null: the customer does not have these accounts. */
function shown(type: ConsentOrder['type'], access: Access, chosen?: readonly string[]): string[] | null {
  const grants = grantsFor({ type, access }, anna, chosen);
  return grants === undefined ? null : [...grants].map(([id, rights]) => `${id}: ${[...rights].join(' ')}`);
}

const every = (rights: string, ...ids: string[]) => ids.map((id) => `${id}: ${rights}`);
const ALL = [CURRENT, SAVINGS, CARD];

describe('what a consent shows', () => {
  test.each<
    [type: ConsentOrder['type'], access: Access, chosen: string[] | undefined, shown: string[] | null]
  >([
    ['all-accounts', {}, undefined, every('accounts balances transactions', ...ALL)],
    ['list-only', {}, undefined, every('accounts', ...ALL)],
    ['list-with-balances', {}, undefined, every('accounts balances', ...ALL)],
    ['all-accounts', { restrictedTo: ['CACC'] }, undefined, every('accounts balances transactions', CURRENT)],
    ['list-only', { restrictedTo: ['SVGS', 'CARD'] }, undefined, every('accounts', SAVINGS, CARD)],
    ['list-only', { restrictedTo: [] }, undefined, []],
    ['bank-offered', { accounts: [] }, undefined, every('accounts', ...ALL)],
    [
      'bank-offered',
      { balances: [], transactions: [] },
      undefined,
      every('accounts balances transactions', ...ALL),
    ],
    ['bank-offered', { transactions: [] }, [SAVINGS], every('accounts transactions', SAVINGS)],
    ['bank-offered', { accounts: [] }, [CARD, CURRENT, 'x'], every('accounts', CURRENT, CARD)],
    ['bank-offered', { accounts: [] }, [], []],
    // Elsewhere nobody chooses.
    ['all-accounts', {}, [CURRENT], every('accounts balances transactions', ...ALL)],
    ['dedicated', { accounts: [IBAN] }, undefined, every('accounts', CURRENT)],
    ['dedicated', { balances: [IBAN] }, undefined, every('accounts balances', CURRENT)],
    [
      'dedicated',
      { transactions: [CARD_NUMBER, IBAN], balances: [IBAN], accounts: [{ iban: savings.iban }] },
      undefined,
      [
        `${SAVINGS}: accounts`,
        `${CURRENT}: accounts balances transactions`,
        `${CARD}: accounts transactions`,
      ],
    ],
    ['dedicated', { accounts: [IBAN, { iban: 'IT60' }] }, undefined, null],
    ['dedicated', { accounts: [{ iban: savings.iban }], restrictedTo: ['CACC'] }, undefined, null],
    ['funds', { accounts: [IBAN] }, undefined, every('accounts', CURRENT)],
    ['funds', { accounts: [{ iban: 'IT60' }] }, undefined, null],
  ])('%s of %j, chosen %j: %j', (type, access, chosen, expected) => {
    expect(shown(type, access, chosen)).toEqual(expected);
  });
});

describe('an account is meant by', () => {
  test.each([
    [{ iban: current.iban }, true, false],
    [{ iban: `${current.iban}0` }, false, false],
    [{ bban: current.iban.slice(4) }, true, false],
    [{ bban: current.iban.slice(3) }, false, false],
    [{ maskedPan: '525412xxxxxx3017' }, false, true],
    [{ maskedPan: '525412******3017' }, false, true],
    [{ maskedPan: '525412xxxxxx3018' }, false, false],
    [{ pan: '5254120000003017' }, false, true],
    [{ pan: '5254120000003018' }, false, false],
    [{ msisdn: '+39' }, false, false],
  ])('%j: the current one %s, the card with its IBAN %s', (reference, isCurrent, isCard) => {
    // A card has the IBAN of the account that pays for it.
    expect(card.iban).toBe(current.iban);
    expect([isReferredTo(current, reference), isReferredTo(card, reference)]).toEqual([isCurrent, isCard]);
  });
});

describe('who owns an account is shown by', () => {
  test.each<[access: Access, ofCurrent: boolean, ofCard: boolean]>([
    [{}, false, false],
    [{ allPsd2: 'allAccounts' }, false, false],
    [{ allPsd2: 'allAccountsWithOwnerName' }, true, true],
    [{ availableAccounts: 'allAccountsWithOwnerName' }, true, true],
    [{ availableAccountsWithBalance: 'allAccountsWithOwnerName' }, true, true],
    [{ accounts: [], additionalInformation: {} }, false, false],
    [{ accounts: [], additionalInformation: { ownerName: [] } }, true, true],
    [{ accounts: [IBAN], additionalInformation: { ownerName: [IBAN] } }, true, false],
    [{ accounts: [IBAN], additionalInformation: { ownerName: [CARD_NUMBER] } }, false, true],
    [{ accounts: [IBAN], additionalInformation: { ownerName: [{ iban: 'x' }, IBAN] } }, true, false],
  ])('%j: of the current one %s, of the card %s', (access, ofCurrent, ofCard) => {
    expect([showsOwner({ access }, current), showsOwner({ access }, card)]).toEqual([ofCurrent, ofCard]);
  });
});

test.each<[access: Access, chosen: Access]>([
  [{ accounts: [] }, { accounts: [IBAN, CARD_NUMBER] }],
  [
    { balances: [], transactions: [] },
    { balances: [IBAN, CARD_NUMBER], transactions: [IBAN, CARD_NUMBER] },
  ],
  [
    { accounts: [], additionalInformation: { ownerName: [] } },
    { accounts: [IBAN, CARD_NUMBER], additionalInformation: { ownerName: [IBAN, CARD_NUMBER] } },
  ],
  [{ accounts: [], additionalInformation: {} }, { accounts: [IBAN, CARD_NUMBER] }],
  [
    { accounts: [], restrictedTo: ['CACC'] },
    { accounts: [IBAN, CARD_NUMBER], restrictedTo: ['CACC'] },
  ],
])('of %j, the customer has chosen %j', (access, chosen) => {
  expect(chosenAccess(access, [current, card])).toStrictEqual(chosen);
});

test.each(['dedicated', 'bank-offered', 'all-accounts', 'list-only', 'list-with-balances', 'funds'] as const)(
  'a consent of the type %s is of one kind',
  (type) => {
    expect(kindOfConsent({ type })).toBe(type === 'funds' ? 'funds-consent' : 'consent');
  },
);
