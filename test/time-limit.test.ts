import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { beginTimeLimit } from '../src/time-limit.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const ending = (signal: AbortSignal) =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(signal.reason)));

/** Waits with an active timer, since a limit does not keep the process alive. */
async function endedUnder<T>(work: Promise<T>): Promise<T> {
  const alive = setInterval(collectGarbage, 5);
  return work.finally(() => clearInterval(alive));
}

describe('a time limit', () => {
  it('ends, though garbage is collected in the meantime', async () => {
    const operator = new AbortController();
    const limits = Array.from({ length: 8 }, () => beginTimeLimit(40, operator.signal));
    const reasons = await endedUnder(Promise.all(limits.map(({ signal }) => ending(signal))));
    expect(reasons).toEqual(limits.map(() => expect.objectContaining({ name: 'TimeoutError' })));
    expect(limits.map((limit) => limit.isOver())).toEqual(limits.map(() => true));
  });

  it('ends with the reason of the signal, and is not over', () => {
    const operator = new AbortController();
    const limit = beginTimeLimit(60_000, operator.signal);
    operator.abort('Ctrl-C');
    expect(limit.signal.reason).toBe('Ctrl-C');
    expect(limit.isOver()).toBe(false);
    limit.clear();
  });

  it('has ended from the beginning if the signal had', () => {
    const limit = beginTimeLimit(60_000, AbortSignal.abort('Ctrl-C'));
    expect(limit.signal.reason).toBe('Ctrl-C');
    expect(limit.isOver()).toBe(false);
    limit.clear();
  });

  it('is never over after it was cleared', async () => {
    const operator = new AbortController();
    const cleared = beginTimeLimit(1, operator.signal);
    cleared.clear();
    const later = beginTimeLimit(20);
    await endedUnder(ending(later.signal));
    operator.abort();
    expect(cleared.signal.aborted).toBe(false);
  });
});
