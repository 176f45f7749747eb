import { createHook } from 'node:async_hooks';
import { expect, it, onTestFinished, vi } from 'vitest';
import { keepThreadsAwake } from '../../src/cli/run.ts';

it('the threads that read files get work each second, until they may sleep', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  let works = 0;
  const watch = createHook({
    init: (_id, type) => {
      if (type === 'FSREQCALLBACK') works += 1;
    },
  }).enable();
  onTestFinished(() => {
    watch.disable();
    vi.useRealTimers();
  });
  const letThemSleep = keepThreadsAwake();
  vi.advanceTimersByTime(3_000);
  expect(works).toBe(3);
  letThemSleep();
  vi.advanceTimersByTime(3_000);
  expect(works).toBe(3);
});
