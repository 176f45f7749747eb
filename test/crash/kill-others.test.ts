import { expect, it } from 'vitest';
import { named } from '../support/named.ts';
import { sample } from '../support/sample.ts';
import { PATIENCE_MS, useCrashBank } from './bank.ts';
import { choose, problemsOf, recordFlow, recordLogin, SIDE_BY_SIDE, tryFlows, tryLogins } from './matrix.ts';
import { INSTANT, LOGINS, OPERATION, RENEWAL } from './scenarios.ts';
import { useFollowers } from './tried.ts';

// What kill.test.ts does not have.

const bank = useCrashBank();
const followers = useFollowers(bank, Math.ceil(SIDE_BY_SIDE / 2));

const execution = { from: /half .* execute-sent/, to: /half .* executed/ };
const cases = [
  [INSTANT.name, { scenario: INSTANT, core: execution, rest: 4 }],
  [RENEWAL.name, { scenario: RENEWAL, core: undefined, rest: 10 }],
  [OPERATION.name, { scenario: OPERATION, core: undefined, rest: 6 }],
] as const;

it.each(sample(cases, 1, ([name]) => name))(
  '%s: if SIGKILL hits psd2 between any two steps, it loses no flow and pays once',
  async (_name, { scenario, core, rest }) => {
    const points = choose(await recordFlow(bank, scenario), core, rest);
    expect(problemsOf(await tryFlows(bank, followers, scenario, 'SIGKILL', points))).toEqual([]);
  },
  PATIENCE_MS,
);

it.each(sample(named(LOGINS), 1, ([name]) => name))(
  '%s: if SIGKILL hits psd2 between any two steps, the earlier login still works, and so does a new login',
  async (_name, scenario) => {
    const points = choose(await recordLogin(bank, scenario), undefined, 4);
    expect(problemsOf(await tryLogins(bank, followers, scenario, 'SIGKILL', points))).toEqual([]);
  },
  PATIENCE_MS,
);
