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

it('only work with 12 MiB for new objects keeps its heap small, once, with both settings, until it ends', async () => {
  const spaces = vi.mocked(getHeapSpaceStatistics);
  const flags = () => vi.mocked(setFlagsFromString).mock.calls.flat();
  const ending = (milliseconds: number) => new Promise<void>((done) => setTimeout(done, milliseconds));
  spaces.mockReturnValue([space('old_space', 12), space('new_space', 11)]);
  const short = keepHeapSmall(() => ending(1000));
  await vi.advanceTimersByTimeAsync(1000);
  await short;
  expect([flags(), vi.getTimerCount()]).toEqual([[], 0]);
  spaces.mockReturnValue([space('old_space', 12), space('new_space', 12)]);
  const long = keepHeapSmall(async () => {
    await ending(1000);
    throw new Error('it failed');
  });
  const failed = expect(long).rejects.toThrow('it failed');
  await vi.advanceTimersByTimeAsync(999);
  expect(flags()).toEqual(['--heap-growing-percent=20', '--semi-space-growth-factor=1']);
  await vi.advanceTimersByTimeAsync(1);
  await failed;
  expect(flags().slice(2)).toEqual(['--heap-growing-percent=0', '--semi-space-growth-factor=2']);
});
