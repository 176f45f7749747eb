import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { onTestFinished } from 'vitest';

/**
 * Lets time pass only while the store waits: each wait takes a second, whatever was asked for.
 *
 * @param during called at the end of each wait, with the seconds that have passed
 * @returns the milliseconds that were asked for, and the seconds that have passed
 */
export function secondsWhileWaiting(during: (seconds: number) => void = () => {}) {
  const time: { asked: number[]; seconds: number } = { asked: [], seconds: 0 };
  replaceForStore(performance, 'now', () => 1_000_000 + time.seconds * 1_000);
  replaceForStore(timers, 'setTimeout', async (milliseconds: number) => {
    time.asked.push(milliseconds);
    time.seconds += 1;
    if (time.seconds > 1_000) throw new RangeError('The store waits forever');
    during(time.seconds);
    await timers.setImmediate();
  });
  return time;
}

/** Another process holds a lock, and gives a sign at each wait. @returns what {@link secondsWhileWaiting} does */
export function heldByAnother(lock: string) {
  const beat = (at: number) => {
    fs.writeFileSync(lock, '{"pid":7,"host":"h","since":"now"}');
    fs.utimesSync(lock, at, at);
  };
  beat(0);
  return secondsWhileWaiting(beat);
}

/**
 * Replaces a function of an object until the test ends, but only for the code of the store. All else in this process, such
 * as a sandbox that has not ended yet, would make a clock run faster.
 */
export function replaceForStore(of: object, name: string, by: (...args: never[]) => unknown): void {
  const original: unknown = Reflect.get(of, name);
  if (typeof original !== 'function') throw new TypeError(`${name} is not a function`);
  replace(of, name, (...args: never[]) => {
    const isStore = /\/src\/store\//.test(new Error('called').stack ?? '');
    return Reflect.apply(isStore ? by : original, of, args);
  });
}

/** Replaces a function of an object until the test ends. */
export function replace<Args extends never[]>(
  of: object,
  name: string,
  by: (...args: Args) => unknown,
): void {
  const before = Object.getOwnPropertyDescriptor(of, name);
  Object.defineProperty(of, name, { configurable: true, writable: true, enumerable: true, value: by });
  syncBuiltinESMExports();
  onTestFinished(() => {
    if (before) Object.defineProperty(of, name, before);
    else Reflect.deleteProperty(of, name);
    syncBuiltinESMExports();
  });
}

/** Calls `instead` in place of the store's next call of a function of the file system. It gets the original call, and its arguments. */
export function once(
  name:
    | 'openSync'
    | 'statSync'
    | 'writeSync'
    | 'linkSync'
    | 'writeFileSync'
    | 'fdatasyncSync'
    | 'readFileSync'
    | 'rmSync'
    | 'readdirSync'
    | 'readSync'
    | 'appendFileSync'
    | 'fsyncSync'
    | 'renameSync'
    | 'lstatSync',
  instead: (goOn: () => unknown, ...args: never[]) => unknown,
): void {
  const original = fs[name];
  let isNext = true;
  replaceForStore(fs, name, (...args: never[]) => {
    const goOn = () => Reflect.apply(original, fs, args);
    if (!isNext) return goOn();
    isNext = false;
    return instead(goOn, ...args);
  });
}

/** A function that fails as the file system does. */
export const failing = (code: string) => () => {
  throw Object.assign(new Error(`${code}: the disk says so`), { code });
};
