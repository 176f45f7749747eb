import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { afterAll, afterEach, beforeEach, expect, it, vi } from 'vitest';
import { keepHeapSmall } from '../../../src/commands/shared/keep-heap-small.ts';

// Other test files load this module too, so it is reloaded.
vi.hoisted(() => vi.resetModules());
afterAll(() => vi.resetModules());
vi.mock('node:v8', () => ({ getHeapSpaceStatistics: vi.fn(), setFlagsFromString: vi.fn() }));

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const space = (name: string, mib: number) => ({
  ...{ space_name: name, space_size: 0, space_used_size: 0, space_available_size: 0 },
  physical_space_size: mib * 1024 ** 2,
});

it('only a command with 12 MiB for new objects keeps its heap small, once, with both settings, and a round that has ended looks no longer', () => {
  const spaces = vi.mocked(getHeapSpaceStatistics);
  spaces.mockReturnValue([space('old_space', 12), space('new_space', 11)]);
  keepHeapSmall();
  vi.advanceTimersByTime(1000);
  expect(setFlagsFromString).not.toHaveBeenCalled();
  const stop = keepHeapSmall();
  stop();
  expect(vi.getTimerCount()).toBe(1);
  spaces.mockReturnValue([space('old_space', 12), space('new_space', 12)]);
  vi.advanceTimersByTime(1000);
  expect(vi.mocked(setFlagsFromString).mock.calls).toEqual([
    ['--heap-growing-percent=20'],
    ['--semi-space-growth-factor=1'],
  ]);
});
