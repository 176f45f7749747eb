import { expect, it } from 'vitest';
import { Counter, DownFinder } from '../../src/smoke/roll-up.ts';
import {
  addCall,
  addCounts,
  type CountedCall,
  Downtime,
  errorRate,
  errorsOf,
  noCounts,
  type Outcome,
  outcomeOf,
  percentile,
  STAT_KINDS,
  secondsDown,
  uptime,
} from '../../src/smoke/stats.ts';

// The edges of the figures. What psd2 log stats prints of them is in test/commands/log/stats.test.ts.

const call = (more: Partial<CountedCall> = {}): CountedCall => ({
  ...{ at: '2026-11-25T10:00:00.000Z', host: 'bank.example', method: 'GET', route: '/v1/accounts' },
  ...{ kind: 'ais', status: 200, failure: null, milliseconds: 100, isSmoke: false, ...more },
});
const second = (of: number, more: Partial<CountedCall> = {}) =>
  call({ at: new Date(of * 1000).toISOString(), ...more });
const NO_REPLY = { status: null, failure: 'no reply' } as const;
const counted = (...calls: Partial<CountedCall>[]) => {
  const counts = noCounts();
  for (const each of calls) addCall(counts, call(each));
  return counts;
};

/** What became of a call, and what is counted of it beside the call. */
const OUTCOMES: [
  Partial<CountedCall>,
  Outcome,
  counted: string | null,
  isAnswered: boolean,
  isError: boolean,
][] = [
  [{ status: 200 }, 'ok', null, true, false],
  [{ status: 302 }, 'ok', null, true, false],
  [{ status: 399 }, 'ok', null, true, false],
  [{ status: 400 }, 'client error', 'clientErrors', true, false],
  [{ status: 408 }, 'client error', 'clientErrors', true, false],
  [{ status: 419 }, 'client error', 'clientErrors', true, false],
  [{ status: 420 }, 'limited', 'limited', true, false],
  [{ status: 421 }, 'client error', 'clientErrors', true, false],
  [{ status: 428 }, 'client error', 'clientErrors', true, false],
  [{ status: 429 }, 'limited', 'limited', true, false],
  [{ status: 430 }, 'client error', 'clientErrors', true, false],
  [{ status: 499 }, 'client error', 'clientErrors', true, false],
  [{ status: 500 }, 'server error', 'serverErrors', true, true],
  [{ status: 599 }, 'server error', 'serverErrors', true, true],
  [{ status: null, failure: 'unusable' }, 'unusable', 'unusable', true, true],
  [NO_REPLY, 'no reply', 'noReply', false, true],
  // A log of an older psd2 does not say why.
  [{ status: null }, 'no reply', 'noReply', false, true],
];

it.each(OUTCOMES)('a call with %j is: %s', (more, outcome, name, isAnswered, isError) => {
  expect(outcomeOf(call(more))).toBe(outcome);
  const counts = counted(more);
  const { times, ...numbers } = counts;
  expect(numbers).toEqual({
    ...{ calls: 1, noReply: 0, serverErrors: 0, unusable: 0, clientErrors: 0, limited: 0, own: 0 },
    ...{ answered: isAnswered ? 1 : 0, sum: isAnswered ? 100 : 0, max: isAnswered ? 100 : 0 },
    ...(name !== null && { [name]: 1 }),
  });
  expect(times.reduce((sum, each) => sum + each, 0)).toBe(isAnswered ? 1 : 0);
  expect([errorsOf(counts), errorRate(counts)]).toEqual(isError ? [1, 100] : [0, 0]);
});

it("what was this machine's own fault counts for nothing else", () => {
  const counts = counted({ status: null, failure: 'own' });
  expect(counts).toEqual({ ...noCounts(), own: 1 });
  expect([errorRate(counts), percentile(counts, 0.5)]).toEqual([null, null]);
});

it('the share of errors is of all calls, in percent', () => {
  const counts = counted(
    { status: 500 },
    NO_REPLY,
    { failure: 'unusable', status: null },
    {},
    {},
    {},
    {},
    {},
  );
  expect([errorsOf(counts), errorRate(counts)]).toEqual([3, 37.5]);
});

