import { describe, expect, test } from 'vitest';
import { seedCustomers } from '../../../../src/sandbox/customers/seed-customers.ts';
import {
  type DoorPayment,
  newPayment,
  type PaymentOrder,
} from '../../../../src/sandbox/nextgenpsd2/payments/payment.ts';
import { paymentShown } from '../../../../src/sandbox/nextgenpsd2/payments/payment-view.ts';
import type { StandingRule } from '../../../../src/sandbox/nextgenpsd2/payments/standing-rule.ts';
import { order as control } from '../../tpp.ts';
import { type DoorReply, START, useDoor } from '../door-client.ts';
import { approve, initiate, PAYEE } from '../payment-client.ts';

const NOW = new Date('2026-11-20T11:00:00Z');

const order = (changes: Partial<PaymentOrder> = {}): PaymentOrder => ({
  ...{ instant: false, amount: 1250, commissions: 50, endToEndId: undefined },
  ...{ beneficiaryIban: PAYEE, beneficiaryName: 'Beta', description: 'Rent', ...changes },
});

const STANDING: StandingRule = {
  ...{ startDate: '2026-12-01', endDate: undefined, frequency: 'Monthly' },
  ...{ dayOfExecution: undefined, executionRule: undefined },
};

function payment(changes: Partial<DoorPayment> = {}): DoorPayment {
  const initiation = {
    ...({ service: 'payments', product: 'sepa-credit-transfers', debtor: undefined, body: {} } as const),
    ...{ orders: [order()], executionDay: undefined, standing: undefined, ...changes },
  };
  return newPayment(initiation, { createdAt: NOW, requestId: 'r', lateMs: 0 });
}

const shown = (changes: Partial<DoorPayment>) => paymentShown({ now: () => NOW }, payment(changes));
const euros = (amount: string) => ({ amount, currency: 'EUR' });

describe('what the customer sees of a payment', () => {
  test('is the payee, the sum, the fee and the day', () => {
    expect(shown({})).toEqual({
      kind: 'Bank transfer',
      debit: undefined,
      orders: [{ name: 'Beta', iban: PAYEE, amount: euros('12.50'), description: 'Rent' }],
      ...{ sum: euros('12.50'), fee: euros('0.50'), total: euros('13.00') },
      ...{ date: '2026-11-20', isInstant: false },
    });
  });

  test.each<[what: string, orders: PaymentOrder[], standing: StandingRule | undefined, kind: string]>([
    ['one', [order()], undefined, 'Bank transfer'],
    ['two', [order(), order()], undefined, 'Bank transfers'],
    ['an instant one', [order({ instant: true })], undefined, 'Instant bank transfer'],
    [
      'two instant ones',
      [order({ instant: true }), order({ instant: true })],
      undefined,
      'Instant bank transfers',
    ],
    ['a standing order', [order()], STANDING, 'Standing order'],
    ['an instant standing order', [order({ instant: true })], STANDING, 'Standing order'],
  ])('has a name: %s', (_, orders, standing, kind) => {
    const { kind: named, isInstant } = shown({ orders, standing });
    expect([named, isInstant]).toEqual([kind, orders.some(({ instant }) => instant)]);
  });

  test.each<[amounts: [amount: number, fee: number][], sum: string, fee: string, total: string]>([
    [[[1250, 0]], '12.50', '0.00', '12.50'],
    [
      [
        [1250, 50],
        [1, 50],
      ],
      '12.51',
      '1.00',
      '13.51',
    ],
    [
      [
        [1, 2],
        [30, 40],
        [500, 600],
      ],
      '5.31',
      '6.42',
      '11.73',
    ],
  ])('has the sums of its orders: %j', (amounts, sum, fee, total) => {
    const orders = amounts.map(([amount, commissions]) => order({ amount, commissions }));
    const whole = shown({ orders });
    expect([whole.sum, whole.fee, whole.total]).toEqual([sum, fee, total].map(euros));
    expect(whole.orders.map(({ amount }) => amount)).toEqual(
      amounts.map(([amount]) => euros((amount / 100).toFixed(2))),
    );
  });

  test('has each payee of its own, in order', () => {
    const named = (beneficiaryName: string, beneficiaryIban: string, description: string) =>
      order({ beneficiaryName, beneficiaryIban, description });
    expect(shown({ orders: [named('A', 'I1', 'x'), named('B', 'I2', '')] }).orders).toMatchObject([
      { name: 'A', iban: 'I1', description: 'x' },
      { name: 'B', iban: 'I2', description: '' },
    ]);
  });

  test.each<[executionDay: string | undefined, standing: StandingRule | undefined, date: string]>([
    [undefined, undefined, '2026-11-20'],
    ['2026-11-27', undefined, '2026-11-27'],
    [undefined, STANDING, '2026-12-01'],
    ['2026-11-27', STANDING, '2026-12-01'],
    // Of a standing order the first payment counts, not the day from which it may pay.
    [undefined, { ...STANDING, dayOfExecution: 1 }, '2026-12-01'],
    [undefined, { ...STANDING, dayOfExecution: 15 }, '2026-12-15'],
    [undefined, { ...STANDING, startDate: '2026-12-16', dayOfExecution: 15 }, '2027-01-15'],
    [undefined, { ...STANDING, startDate: '2027-01-01', executionRule: 'following' }, '2027-01-04'],
    [undefined, { ...STANDING, startDate: '2027-01-01', executionRule: 'preceding' }, '2026-12-31'],
    [
      undefined,
      { ...STANDING, startDate: '2026-12-16', endDate: '2026-12-31', dayOfExecution: 15 },
      '2026-12-16',
    ],
  ])('has its day, %s or that of %j: %s', (executionDay, standing, date) => {
    expect(shown({ executionDay, standing }).date).toBe(date);
  });

  test.each<[frequency: StandingRule['frequency'], schedule: string]>([
    ['Daily', 'Every day'],
    ['Weekly', 'Every week'],
    ['EveryTwoWeeks', 'Every two weeks'],
    ['Monthly', 'Every month'],
    ['EveryTwoMonths', 'Every two months'],
    ['Quarterly', 'Every three months'],
    ['SemiAnnual', 'Every six months'],
    ['Annual', 'Every year'],
  ])('says how often, with and without an end: %s', (frequency, schedule) => {
    const of = (endDate: string | undefined) =>
      shown({ standing: { ...STANDING, frequency, endDate } }).schedule;
    expect(of(undefined)).toBe(schedule);
    expect(of('2027-03-01')).toBe(`${schedule}, until 1 March 2027`);
  });

  test('has no schedule if it is none', () => {
    expect(shown({})).not.toHaveProperty('schedule');
  });

  test('has the account that it is from', () => {
    const [customer = expect.unreachable()] = seedCustomers;
    const [product = expect.unreachable()] = customer.products;
    expect(shown({ debtor: { customer, product } }).debit).toBe(product);
  });
});

