import { expect, test } from 'vitest';
import { BadFault } from '../../../src/sandbox/faults/fault.ts';
import { FaultBook, type FaultOrder, faultOrder, UsedMagic } from '../../../src/sandbox/faults/fault-book.ts';
import { seeded } from '../seeded.ts';

const now = new Date('2026-11-20T11:00:00Z');
const call = { method: 'GET', target: '/private/a' };
const nobody = { now, customerId: undefined };
const at = (seconds: number) => new Date(now.getTime() + seconds * 1000);
const anna = seeded('anna');

test.each<[order: FaultOrder, record: object]>([
  [{ fault: ' empty ' }, {}],
  [
    { fault: 'status=503', on: 'execute', times: 2, after: 1, probability: 0.5, seed: 'a', customer: 'anna' },
    { fault: 'status=503', on: 'execute', times: 2, after: 1, probability: 0.5, seed: 'a', customer: 'anna' },
  ],
  [{ fault: 'empty', on: 'GET /a/*' }, { on: 'GET /a/*' }],
  [{ fault: 'empty', forSeconds: 90 }, { until: '2026-11-20T11:01:30.000Z' }],
])('the fault %j is kept, and its omitted conditions restrict nothing', (order, record) => {
  const book = new FaultBook();
  const expected = {
    ...{ id: 1, fault: 'empty', on: null, customer: null, until: null, times: null, after: 0 },
    ...{ probability: 1, seed: '1', seen: 0, fired: 0, ...record },
  };
  expect(book.add(order, now, order.customer && '1048262')).toEqual(expected);
  expect(book.list(now)).toEqual([expected]);
});

test.each<[order: Partial<FaultOrder>, wrong: string | undefined]>([
  [{}, undefined],
  [{ times: 0 }, 'times'],
  [{ times: 1 }, undefined],
  [{ times: 1.5 }, 'times'],
  [{ after: -1 }, 'after'],
  [{ after: 0 }, undefined],
  [{ probability: 0 }, 'probability'],
  [{ probability: 0.001 }, undefined],
  [{ probability: 1 }, undefined],
  [{ probability: 1.001 }, 'probability'],
  [{ forSeconds: 0 }, 'forSeconds'],
  [{ forSeconds: 1 }, undefined],
])('an order with %j: wrong is %s', (order, wrong) => {
  const { error } = faultOrder.safeParse({ fault: 'empty', ...order });
  expect(error?.issues.map(({ path }) => path.join('.'))).toEqual(wrong && [wrong]);
});

test('a hundred faults are the most, and the next one says how to clear them', () => {
  const book = new FaultBook();
  for (let count = 1; count <= 100; count += 1) book.add({ fault: 'empty', forSeconds: count }, now);
  const one = () => book.add({ fault: 'empty' }, now);
  const hint = 'Clear them: psd2 sandbox fault clear';
  expect(one).toThrow(new BadFault('There are already 100 faults', hint));
  // One that has ended makes room. Its id is not given again.
  expect(book.add({ fault: 'empty' }, at(1)).id).toBe(101);
  expect(() => book.add({ fault: 'empty' }, at(1))).toThrow(BadFault);
});

test.each<[id: number | undefined, cleared: number, left: number[]]>([
  [2, 1, [1, 3]],
  [4, 0, [1, 2, 3]],
  [undefined, 3, []],
])('of three faults, clearing %s removes %i', (id, cleared, left) => {
  const book = new FaultBook();
  for (const fault of ['empty', 'delay=5', 'status=503']) book.add({ fault }, now);
  expect(book.clear(id)).toBe(cleared);
  expect(book.list(now).map((one) => one.id)).toEqual(left);
});

test('a fault ends at its time, not before', () => {
  const book = new FaultBook();
  book.add({ fault: 'empty', forSeconds: 60 }, now);
  const due = (seconds: number) => book.due(call, { now: at(seconds), customerId: undefined }).length;
  expect([due(0), due(59.999), due(60)]).toEqual([1, 1, 0]);
  expect(book.list(now)).toEqual([]);
});

test.each<[seconds: number, left: number[]]>([
  [0, [1, 2, 3, 4]],
  [59.999, [1, 2, 3, 4]],
  [60, [1, 3, 4]],
  [89.999, [1, 3, 4]],
  [90, [1, 4]],
])('after %d seconds the list has the faults %j, although no call came', (seconds, left) => {
  const book = new FaultBook();
  for (const forSeconds of [undefined, 60, 90, 3600])
    book.add({ fault: 'empty', ...(forSeconds !== undefined && { forSeconds }) }, now);
  expect(book.list(at(seconds)).map(({ id }) => id)).toEqual(left);
});

test.each<[order: Partial<FaultOrder>, fires: string, seen: number, fired: number]>([
  [{}, '11111', 5, 5],
  [{ times: 1 }, '10000', 5, 1],
  [{ times: 2 }, '11000', 5, 2],
  [{ after: 1 }, '01111', 5, 4],
  [{ after: 2, times: 2 }, '00110', 5, 2],
  [{ on: 'GET /private/*' }, '11111', 5, 5],
  [{ on: 'PUT /private/*' }, '00000', 0, 0],
])('five calls under the fault %j', (order, fires, seen, fired) => {
  const book = new FaultBook();
  book.add({ fault: 'status=503', ...order }, now);
  const due = Array.from({ length: 5 }, () => book.due(call, nobody));
  expect(due.map(({ length }) => length).join('')).toBe(fires);
  for (const [fault] of due.filter(({ length }) => length > 0))
    expect(fault).toEqual({ kind: 'status', value: 503 });
  expect(book.list(now)).toMatchObject([{ seen, fired }]);
});

test.each<[of: string | undefined, by: string | undefined, isDue: boolean]>([
  [undefined, undefined, true],
  [undefined, '1048262', true],
  ['1048262', '1048262', true],
  ['1048262', '2073915', false],
  ['1048262', undefined, false],
])('a fault of the customer %s changes a call of %s: %s', (of, by, isDue) => {
  const book = new FaultBook();
  book.add({ fault: 'empty' }, now, of);
  expect(book.due(call, { now, customerId: by })).toHaveLength(isDue ? 1 : 0);
  expect(book.list(now)).toMatchObject([{ seen: isDue ? 1 : 0 }]);
});

test('several faults apply in their order, and a forgotten customer has none', () => {
  const book = new FaultBook();
  book.add({ fault: 'delay=5' }, now, anna.customerId);
  book.add({ fault: 'empty' }, now);
  book.add({ fault: 'no-sca' }, now, '2073915');
  const due = () => book.due(call, { now, customerId: anna.customerId }).map(({ kind }) => kind);
  expect(due()).toEqual(['delay', 'empty']);
  book.forgetCustomer(anna);
  expect(due()).toEqual(['empty']);
  expect(book.list(now).map(({ id }) => id)).toEqual([2, 3]);
});

test('a magic value is used once for each flow', () => {
  const used = new UsedMagic();
  expect(['EXECUTE a', 'EXECUTE a', 'EXECUTE b', 'STATUS a'].map((key) => used.use(key))).toEqual([
    ...[true, false, true, true],
  ]);
});