it.each([
  // The classes grow by a third: 1, 1.34, 1.8, ... and the last one ends at 90 s.
  [[1], 0.5, 1],
  [[0], 0.5, 0],
  [[100], 0.5, 100],
  [[100], 1, 100],
  [[12, 12, 12, 1000], 0.75, 14],
  [[12, 12, 12, 1000], 0.76, 1000],
  [[1000, 12, 12, 12], 0.5, 14],
  [[13, 15, 500], 0.2, 14],
  [[13, 15, 500], 0.5, 19],
  [[90_000, 90_000], 0.5, 90_000],
  // The last class has no end.
  [[500_000], 0.5, 500_000],
  [[12, 95_000, 500_000], 0.6, 500_000],
])('of the times %j, the share %d is within %d ms', (times, share, within) => {
  const counts = counted(...times.map((milliseconds) => ({ milliseconds })));
  expect(counts.times).toHaveLength(40);
  expect(percentile(counts, share)).toBe(within);
});

it('counts that are added are those of all calls, whichever come first', () => {
  const [some, others] = [
    counted({ milliseconds: 3000 }, { status: 500 }, NO_REPLY, { status: 404 }),
    counted({ milliseconds: 20 }, { status: 429 }, { status: null, failure: 'unusable' }),
  ];
  const all = counted(
    ...[{ milliseconds: 3000 }, { status: 500 }, NO_REPLY, { status: 404 }],
    ...[{ milliseconds: 20 }, { status: 429 }, { status: null, failure: 'unusable' as const }],
    { status: null, failure: 'own' },
  );
  for (const order of [
    [some, others],
    [others, some],
  ]) {
    const total = counted({ status: null, failure: 'own' });
    for (const each of order) addCounts(total, each);
    expect(total).toEqual(all);
  }
});

const five = (begin: number, more: Partial<CountedCall> = NO_REPLY) =>
  [0, 1, 2, 3, 4].map((index) => second(begin + index, more));
const down = (calls: readonly CountedCall[], serverErrorsAreDown?: boolean) => {
  const downtime = new Downtime(serverErrorsAreDown);
  for (const each of calls) downtime.add(each);
  const found = downtime.find().map(({ from, to }) => [from / 1000, to / 1000]);
  return { found, gap: downtime.longestGap / 1000 };
};

it.each<[what: string, CountedCall[], found: number[][], gap: number, with5xx?: number[][]]>([
  ['no call', [], [], 0],
  ['five, and no answer since', five(10), [[10, 14]], 1],
  ['five, and an answer', [...five(10), second(20)], [[10, 20]], 6],
  ['four and an answer', [...five(10).slice(1), second(20)], [], 6],
  ['six', [second(9, NO_REPLY), ...five(10), second(20)], [[9, 20]], 6],
  [
    'twice',
    [...five(10), second(20), ...five(30), second(40), second(50)],
    [
      [10, 20],
      [30, 40],
    ],
    10,
  ],
  [
    'three before an answer and four after it',
    [...five(10).slice(2), second(15), ...five(20).slice(1)],
    [],
    6,
  ],
  ['answers after just 30 s', [...five(10, { milliseconds: 30_000 }), second(20)], [], 6],
  ['answers that took longer', [...five(10, { milliseconds: 30_001 }), second(20)], [[10, 20]], 6],
  ['refusals', [...five(10, { status: 429 }), second(20)], [], 6],
  ['answers that are of no use', [...five(10, { status: null, failure: 'unusable' }), second(20)], [], 6],
  ['errors of the server', [...five(10, { status: 500 }), second(20)], [], 6, [[10, 20]]],
  [
    'our own failures between them',
    [...five(10), second(12, { status: null, failure: 'own' }), second(20)],
    [[10, 20]],
    6,
  ],
  ['only our own failures', five(10, { status: null, failure: 'own' }), [], 0],
])('downtime after %s', (_, calls, found, gap, with5xx = found) => {
  expect(down(calls)).toEqual({ found, gap });
  expect(down(calls.toReversed())).toEqual({ found, gap });
  expect(down(calls, true).found).toEqual(with5xx);
});

