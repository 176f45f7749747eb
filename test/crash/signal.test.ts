import { expect, it } from 'vitest';
import { named } from '../support/named.ts';
import { sample } from '../support/sample.ts';
import { PATIENCE_MS, useCrashBank } from './bank.ts';
import { choose, problemsOf, recordFlow, recordLogin, SIDE_BY_SIDE, tryFlows, tryLogins } from './matrix.ts';
import { CONSENT, INSTANT, LOGINS, OPERATION, RENEWAL, TRANSFER } from './scenarios.ts';
import { useFollowers } from './tried.ts';

const bank = useCrashBank();
const followers = useFollowers(bank, Math.ceil(SIDE_BY_SIDE / 2));

const SIGNALS = [
  { signal: 'SIGINT', how: 'SIGINT', flows: [TRANSFER, INSTANT, RENEWAL, OPERATION, CONSENT], rest: 6 },
  { signal: 'SIGTERM', how: 'SIGTERM', flows: [TRANSFER], rest: 3 },
  { signal: 'SIGINT twice', how: 'twice', flows: [TRANSFER, CONSENT], rest: 3 },
] as const;
const interrupted = SIGNALS.flatMap(({ signal, how, flows, rest }) =>
  flows.map((scenario) => [signal, scenario.name, { how, scenario, rest }] as const),
);

it.each(sample(interrupted, 3, ([signal, name]) => `${signal} ${name}`))(
  '%s at any step (%s) makes psd2 print how to continue; it leaves no files behind and loses nothing',
  async (_signal, _name, { how, scenario, rest }) => {
    const points = choose(await recordFlow(bank, scenario), undefined, rest);
    expect(problemsOf(await tryFlows(bank, followers, scenario, how, points))).toEqual([]);
  },
  PATIENCE_MS,
);

it.each(sample(named(LOGINS), 1, ([name]) => name))(
  '%s: if SIGINT interrupts psd2 at any step, the earlier login still works, and so does a new login',
  async (_name, scenario) => {
    const points = choose(await recordLogin(bank, scenario), undefined, 3);
    expect(problemsOf(await tryLogins(bank, followers, scenario, 'SIGINT', points))).toEqual([]);
  },
  PATIENCE_MS,
);
