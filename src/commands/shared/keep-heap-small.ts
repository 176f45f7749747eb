import { setFlagsFromString } from 'node:v8';

/** What ends sooner needs no care, and is quicker without. */
const LONG_MS = 500;

/**
 * For commands through which much more may pass than they hold: when they take long, V8 keeps the heap near its size of
 * then and near what is held. Left alone, it lets garbage grow to some times that before it looks, for a little speed.
 * It reads both of these settings whenever it grows the heap, so they act at once.
 */
export function keepHeapSmall(): void {
  setTimeout(() => {
    setFlagsFromString('--heap-growing-percent=20');
    setFlagsFromString('--semi-space-growth-factor=1');
  }, LONG_MS).unref();
}
