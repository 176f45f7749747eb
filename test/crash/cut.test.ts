import { expect, it } from 'vitest';
import { named } from '../support/named.ts';
import { sample } from '../support/sample.ts';
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

it.each(sample(named(FLOWS), 2, ([name]) => name))(
  '%s: if the connection is cut at any request, the flow still ends correctly and psd2 pays once',
  async (_name, scenario) => {
    const cuts = cutsOf(await recordFlow(bank, scenario));
    const { request } = scenario.decisive;
    const core = cuts.filter(({ at }) => request.test(at.replace(/^.*(?=PUT)/, '').replace(/ #\d+$/, '')));
    expect(core.length).toBeGreaterThan(0);
    const points = [...new Set([...core, ...choose(cuts, undefined, 3)])];
    expect(problemsOf(await tryFlows(bank, followers, scenario, 'cut', points))).toEqual([]);
  },
  PATIENCE_MS,
);

it.each(sample(named(LOGINS), 1, ([name]) => name))(
  '%s: if the connection is cut at any request, the earlier login still works, and so does a new login',
  async (_name, scenario) => {
    const points = choose(cutsOf(await recordLogin(bank, scenario)), undefined, 3);
    expect(problemsOf(await tryLogins(bank, followers, scenario, 'cut', points))).toEqual([]);
  },
  PATIENCE_MS,
);
