import { expect, it } from 'vitest';
import { realWorld } from '../../src/cli/world.ts';

const HOUR = 3_600_000;

it('a wait takes its time, and ends early without an error if it may', async () => {
  const world = realWorld(new AbortController().signal);
  const early = new AbortController();
  await world.sleep(1);
  await world.sleep(1, early.signal);
  const waits = world.sleep(HOUR, early.signal);
  early.abort();
  expect(await waits).toBeUndefined();
  // Also if it may end before it begins.
  expect(await world.sleep(HOUR, early.signal)).toBeUndefined();
});

it.each(['without', 'with'])(
  'if the operator interrupts a wait %s another end, it fails with the reason',
  async (how) => {
    const interruption = new AbortController();
    const world = realWorld(interruption.signal);
    const reason = new Error('Interrupted');
    const waits = world.sleep(HOUR, how === 'with' ? new AbortController().signal : undefined);
    interruption.abort(reason);
    await expect(waits).rejects.toBe(reason);
  },
);
