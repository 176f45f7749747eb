import { expect, it } from 'vitest';
import { sample } from '../support/sample.ts';
import { PATIENCE_MS, useCrashBank } from './bank.ts';
import {
  asTried,
  choose,
  cutsOf,
  type Point,
  problemsAt,
  recordAt,
  recordFlow,
  SIDE_BY_SIDE,
  tryFlows,
} from './matrix.ts';
import { tryLogin } from './outcome.ts';
import { CONSENT, FLOWS, INSTANT, LOGINS, OPERATION, RENEWAL, TRANSFER } from './scenarios.ts';
import { useFollowers } from './tried.ts';

// What kill.test.ts does not have.

const bank = useCrashBank();
const followers = useFollowers(bank, Math.ceil(SIDE_BY_SIDE / 2));

/** The ways to stop a flow, and how many of its points a run of all tests takes. */
const STOPS = [
  { how: 'SIGKILL', flows: [INSTANT, RENEWAL, OPERATION], rest: 8 },
  { how: 'SIGINT', flows: FLOWS, rest: 6 },
  { how: 'SIGTERM', flows: [TRANSFER], rest: 3 },
  { how: 'twice', flows: [TRANSFER, CONSENT], rest: 3 },
  { how: 'cut', flows: FLOWS, rest: 3 },
] as const;
const flows = STOPS.flatMap(({ how, flows, rest }) =>
  flows.map((scenario) => [scenario.name, how, { scenario, rest }] as const),
);
const nameOf = ([name, how]: readonly [string, string, unknown]) => `${name} ${how}`;

it.each(sample(flows, 4, nameOf))(
  '%s: stopped at any step (%s), psd2 pays once, loses nothing, leaves no files, and a signal makes it say how to continue',
  async (_name, how, { scenario, rest }) => {
    const recorded = await recordFlow(bank, scenario);
    const points = how === 'cut' ? cutsOf(recorded) : recorded;
    // Each way to cut the request that is made once.
    const { request } = scenario.decisive;
    const core = points.filter(
      ({ at }) => how === 'cut' && request.test(at.replace(/^.*(?=PUT)/, '').replace(/ #\d+$/, '')),
    );
    expect(core.length > 0).toBe(how === 'cut');
    const chosen = [...new Set([...core, ...choose(points, undefined, rest)])];
    expect(await tryFlows(bank, followers, scenario, how, chosen)).toEqual([]);
  },
  PATIENCE_MS,
);

const logins = LOGINS.flatMap((login) =>
  (['SIGKILL', 'SIGINT', 'cut'] as const).map((how) => [login.name, how, login] as const),
);
it.each(sample(logins, 2, nameOf))(
  '%s: stopped at any step (%s), the earlier login still works, and so does a new login',
  async (_name, how, login) => {
    const recorded = await recordAt(bank.newPlace(), login.begin);
    const points = choose(how === 'cut' ? cutsOf(recorded) : recorded, undefined, 3);
    const one = ({ at }: Point) => tryLogin(bank, followers, login, { at, how });
    expect(await problemsAt([login.name, how], points, one, asTried)).toEqual([]);
  },
  PATIENCE_MS,
);
