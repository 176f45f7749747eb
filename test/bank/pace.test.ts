import { describe, expect, it } from 'vitest';
import { Pace } from '../../src/bank/call/pace.ts';

/** Makes a pace with its own clock. `beginnings` are the milliseconds at which calls had their turn. */
function usePace(random = 0.5) {
  let time = 0;
  const waiting: { until: number; wake: () => void }[] = [];
  const pace = new Pace({
    clock: () => time,
    random: () => random,
    sleep: (milliseconds) => new Promise((wake) => waiting.push({ until: time + milliseconds, wake })),
  });
  const beginnings: number[] = [];
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return {
    pace,
    beginnings,
    /** Begins a call. Its turn may come later. */
    call: () => void pace.turn().then(() => beginnings.push(time)),
    /** Lets time pass until no call waits. */
    async pass(until = Number.POSITIVE_INFINITY) {
      await settled();
      for (;;) {
        waiting.sort((a, b) => a.until - b.until);
        const next = waiting[0];
        if (!next || next.until > until) return;
        waiting.shift();
        time = next.until;
        next.wake();
        await settled();
      }
    },
  };
}

describe('the pace of calls', () => {
  it('no call waits while the bank accepts calls', async () => {
    const { pace, beginnings, call, pass } = usePace();
    for (let calls = 0; calls < 3; calls += 1) {
      call();
      await pace.goOn();
    }
    await pass();
    expect(beginnings).toEqual([0, 0, 0]);
  });

  it('a call that need not wait does not even pause', async () => {
    const pace = new Pace({
      clock: () => 0,
      random: () => 0.5,
      sleep: () => Promise.reject(new TypeError('The call paused')),
    });
    await pace.turn();
    expect(pace.turns).toBe(1);
  });

  it('all calls wait as long as the bank asked, and then start one after the other', async () => {
    const { pace, beginnings, call, pass } = usePace();
    await pace.slowDown(1_000);
    for (let calls = 0; calls < 3; calls += 1) call();
    await pass();
    expect(beginnings).toEqual([1_000, 1_020, 1_040]);
  });

  it.each([
    [10, [1_000, 1_060, 1_100, 1_140]],
    [1_500, [1_000, 2_500, 2_540, 2_580]],
  ])(
    'a short pause after turns that are given already moves none of them together: %i ms',
    async (pause, turns) => {
      const { pace, beginnings, call, pass } = usePace();
      await pace.slowDown(1_000);
      for (let calls = 0; calls < 3; calls += 1) call();
      await pass(1_000);
      await pace.slowDown(pause);
      call();
      await pass();
      expect(beginnings).toEqual(turns);
    },
  );

  it('calls that already wait for their turn wait longer if the bank turns another one away', async () => {
    const { pace, beginnings, call, pass } = usePace();
    await pace.slowDown(1_000);
    call();
    call();
    await pass(1_000);
    await pace.slowDown(5_000);
    await pass();
    expect(beginnings).toEqual([1_000, 6_000]);
  });

  it('each refusal spaces the calls out, up to two seconds, and each answer brings them closer together', async () => {
    const { pace, beginnings, call, pass } = usePace();
    for (let refusals = 0; refusals < 20; refusals += 1) await pace.slowDown(0);
    for (let calls = 0; calls < 3; calls += 1) call();
    await pass();
    expect(beginnings).toEqual([0, 2_000, 4_000]);
    for (let answers = 0; answers < 200; answers += 1) await pace.goOn();
    call();
    await pass();
    call();
    call();
    await pass();
    expect(beginnings.slice(3)).toEqual([6_000, 6_000, 6_000]);
  });

  it('if the bank does not say how long, calls wait twice as long after each refusal', async () => {
    const { pace, beginnings, call, pass } = usePace();
    for (let refusals = 0; refusals < 3; refusals += 1) {
      await pace.slowDown(null);
      call();
      await pass();
    }
    expect(beginnings).toEqual([250, 750, 1_750]);
    await pace.goOn();
    await pace.slowDown(null);
    call();
    await pass();
    expect(beginnings.at(-1)).toBe(2_000);
  });

  it.each([
    [0, 125],
    [1, 375],
  ])('the wait has jitter: with %d it is %i ms', async (random, wait) => {
    const { pace, beginnings, call, pass } = usePace(random);
    await pace.slowDown(null);
    call();
    await pass();
    expect(beginnings).toEqual([wait]);
  });

  it('however often the bank refuses, calls wait at most 30 seconds if it does not say how long', async () => {
    const { pace, beginnings, call, pass } = usePace(1);
    for (let refusals = 0; refusals < 12; refusals += 1) {
      await pace.slowDown(null);
      call();
      await pass();
    }
    expect((beginnings.at(-1) ?? 0) - (beginnings.at(-2) ?? 0)).toBe(30_000);
  });

  it('each accepted call makes the gap a tenth shorter, and below 10 ms there is none', async () => {
    const gapAfter = async (accepted: number) => {
      const { pace, beginnings, call, pass } = usePace();
      await pace.slowDown(0);
      for (let answers = 0; answers < accepted; answers += 1) await pace.goOn();
      call();
      call();
      await pass();
      return (beginnings[1] ?? 0) - (beginnings[0] ?? 0);
    };
    expect(await gapAfter(0)).toBe(20);
    expect(await gapAfter(1)).toBe(18);
    expect(await gapAfter(7)).toBeCloseTo(20 * 0.9 ** 7);
    expect(await gapAfter(8)).toBe(0);
  });

  it('psd2 counts the calls that had their turn, not those that wait', async () => {
    const { pace, call, pass } = usePace();
    call();
    call();
    await pass();
    await pace.slowDown(1_000);
    call();
    expect(pace.turns).toBe(2);
    await pass();
    expect(pace.turns).toBe(3);
  });

  it('calls that the bank turns away at the same time count as one refusal', async () => {
    const { pace, beginnings, call, pass } = usePace();
    for (let refusals = 0; refusals < 8; refusals += 1) await pace.slowDown(null);
    call();
    await pass();
    expect(beginnings).toEqual([250]);
  });
});
