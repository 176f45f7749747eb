import { expect, test } from 'vitest';
import { type Paid, paymentsTogether } from '../../../src/sandbox/console/payments-together.ts';

const BEGIN = Date.parse('2026-11-20T11:00:00Z');

/** A payment, so many seconds after the beginning. */
const paid = (seconds: number, changes: Partial<Paid> = {}): Paid => ({
  ...{ at: new Date(BEGIN + seconds * 1000), account: 'A', customer: 'anna', joint: undefined },
  ...{ amount: 100, to: String(seconds), state: 'RCVD', ...changes },
});

/** The payments of each group by their payees. */
const groups = (...payments: Paid[]) =>
  paymentsTogether(payments).map((group) => group.payments.map(({ to }) => to).join(' '));

test('a group says when it began, whose it is, and what it is in all', () => {
  const payments = [
    paid(0, { amount: 1250, to: 'Beta', state: 'ACSC' }),
    paid(30, { amount: 5, to: 'Gamma', customer: 'other' }),
  ];
  expect(paymentsTogether(payments)).toEqual([
    {
      ...{ from: '2026-11-20T11:00:00.000Z', account: 'A', customer: 'anna', total: '12.55' },
      payments: [
        { to: 'Beta', amount: '12.50', state: 'ACSC' },
        { to: 'Gamma', amount: '0.05', state: 'RCVD' },
      ],
    },
  ]);
});

const joint = (seconds: number, id: string, changes: Partial<Paid> = {}) =>
  paid(seconds, { joint: id, ...changes });

test.each<[what: string, payments: Paid[], together: string[]]>([
  ['none', [], []],
  ['one alone', [paid(0)], []],
  ['two within a minute', [paid(0), paid(60)], ['0 60']],
  ['two a minute apart', [paid(0), paid(60.001)], []],
  ['each within a minute of the one before', [paid(0), paid(60), paid(120)], ['0 60 120']],
  ['two of two accounts', [paid(0), paid(1, { account: 'B' })], []],
  [
    'of two accounts in turn',
    [paid(0), paid(1, { account: 'B' }), paid(2), paid(3, { account: 'B' })],
    ['1 3', '0 2'],
  ],
  ['in another order', [paid(20), paid(0), paid(10)], ['0 10 20']],
  ['two files, newest first', [paid(0), paid(1), paid(100), paid(101)], ['100 101', '0 1']],
  ['of one bulk, however late', [joint(0, 'x'), joint(1000, 'x')], ['0 1000']],
  ['of two bulks at once', [joint(0, 'x'), joint(0, 'y'), joint(1, 'x'), joint(1, 'y')], ['0 1', '0 1']],
  ['of a bulk and alone', [joint(0, 'x'), paid(1), joint(2, 'x'), paid(3)], ['1 3', '0 2']],
  ['alone and then of a bulk', [paid(0), joint(1, 'x')], []],
  ['of one bulk and two accounts', [joint(0, 'x'), joint(1, 'x', { account: 'B' })], []],
])('%s', (_, payments, together) => {
  expect(groups(...payments)).toEqual(together);
});

test.each([
  [20, 20, '0 1'],
  [21, 20, '1000 1001'],
])('of %i files, %i are shown, the oldest of them is %s', (count, shown, oldest) => {
  const payments = Array.from({ length: count }, (_, index) => [
    paid(index * 1000),
    paid(index * 1000 + 1),
  ]).flat();
  const all = groups(...payments);
  expect([all.length, all.at(-1)]).toEqual([shown, oldest]);
});