it('the law counts payments, readings and funds for downtime, and no consents, logins and others', () => {
  const counting = STAT_KINDS.filter((kind) => down(five(10, { ...NO_REPLY, kind })).found.length > 0);
  expect(counting).toEqual(['ais', 'pis', 'piis']);
});

it.each<[downs: [number, number][], seconds: number]>([
  [[], 0],
  [[[110, 120]], 10],
  // Cut at the beginning and at the end of the day.
  [[[90, 120]], 20],
  [[[190, 220]], 10],
  [[[0, 300]], 100],
  [[[0, 100]], 0],
  [[[200, 300]], 0],
  [
    [
      [150, 160],
      [110, 120],
    ],
    20,
  ],
  // At two of its hosts at once.
  [
    [
      [110, 130],
      [120, 140],
    ],
    30,
  ],
  [
    [
      [110, 150],
      [120, 130],
      [140, 160],
    ],
    50,
  ],
  [[[110, 110.6]], 1],
])('of a day from 100 s to 200 s, a bank that was down at %j was down %i s', (downs, seconds) => {
  const of = downs.map(([from, to]) => ({ from: from * 1000, to: to * 1000 }));
  expect(secondsDown(of, 100_000, 200_000)).toBe(seconds);
});

it.each([
  [0, 1, 100],
  [864, 1, 99],
  [86_400, 1, 0],
  [864, 10, 99.9],
])('%i s down in %i days is %d percent up', (seconds, days, percent) => {
  expect(uptime(seconds, days)).toBeCloseTo(percent, 9);
  if (days === 1) expect(uptime(seconds)).toBe(uptime(seconds, 1));
});

const own = (more: Partial<CountedCall> = {}, profile = 'one') => ({ ...call(more), profile });

it('counts by day, profile, host, kind, route with its method, and whether a smoke test made the call', () => {
  const counter = new Counter((at) => at.slice(0, 10));
  const differing: ReturnType<typeof own>[] = [
    own(),
    own({ at: '2026-11-26T00:00:00.000Z' }),
    own({ host: 'other.example' }),
    own({ kind: 'pis' }),
    own({ route: '/v1/cards' }),
    own({ method: 'POST' }),
    own({ isSmoke: true }),
    own({}, 'two'),
  ];
  for (const each of [...differing, ...differing]) counter.add(each);
  const { lines } = counter;
  expect(lines.map(({ counts }) => counts.calls)).toEqual(differing.map(() => 2));
  expect(lines[0]).toEqual({
    ...{ day: '2026-11-25', profile: 'one', host: 'bank.example', kind: 'ais', route: 'GET /v1/accounts' },
    ...{ smoke: false, counts: counted({}, {}) },
  });
  expect(lines[1]?.day).toBe('2026-11-26');
  const total = new Counter((at) => at.slice(0, 10));
  for (const line of [...lines, ...lines]) total.addLine(line);
  expect(total.lines.map(({ counts }) => counts.calls)).toEqual(differing.map(() => 4));
  // What was counted before stays as it was.
  expect(lines.map(({ counts }) => counts.calls)).toEqual(differing.map(() => 2));
});

it('finds when each bank of each profile was down by itself, and the longest time without a call of any', () => {
  const finder = new DownFinder();
  const add = (profile: string, host: string, calls: CountedCall[]) =>
    calls.forEach((each) => void finder.add({ ...each, host, profile }));
  add('one', 'a', [...five(10), second(30)]);
  add('one', 'b', five(10).slice(0, 3));
  add('two', 'b', five(20).slice(0, 3));
  add('two', 'a', [second(11), ...five(50)]);
  expect(finder.find()).toEqual([
    { profile: 'one', host: 'a', down: { from: 10_000, to: 30_000 } },
    { profile: 'two', host: 'a', down: { from: 50_000, to: 54_000 } },
  ]);
  expect(finder.longestGap).toBe(39_000);
  const strict = new DownFinder(true);
  for (const each of five(10, { status: 503 })) strict.add({ ...each, profile: 'one' });
  expect(strict.find()).toHaveLength(1);
});
