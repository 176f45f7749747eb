import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** What is enough for new objects: a larger space is no faster here. Bytes. */
const ENOUGH = 12 * 1024 * 1024;
const LOOK_EVERY_MS = 10;

/**
 * Keeps the heap small in long commands that stream much more data than they hold. By default, V8 lets garbage grow to
 * several times the live data, and doubles the space for new objects up to 32 MB, for a little speed. V8 reads both settings
 * whenever it grows the heap, so they act at once. A short command never has so much, and is faster without them.
 *
 * @returns ends the looking, for a process that goes on with other work
 */
export function keepHeapSmall(): () => void {
  const look = setInterval(() => {
    const young = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space');
    if (young === undefined || young.physical_space_size < ENOUGH) return;
    clearInterval(look);
    setFlagsFromString('--heap-growing-percent=20');
    setFlagsFromString('--semi-space-growth-factor=1');
  }, LOOK_EVERY_MS).unref();
  return () => clearInterval(look);
}
