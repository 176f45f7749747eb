import { afterAll, beforeAll, expect, it } from 'vitest';
import { named } from '../support/named.ts';
import { bySeed, sample } from '../support/sample.ts';
import { ALL, PATIENCE_MS, useCrashBank } from './bank.ts';
import { goThrough, problemsOf } from './matrix.ts';
import { type Accounts, CUSTOMERS, openAccounts, READINGS, tryMoving } from './moving-lists.ts';
import { useRelay } from './relay.ts';
import { triedShape, useFollowers } from './tried.ts';

const bank = useCrashBank([
  ...['--no-enforce-consents', '--customers', String(CUSTOMERS), '--transactions', '400'],
  ...['--page-size', '20'],
]);
const followers = useFollowers(bank, 2);
const relay = useRelay(bank.sandbox);
let accounts: Accounts | undefined;
beforeAll(async () => {
  accounts = await openAccounts(bank, relay, followers);
}, PATIENCE_MS);
afterAll(() => accounts?.place.remove());

const EACH = { at: 'before each page', moves: () => true };

it.concurrent.each(sample(named(READINGS), 2, ([name]) => name))(
  '%s: a booking between two pages neither doubles nor loses a row',
  async (_name, reading) => {
    if (!accounts) throw new Error('nobody is logged in');
    const opened = accounts;
    const { pages } = await opened.read(reading, () => false);
    expect(pages).toBeGreaterThan(2);
    const single = Array.from({ length: pages }, (_, index) => ({
      at: `before page ${index + 1}`,
      moves: (page: number) => page === index + 1,
    }));
    const inner = bySeed(single.slice(1), ({ at }) => at);
    // If rows cannot be told apart, a moment between several changes cannot be recognised either.
    const each = reading.rows ? [EACH] : [];
    const moments = ALL ? [...single, ...each] : [...inner.slice(0, 1), ...each];
    const tries = await goThrough(triedShape, reading.name, 'moving', moments, async (some) => {
      const tried = [];
      for (const { at, moves } of some) tried.push(await tryMoving(opened, reading, at, moves));
      return tried;
    });
    expect(problemsOf(tries)).toEqual([]);
  },
  PATIENCE_MS,
);
