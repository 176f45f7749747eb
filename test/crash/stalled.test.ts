import { expect, it } from 'vitest';
import { named } from '../support/named.ts';
import { bySeed, sample } from '../support/sample.ts';
import { ALL, PATIENCE_MS, type Place, useCrashBank } from './bank.ts';
import { asTried, judgeLedger, type Point, pointsIn, problemsAt, SIDE_BY_SIDE } from './matrix.ts';
import { CONSENT, INSTANT, OPERATION, RENEWAL, TRANSFER } from './scenarios.ts';
import { type Rivalry, recordRival, tryStalled, tryStalledRefresh } from './stalled.ts';
import { mattering, useFollowers, withPlaces } from './tried.ts';

const bank = useCrashBank();
const followers = useFollowers(bank, Math.ceil(SIDE_BY_SIDE / 2));

const order = /^before POST .*\/verify #1$/;
const execution = /^before PUT .*\/execute #\d+$/;
const confirmation = /^before PUT .*\/confirm #\d+$/;

/** The points that `npm test` takes of each rivalry: those just before requests that matter, and some others. */
interface Taken extends Rivalry {
  wanted: RegExp[];
  before: number;
  rest: number;
  /** How many of the points at which psd2 writes the flow to disk, before its first request. */
  early?: number;
}
const rivalries: Taken[] = [
  {
    ...{ name: 'transfer, same reference', scenario: TRANSFER, both: 'begin', how: 'SIGSTOP' },
    ...{ wanted: [execution], before: 1, rest: 0, early: 3 },
  },
  {
    ...{ name: 'transfer, same reference', scenario: TRANSFER, both: 'begin', how: 'block' },
    ...{ wanted: [], before: 0, rest: 1, early: 2 },
  },
  {
    ...{ name: 'transfer, both resume it', scenario: TRANSFER, both: 'resume', how: 'SIGSTOP' },
    ...{ wanted: [execution], before: 2, rest: 0 },
  },
  {
    ...{ name: 'instant transfer, same reference', scenario: INSTANT, both: 'begin', how: 'SIGSTOP' },
    ...{ wanted: [], before: 0, rest: 1, early: 1 },
  },
  {
    ...{ name: 'transfer with a token renewal at execute', scenario: RENEWAL, both: 'begin', how: 'SIGSTOP' },
    ...{ wanted: [], before: 0, rest: 1 },
  },
  {
    ...{ name: 'standing order, resumed', scenario: OPERATION, both: 'begin', how: 'SIGSTOP' },
    ...{ wanted: [execution], before: 0, rest: 0 },
  },
  {
    ...{ name: 'consent, resumed', scenario: CONSENT, both: 'begin', how: 'SIGSTOP' },
    ...{ wanted: [confirmation], before: 0, rest: 0 },
  },
];
/** psd2 writes the flow to disk within this many points before its first request. */
const BEGINNING = 24;
/** How many points are tried without the faster clock. */
const REAL_TIMES = ALL ? 8 : 1;
const REAL: Rivalry[] = [
  { name: 'transfer, same reference', scenario: TRANSFER, both: 'begin', how: 'SIGSTOP', real: true },
  { name: 'transfer, both resume it', scenario: TRANSFER, both: 'resume', how: 'SIGSTOP', real: true },
];

const cases = rivalries.map((rivalry) => [rivalry.name, rivalry.how, rivalry] as const);
it.each(sample(cases, 3, ([name, how]) => `${name} ${how}`))(
  '%s: if one process is stopped (%s) at any step, psd2 executes the flow once, and its journal is right',
  async (_name, _how, rivalry) => {
    const points = pointsFor(rivalry, await pointsOfFirst(rivalry));
    expect(points.length).toBeGreaterThan(0);
    expect(await tryAll(rivalry, points)).toEqual([]);
  },
  PATIENCE_MS,
);

const known = new Map<string, Promise<Point[]>>();
/** The points of the process that stalls. They are the same for each way to stop it. */
function pointsOfFirst(rivalry: Rivalry): Promise<Point[]> {
  const what = `${rivalry.scenario.name}, ${rivalry.both}`;
  const points = known.get(what) ?? recordRival(bank, followers, rivalry);
  known.set(what, points);
  return points;
}

function pointsFor({ wanted, before, rest, early = 0 }: Taken, recorded: Point[]): Point[] {
  const points = mattering(recorded, wanted, before, rest);
  return [...new Set([...beginningOf(recorded).slice(0, early), ...points])];
}

/** The points at which psd2 writes the flow to disk, before its first request, in an order that the seed decides. */
function beginningOf(recorded: Point[]): Point[] {
  const request = recorded.findIndex(({ at }) => order.test(at));
  const beginning = recorded.slice(Math.max(0, request - BEGINNING), Math.max(0, request));
  return bySeed(beginning, ({ at }) => at);
}

it.concurrent.each(sample(named(REAL), 1, ([name]) => name))(
  '%s: if one process is stopped for as long as in reality, psd2 executes the flow once, and its journal is right',
  async (_name, rivalry) => {
    const recorded = await pointsOfFirst(rivalry);
    const last = recorded.findIndex(({ at }) => execution.test(at));
    expect(last).toBeGreaterThan(2);
    // Points at which the first holds what the second waits for: it begins a flow, or announces the request that is made once.
    const points = [...beginningOf(recorded), ...recorded.slice(last - 2, last + 1)];
    const some = bySeed(points, ({ at }) => at).slice(0, REAL_TIMES);
    expect(await tryAll(rivalry, some)).toEqual([]);
  },
  PATIENCE_MS,
);

function tryAll(rivalry: Rivalry, points: Point[]): Promise<string[]> {
  const how = `stalled ${rivalry.how}${rivalry.real ? ' real' : ''}`;
  const one = (point: Point) => tryStalled(bank, followers, rivalry, point);
  return problemsAt([rivalry.name, how], points, one, (tries) => judgeLedger(bank, rivalry.scenario, tries));
}

const REFRESHES = [
  ['SIGSTOP', 3],
  ['block', 1],
] as const;
it.each(sample(REFRESHES, 1))(
  'if a token refresh is stopped (%s) at any step while another one runs, psd2 loses no login',
  async (how, rest) => {
    const problems = await withPlaces(loggedIn, async (lend) => {
      const all = pointsIn(await lend((place) => place.watched(['auth', 'refresh', '--json'])));
      const points = mattering(all, [/^(?:before|sent) POST .*\/token #1$/], 0, rest);
      const one = ({ at }: Point) => lend((place) => tryStalledRefresh(followers, place, { at, how }));
      return problemsAt(['token refresh', `stalled ${how}`], points, one, asTried);
    });
    expect(problems).toEqual([]);
  },
  PATIENCE_MS,
);

async function loggedIn(): Promise<Place> {
  const place = bank.newPlace();
  const login = await followers.psd2(place, ['auth', 'login']);
  expect(login, login.stderr).toMatchObject({ code: 0 });
  return place;
}
