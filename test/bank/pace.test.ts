import { describe, expect, it } from 'vitest';
import { Pace } from '../../src/bank/call/pace.ts';

/** A pace in a time of its own: `beginnings` are the milliseconds at which calls got their turn. */
function usePace() {
  let time = 0;
  const waiting: { until: number; wake: () => void }[] = [];
  const pace = new Pace({
    clock: () => time,
    random: () => 0.5,
    sleep: (milliseconds) => new Promise((wake) => waiting.push({ until: time + milliseconds, wake })),
  });
  const beginnings: number[] = [];
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return {
    pace,
    beginnings,
    /** Begins a call; its turn may come later. */
    call: () => void pace.turn().then(() => beginnings.push(time)),
    /** Lets the time pass until nobody waits any more. */
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
  it('holds up no call while the bank takes them', async () => {
    const { pace, beginnings, call, pass } = usePace();
    for (let calls = 0; calls < 3; calls += 1) {
      call();
      await pace.goOn();
    }
    await pass();
    expect(beginnings).toEqual([0, 0, 0]);
  });

  it('holds up all calls as long as the bank asked, and lets them go one after the other', async () => {
    const { pace, beginnings, call, pass } = usePace();
    await pace.slowDown(1_000);
    for (let calls = 0; calls < 3; calls += 1) call();
    await pass();
    expect(beginnings).toEqual([1_000, 1_020, 1_040]);
  });

  it('holds up calls that wait for their turn already, when another one is turned away', async () => {
    const { pace, beginnings, call, pass } = usePace();
    await pace.slowDown(1_000);
    call();
    call();
    await pass(1_000);
    await pace.slowDown(5_000);
    await pass();
    expect(beginnings).toEqual([1_000, 6_000]);
  });

  it('draws the calls apart with each refusal, up to two seconds, and together with each answer', async () => {
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

  it('holds them up twice as long each time, where the bank does not say how long', async () => {
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

  it('takes calls that are turned away together as one refusal', async () => {
    const { pace, beginnings, call, pass } = usePace();
    for (let refusals = 0; refusals < 8; refusals += 1) await pace.slowDown(null);
    call();
    await pass();
    expect(beginnings).toEqual([250]);
  });
});
