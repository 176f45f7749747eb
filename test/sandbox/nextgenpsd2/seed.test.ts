import { expect, test } from 'vitest';
import { doorOf } from '../../../src/sandbox/nextgenpsd2/door-state.ts';
import { doorSeed } from '../../../src/sandbox/nextgenpsd2/seed.ts';
import type { Variation } from '../../../src/sandbox/nextgenpsd2/variations.ts';
import { seeded } from '../seeded.ts';
import { bankHere } from './bank-here.ts';
import { ANNA, CARD, CURRENT, SAVINGS } from './door-client.ts';

const [ONE, TWO] = ['5a0c1f8e-3b7d-4d52-9a63-7d1f0c2b9e44', '7d1f0c2b-3b7d-4d52-9a63-5a0c1f8e9e44'];

/** The consents that a seed gives, in the order of the file. */
async function given(record: object, variations: Variation[] = []) {
  const { bank } = await bankHere({}, variations);
  doorSeed.give(bank, seeded('anna'), { user: 'anna', ...record });
  const { consents } = doorOf(bank);
  return consents.list().map((consent) => ({ ...consent, status: consents.statusOf(consent) }));
}

test.each<[consent: object, says: object]>([
  [{ validUntil: '2027-01-31' }, { validUntil: '2027-01-31', frequencyPerDay: 4, status: 'valid' }],
  [
    { validUntil: '2027-01-31', frequencyPerDay: 1 },
    { validUntil: '2027-01-31', frequencyPerDay: 1, status: 'valid' },
  ],
  // On its last day it is valid.
  [{ validUntil: '2026-11-20' }, { status: 'valid' }],
  [{ validUntil: '2026-11-19' }, { status: 'expired' }],
])('a consent of a seed with %j is one for all accounts', async (consent, says) => {
  const [made, ...more] = await given({ nextgenpsd2Consents: [{ consentId: ONE, ...consent }] });
  expect(more).toEqual([]);
  expect(made).toMatchObject({
    ...{ id: ONE, type: 'all-accounts', recurring: true, customerId: ANNA, lastAction: '2026-11-20' },
    ...says,
  });
  expect([...(made?.grants.keys() ?? [])]).toEqual([CURRENT, SAVINGS, CARD]);
  for (const rights of made?.grants.values() ?? [])
    expect([...rights]).toEqual(['accounts', 'balances', 'transactions']);
});

test.each<[variations: Variation[], statuses: string[]]>([
  [[], ['expired', 'valid']],
  [['multiple-consents'], ['valid', 'valid']],
])('of two consents with %j: %j', async (variations, statuses) => {
  const nextgenpsd2Consents = [ONE, TWO].map((consentId) => ({ consentId, validUntil: '2027-01-31' }));
  const made = await given({ nextgenpsd2Consents }, variations);
  expect(made.map(({ id, status }) => [id, status])).toEqual([
    [ONE, statuses[0]],
    [TWO, statuses[1]],
  ]);
});

test('a seed without consents gives none', async () => {
  expect([await given({}), await given({ nextgenpsd2Consents: [] })]).toEqual([[], []]);
});
