import { describe, expect, test } from 'vitest';
import type { Product } from '../../../../src/sandbox/customers/seed-customers.ts';
import {
  accountDetails,
  balanceList,
  panOf,
} from '../../../../src/sandbox/nextgenpsd2/readings/account-view.ts';
import { accountOf, seeded } from '../../seeded.ts';
import { CARD, CURRENT, SAVINGS } from '../door-client.ts';
import { ANNAS, ibansOf } from '../payment-client.ts';
import { bankOf } from '../refused.ts';

const anna = seeded('anna');
const [, ANNAS_SAVINGS = ''] = ibansOf('anna');
const euros = (amount: string) => ({ currency: 'EUR', amount });
// Midnight in Rome is over.
const NOW = new Date('2026-11-20T23:30:00Z');

describe('the balances', () => {
  test.each<[kind: Product['kind'], available: string, booked: string, limits: boolean[]]>([
    ['current', '10.01', '25.00', []],
    ['savings', '10.01', '25.00', []],
    // The credit limit of a card is 2500.00: the available balance has it, the booked one has not.
    ['card', '2510.01', '25.00', [true, false]],
  ])('of a %s account are %s available and %s booked', (kind, available, booked, limits) => {
    const product = accountOf(anna, kind);
    const limited = (index: number) =>
      limits[index] === undefined ? {} : { creditLimitIncluded: limits[index] };
    expect(balanceList(product, { booked: 25_00, available: 10_01 }, bankOf(), NOW)).toEqual([
      {
        ...{ balanceType: 'interimAvailable', balanceAmount: euros(available), ...limited(0) },
        lastChangeDateTime: '2026-11-20T23:30:00.000Z',
      },
      {
        ...{ balanceType: 'closingBooked', balanceAmount: euros(booked), ...limited(1) },
        referenceDate: '2026-11-21',
      },
    ]);
  });

  test('have the first names that the bank file has for them', () => {
    const balances = { available: ['expected', 'x'], booked: ['openingBooked', 'y'] };
    const description = bankOf({ accounts: { balances } });
    const list = balanceList(accountOf(anna), { booked: 1, available: 2 }, description, NOW);
    expect(list.map(({ balanceType }) => balanceType)).toEqual(['expected', 'openingBooked']);
  });

  test('may be below zero', () => {
    const list = balanceList(accountOf(anna, 'card'), { booked: -1, available: -2_500_01 }, bankOf(), NOW);
    expect(list.map(({ balanceAmount }) => balanceAmount)).toEqual([euros('-0.01'), euros('-0.01')]);
  });
});

describe('the details', () => {
  test.each<[kind: Product['kind'], says: object]>([
    [
      'current',
      {
        ...{ resourceId: CURRENT, iban: ANNAS, currency: 'EUR', cashAccountType: 'CACC' },
        ...{ name: 'CONTO CORRENTE', displayName: 'Conto di casa', product: 'AZIM' },
      },
    ],
    [
      'savings',
      {
        ...{ resourceId: SAVINGS, iban: ANNAS_SAVINGS, currency: 'EUR', cashAccountType: 'SVGS' },
        ...{ name: 'CONTO RISPARMIO', displayName: 'Risparmi', product: '0650' },
      },
    ],
    // A card has no IBAN of its own, and anna has no name for hers.
    [
      'card',
      {
        ...{ resourceId: CARD, maskedPan: '525412xxxxxx3017', currency: 'EUR' },
        ...{ creditLimit: euros('2500.00'), name: 'CARTA DI CREDITO', product: 'CA30' },
      },
    ],
  ])('of a %s account', (kind, says) => {
    const product = accountOf(anna, kind);
    const links = { balances: { href: '/b' } };
    const common = { status: 'enabled', usage: 'PRIV', _links: links };
    const more = { id: product.productId, owner: undefined, balances: undefined, links };
    expect(accountDetails(product, more)).toEqual({ ...says, ...common });
    expect(accountDetails(product, { ...more, owner: anna, balances: [] })).toEqual({
      ...{ ...says, ...common, ownerName: 'Anna Esposito', balances: [] },
    });
  });

  test('have the whole number of a card nowhere', () => {
    const card = accountOf(anna, 'card');
    const details = accountDetails(card, { id: CARD, owner: anna, balances: undefined, links: {} });
    expect(panOf(card)).toBe('5254120000003017');
    expect(JSON.stringify(details)).not.toContain(panOf(card));
  });
});
