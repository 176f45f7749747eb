import { expect, test } from 'vitest';
import { Consents } from '../../../src/sandbox/cb/consents.ts';
import { cbSeed } from '../../../src/sandbox/cb/seed.ts';
import { BadSeed } from '../../../src/sandbox/seed/seed-fields.ts';
import { seeded } from '../seeded.ts';
import { TestClock } from '../tpp.ts';

const anna = seeded('anna');
const [CURRENT, SAVINGS, CARD] = ['0010482620', '0010482638', '0000093017'];

/** The consents of a seed in a bank whose time is not that of this computer. */
function given(consents: object[] | undefined): string[] {
  const clock = new TestClock('2031-05-06T07:08:09Z');
  const state = { consents: new Consents(clock.now) };
  cbSeed.give(state, anna, { user: 'anna', consents });
  expect(state.consents.inForce().map(({ customerId }) => customerId)).not.toContain('2073915');
  return state.consents
    .inForce()
    .map(({ category, productId, givenAt, endsAt }) =>
      [category, productId, givenAt.toISOString().slice(0, 16), endsAt.toISOString().slice(0, 16)].join(' '),
    );
}

const TODAY = '2031-05-06T07:08 2031-11-02T07:08';
test.each<[consents: object[] | undefined, kept: string[]]>([
  [undefined, []],
  [[], []],
  // Without a day it is given now, and without accounts it is for all.
  [
    [{ category: 'ACCOUNT_INFO' }],
    [CURRENT, SAVINGS, CARD].map((product) => `ACCOUNT_INFO ${product} ${TODAY}`),
  ],
  [[{ category: 'PAYMENTS', products: [SAVINGS] }], [`PAYMENTS ${SAVINGS} ${TODAY}`]],
  [[{ category: 'PAYMENTS', products: [] }], []],
  [
    [{ category: 'PAYMENTS', products: [CURRENT], givenOn: '2031-05-01' }],
    [`PAYMENTS ${CURRENT} 2031-05-01T04:00 2031-10-28T04:00`],
  ],
  // Its last day is over after 180 days.
  [
    [{ category: 'PAYMENTS', products: [CURRENT], givenOn: '2030-11-08' }],
    [`PAYMENTS ${CURRENT} 2030-11-08T04:00 2031-05-07T04:00`],
  ],
  [[{ category: 'PAYMENTS', products: [CURRENT], givenOn: '2030-11-07' }], []],
  [
    [
      { category: 'PAYMENTS', products: [CURRENT], givenOn: '2031-05-01' },
      { category: 'FUNDS_AVAILABILITY', products: [SAVINGS] },
    ],
    [`PAYMENTS ${CURRENT} 2031-05-01T04:00 2031-10-28T04:00`, `FUNDS_AVAILABILITY ${SAVINGS} ${TODAY}`],
  ],
])('the consents %j of a seed are %j', (consents, kept) => {
  expect(given(consents)).toEqual(kept);
});

test.each<[consents: object[], place: string | undefined]>([
  [[{ category: 'PAYMENTS' }], undefined],
  [[{ category: 'PAYMENTS', products: [CURRENT, CARD] }], undefined],
  [[{ category: 'PAYMENTS', products: [CURRENT, '0020739150'] }], 'consents[0].products[1]'],
  [
    [{ category: 'PAYMENTS' }, { category: 'ACCOUNT_INFO', products: ['0020739150'] }],
    'consents[1].products[0]',
  ],
])('of the consents %j, an account of another customer is at %s', (consents, place) => {
  const check = () => cbSeed.check?.({ consents }, anna, 'customers[7]');
  if (place === undefined) expect(check()).toBeUndefined();
  else expect(check).toThrow(new BadSeed(`customers[7].${place}: the customer has no account 0020739150`));
});
