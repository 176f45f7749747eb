import { setFlagsFromString } from 'node:v8';
import { afterAll, afterEach, beforeEach, expect, it, vi } from 'vitest';
import { keepHeapSmall } from '../../../src/commands/shared/keep-heap-small.ts';

// Other test files load this module too, so it is reloaded.
vi.hoisted(() => vi.resetModules());
afterAll(() => vi.resetModules());
vi.mock('node:v8', () => ({ setFlagsFromString: vi.fn() }));

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('only a command that takes half a second keeps its heap small, with both settings', () => {
  keepHeapSmall();
  vi.advanceTimersByTime(499);
  expect(setFlagsFromString).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(vi.mocked(setFlagsFromString).mock.calls).toEqual([
    ['--heap-growing-percent=20'],
    ['--semi-space-growth-factor=1'],
  ]);
});
