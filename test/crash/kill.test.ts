import { describe, expect, it } from 'vitest';
import { PATIENCE_MS, useCrashBank } from './bank.ts';
import { choose, problemsOf, recordFlow, recordLogin, SIDE_BY_SIDE, tryFlows, tryLogins } from './matrix.ts';
import { CONSENT, INSTANT, LOGINS, OPERATION, RENEWAL, TRANSFER } from './scenarios.ts';
import { useFollowers } from './tried.ts';

const bank = useCrashBank();
const followers = useFollowers(bank, Math.ceil(SIDE_BY_SIDE / 2));

const execution = { from: /half .* execute-sent/, to: /half .* executed/ };
const confirmation = { from: /half .* confirm-sent/, to: /half .* confirmed/ };

describe('SIGKILL', () => {
  it.each([
    { name: TRANSFER.name, scenario: TRANSFER, core: execution, rest: 8 },
    { name: INSTANT.name, scenario: INSTANT, core: execution, rest: 4 },
    { name: RENEWAL.name, scenario: RENEWAL, core: undefined, rest: 10 },
    { name: OPERATION.name, scenario: OPERATION, core: undefined, rest: 6 },
    { name: CONSENT.name, scenario: CONSENT, core: confirmation, rest: 6 },
  ])(
    'between any two steps of a $name loses no flow and pays once',
    async ({ scenario, core, rest }) => {
      const points = choose(await recordFlow(bank, scenario), core, rest);
      expect(problemsOf(await tryFlows(bank, followers, scenario, 'SIGKILL', points))).toEqual([]);
    },
    PATIENCE_MS,
  );

  it.each(LOGINS)(
    'between any two steps of a $name leaves the login from before, and another one works',
    async (scenario) => {
      const points = choose(await recordLogin(bank, scenario), undefined, 4);
      expect(problemsOf(await tryLogins(bank, followers, scenario, 'SIGKILL', points))).toEqual([]);
    },
    PATIENCE_MS,
  );
});
