import { expect, it } from 'vitest';
import { sample } from '../support/sample.ts';
import { PATIENCE_MS, useCrashBank } from './bank.ts';
import { asTried, type Point, problemsAt, SIDE_BY_SIDE } from './matrix.ts';
import { useRelay } from './relay.ts';
import {
  APPLICATION_LOGIN,
  LOGIN,
  loggedInPlace,
  pointsBeforeAnswer,
  REFRESH,
  recordCommand,
  SYNC,
  tryToldToStop,
} from './told-to-stop.ts';
import { mattering, useFollowers, withPlaces } from './tried.ts';

const bank = useCrashBank(['--no-enforce-consents', '--customers', '1', '--page-size', '100']);
const followers = useFollowers(bank, Math.ceil(SIDE_BY_SIDE / 2));
const relay = useRelay(bank.sandbox);
const means = { bank, relay, followers };
const ONE = ['anna'];
const THREE = ['anna', 'bruno', 'customer-000001'];
/** The moments at which the bank has spent a token and its answer is on the way. */
const spent = [/^(?:sent|begun answer to) POST .*\/token #1$/];

const STOPS = [
  { command: REFRESH, how: 'SIGTERM', users: ONE, rest: 2 },
  { command: REFRESH, how: 'SIGINT', users: ONE, rest: 1 },
  { command: REFRESH, how: 'SIGTERM twice', users: ONE, rest: 0 },
  { command: SYNC, how: 'SIGTERM', users: THREE, rest: 2 },
  { command: SYNC, how: 'SIGINT', users: THREE, rest: 0 },
  { command: LOGIN, how: 'SIGTERM', users: ONE, rest: 1 },
  { command: APPLICATION_LOGIN, how: 'SIGTERM', users: ONE, rest: 1 },
] as const;

const cases = STOPS.map((stop) => [stop.command.name, stop.how, stop] as const);
it.each(sample(cases, 3, ([name, how]) => `${name} ${how}`))(
  'a %s that gets %s at any step ends as promised, and a single signal loses no login',
  async (_name, how, { command, users, rest }) => {
    const open = () => loggedInPlace(means, users);
    const problems = await withPlaces(open, async (lend) => {
      const recorded = await lend((place) => recordCommand(means, place, command));
      const reachable = how === 'SIGTERM twice' ? pointsBeforeAnswer(recorded) : recorded;
      const points = mattering(reachable, spent, 0, rest);
      expect(points.length).toBeGreaterThan(0);
      const one = (point: Point) => lend((place) => tryToldToStop(means, place, command, how, point, users));
      return problemsAt([command.name, `stop ${how}`], points, one, asTried);
    });
    expect(problems).toEqual([]);
  },
  PATIENCE_MS,
);
