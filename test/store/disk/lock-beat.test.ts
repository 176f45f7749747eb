import { closeSync, futimesSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { beginBeat } from '../../../src/store/disk/lock.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const LONG_AGO = new Date('2020-01-01T00:00:00Z');
const folder = temporaryFolder();

/** A lock that was last touched long ago. */
function oldLock(name: string) {
  const path = join(folder, name);
  const file = openSync(path, 'w');
  onTestFinished(() => closeSync(file));
  const age = () => futimesSync(file, LONG_AGO, LONG_AGO);
  age();
  return { file, age, isTouched: () => statSync(path).mtimeMs > LONG_AGO.getTime() };
}

const waiting = { timeout: 15_000, interval: 50 };

it('a lock is touched again and again, and no longer after its beat has ended', async () => {
  const [held, released] = [oldLock('held.lock'), oldLock('released.lock')];
  const endBeat = beginBeat(released.file);
  onTestFinished(beginBeat(held.file));
  await vi.waitFor(() => expect([held.isTouched(), released.isTouched()]).toEqual([true, true]), waiting);
  endBeat();
  // A touch that was under way when the beat ended comes before the next touch of the other lock.
  held.age();
  await vi.waitFor(() => expect(held.isTouched()).toBe(true), waiting);
  released.age();
  held.age();
  await vi.waitFor(() => expect(held.isTouched()).toBe(true), waiting);
  expect(released.isTouched()).toBe(false);
});
