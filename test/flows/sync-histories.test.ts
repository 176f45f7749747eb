import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fewer, SEED } from '../support/sample.ts';
import { HISTORY, silentDifference } from './any-history.ts';

it('whatever a bank does with ids, days and order, the stored rows are the bookings, or a difference is told', async () => {
  const holds = async (history: Parameters<typeof silentDifference>[0]) => {
    expect(await silentDifference(history)).toBeUndefined();
  };
  await fc.assert(fc.asyncProperty(HISTORY, holds), { numRuns: fewer(400), seed: Number(SEED) });
});
