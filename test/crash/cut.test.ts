import { expect, it } from 'vitest';
import { PATIENCE_MS, useCrashBank } from './bank.ts';
import {
  choose,
  cutsOf,
  problemsOf,
  recordFlow,
  recordLogin,
  SIDE_BY_SIDE,
  tryFlows,
  tryLogins,
} from './matrix.ts';
import { FLOWS, LOGINS } from './scenarios.ts';
import { useFollowers } from './tried.ts';

const bank = useCrashBank();
const followers = useFollowers(bank, Math.ceil(SIDE_BY_SIDE / 2));

it.each(FLOWS)(
  'a $name whose connection is cut at any request ends as it should, and pays once',
  async (scenario) => {
    const cuts = cutsOf(await recordFlow(bank, scenario));
    const { request } = scenario.decisive;
    const core = cuts.filter(({ at }) => request.test(at.replace(/^.*(?=PUT)/, '').replace(/ #\d+$/, '')));
    expect(core.length).toBeGreaterThan(0);
    const points = [...new Set([...core, ...choose(cuts, undefined, 3)])];
    expect(problemsOf(await tryFlows(bank, followers, scenario, 'cut', points))).toEqual([]);
  },
  PATIENCE_MS,
);

it.each(LOGINS)(
  'a $name whose connection is cut at any request leaves the login from before, and another one works',
  async (scenario) => {
    const points = choose(cutsOf(await recordLogin(bank, scenario)), undefined, 3);
    expect(problemsOf(await tryLogins(bank, followers, scenario, 'cut', points))).toEqual([]);
  },
  PATIENCE_MS,
);
