import { describe, expect, it } from 'vitest';
import { PATIENCE_MS, useCrashBank } from './bank.ts';
import { choose, problemsOf, recordFlow, recordLogin, SIDE_BY_SIDE, tryFlows, tryLogins } from './matrix.ts';
import { CONSENT, INSTANT, LOGINS, OPERATION, RENEWAL, TRANSFER } from './scenarios.ts';
import { useFollowers } from './tried.ts';

const bank = useCrashBank();
const followers = useFollowers(bank, Math.ceil(SIDE_BY_SIDE / 2));

describe.each([
  { how: 'SIGINT', flows: [TRANSFER, INSTANT, RENEWAL, OPERATION, CONSENT], rest: 6 },
  { how: 'SIGTERM', flows: [TRANSFER], rest: 3 },
  { how: 'twice', flows: [TRANSFER, CONSENT], rest: 3 },
] as const)('$how', ({ how, flows, rest }) => {
  it.each(flows)(
    'at any step of a $name says how to go on, leaves nothing behind, and loses nothing',
    async (scenario) => {
      const points = choose(await recordFlow(bank, scenario), undefined, rest);
      expect(problemsOf(await tryFlows(bank, followers, scenario, how, points))).toEqual([]);
    },
    PATIENCE_MS,
  );
});

describe('SIGINT', () => {
  it.each(LOGINS)(
    'at any step of a $name leaves the login from before, and another one works',
    async (scenario) => {
      const points = choose(await recordLogin(bank, scenario), undefined, 3);
      expect(problemsOf(await tryLogins(bank, followers, scenario, 'SIGINT', points))).toEqual([]);
    },
    PATIENCE_MS,
  );
});
