import { setFlagsFromString } from 'node:v8';

/** A shorter command does not need this, and is faster without it. */
const LONG_MS = 500;

/**
 * Keeps the heap small in long commands that stream much more data than they hold. By default, V8 lets garbage grow to
 * several times the live data, for a little speed. V8 reads both settings whenever it grows the heap, so they act at once.
 */
export function keepHeapSmall(): void {
  setTimeout(() => {
    setFlagsFromString('--heap-growing-percent=20');
    setFlagsFromString('--semi-space-growth-factor=1');
  }, LONG_MS).unref();
}
