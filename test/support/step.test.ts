import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { step } from './step.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const said: string[] = [];
const of = (running: string[]) => ({
  ...{ name: 'the last sync', milliseconds: 90_000, running: () => running },
  tell: (text: string) => void said.push(text),
});

it('a step says that it begins, and gives what its work gives', async () => {
  expect(await step(of([]), async () => 'done')).toBe('done');
  expect(said.at(-1)).toMatch(/^\d\d:\d\d:\d\d the last sync, at most 1\.5 min$/);
  expect(vi.getTimerCount()).toBe(0);
});

it('a step fails with its work', async () => {
  const work = async () => {
    throw new Error('The bank is gone');
  };
  await expect(step(of([]), work)).rejects.toThrow('The bank is gone');
});

it.each([
  [['psd2 sync (7)', 'psd2 transfer resume (8)'], 'these run: psd2 sync (7); psd2 transfer resume (8)'],
  [[], 'nothing runs'],
])('a step that does not end says what it waits for: %j', async (running, what) => {
  const late = expect(step(of(running), () => new Promise(() => {}))).rejects.toThrow(
    `Not done after 1.5 min: the last sync. While it waits, ${what}`,
  );
  await vi.advanceTimersByTimeAsync(90_000);
  await late;
});
