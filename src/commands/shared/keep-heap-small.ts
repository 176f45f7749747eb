import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** What is enough for new objects: a larger space is no faster here. Bytes. */
const ENOUGH = 12 * 1024 * 1024;
const LOOK_EVERY_MS = 10;
/** The settings of V8, and its own values. */
const SMALL = ['--heap-growing-percent=20', '--semi-space-growth-factor=1'];
const USUAL = ['--heap-growing-percent=0', '--semi-space-growth-factor=2'];

/**
 * Keeps the heap small while work streams much more data than it holds. By default, V8 lets garbage grow to several times the live
 * data, and doubles the space for new objects up to 32 MB, for a little speed. V8 reads both settings whenever it grows the heap, so
 * they act at once. Short work never has so much, and is faster without them. Afterwards they are as before: what the process does
 * next, its new threads too, begins with V8's own values.
 */
export async function keepHeapSmall<T>(work: () => Promise<T>): Promise<T> {
  let isSmall = false;
  const look = setInterval(() => {
    const young = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space');
    if (young === undefined || young.physical_space_size < ENOUGH) return;
    clearInterval(look);
    isSmall = true;
    for (const flag of SMALL) setFlagsFromString(flag);
  }, LOOK_EVERY_MS).unref();
  try {
    return await work();
  } finally {
    clearInterval(look);
    if (isSmall) for (const flag of USUAL) setFlagsFromString(flag);
  }
}
