import { expect, it } from 'vitest';
import { HISTORY, silentDifference } from '../flows/any-history.ts';
import { FUZZ_TIMEOUT_MS, fuzz } from './runs.ts';

/** A history takes a millisecond, so there are ten times as many as of other inputs. */
const TIMES = 10;

it(
  'whatever a bank does with ids, days and order, the stored rows are the bookings, or a difference is told',
  { timeout: FUZZ_TIMEOUT_MS },
  () =>
    fuzz(
      HISTORY,
      async (history) => {
        expect(await silentDifference(history)).toBeUndefined();
      },
      TIMES,
    ),
);