const products = { 'bulk-payments': ['sepa-credit-transfers'] };
const door = await useDoor({ payments: { products, debtorAccount: 'optional' } });

/** What the control site says of a payment. */
async function listed({ json }: DoorReply): Promise<unknown> {
  const all: unknown = (await control(door.sandbox, 'GET', '/nextgenpsd2/payments')).json;
  return Array.isArray(all) ? all.find(({ paymentId }) => paymentId === json.paymentId) : undefined;
}

test('the control site says of each payment what it is, whose, and how often each order moved the money', async () => {
  const reply = await initiate(door, { endToEndIdentification: 'SEEN' });
  const about = {
    paymentId: reply.json.paymentId,
    requestId: reply.headers['x-request-id'],
    ...{ service: 'payments', product: 'sepa-credit-transfers', createdAt: NOW.toISOString() },
  };
  const one = { endToEndId: 'SEEN', amount: '12.50', creditorName: 'Beta GmbH', creditorIban: PAYEE };
  const waiting = { ...one, transactionStatus: 'RCVD', paid: 0, debits: 0 };
  expect(await listed(reply)).toEqual({
    ...{ ...about, customer: 'anna', authorised: false, transactionStatus: 'RCVD', orders: [waiting] },
  });
  approve(door, reply);
  const paid = { ...one, transactionStatus: 'ACSP', paid: 1, debits: 1 };
  const done = { ...about, customer: 'anna', authorised: true, transactionStatus: 'ACSP' };
  expect(await listed(reply)).toEqual({ ...done, orders: [paid] });
  // Another payment with the same reference.
  approve(door, await initiate(door, { endToEndIdentification: 'SEEN' }));
  expect(await listed(reply)).toEqual({ ...done, orders: [{ ...paid, debits: 2 }] });
});

test('the control site has nobody for a payment without an account, and counts each order alone', async () => {
  const entry = (creditorName: string, endToEndIdentification?: string) => ({
    ...{ instructedAmount: { currency: 'EUR', amount: '1.00' }, creditorAccount: { iban: PAYEE } },
    ...{ creditorName, endToEndIdentification },
  });
  const reply = await door.client.send({
    ...{ method: 'POST', path: '/v1/bulk-payments/sepa-credit-transfers', headers: START },
    body: { payments: [entry('EXECUTE REFUSED', 'A'), entry('Beta', 'B'), entry('Gamma')] },
  });
  const orders = (...counts: [paid: number, debits: number][]) =>
    [
      ['A', 'EXECUTE REFUSED'],
      ['B', 'Beta'],
      [null, 'Gamma'],
    ].map(([endToEndId, creditorName], index) => {
      const [paid, debits] = counts[index] ?? [];
      return { endToEndId, creditorName, paid, debits };
    });
  expect(await listed(reply)).toMatchObject({
    ...{ service: 'bulk-payments', customer: null, orders: orders([0, 0], [0, 0], [0, 0]) },
  });
  approve(door, reply);
  expect(await listed(reply)).toMatchObject({ customer: 'anna', orders: orders([0, 0], [1, 1], [1, 1]) });
});
