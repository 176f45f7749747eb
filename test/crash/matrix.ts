import { availableParallelism } from 'node:os';
import { expect } from 'vitest';
import { bySeed, fewer } from '../support/sample.ts';
import { ALL, type CrashBank, type How, type Place, type Watched } from './bank.ts';
import { keptOutcomes } from './kept-outcomes.ts';
import { pointsOf, tryFlow } from './outcome.ts';
import type { Scenario } from './scenarios.ts';
import { type Followers, succeeded, type Tried, triedShape } from './tried.ts';

/** More processes than cores, because they wait more than they work. */
export const SIDE_BY_SIDE = Number(process.env.CRASH_SIDE_BY_SIDE ?? 3 * availableParallelism());
/** Outcomes are kept after this many tries, so an interrupted run loses at most this many. */
const AT_ONCE = 4 * SIDE_BY_SIDE;

export interface Point {
  at: string;
  phase: string;
}

/** Every point between these two is tried, because they are where money is at risk. */
export interface Core {
  from: RegExp;
  to: RegExp;
}

/**
 * Returns the points of a run that succeeds: the places to stop it at. The moment after a change and the moment
 * before the next change count as one, because disk and bank are the same at both.
 */
export async function recordFlow(bank: CrashBank, scenario: Scenario): Promise<Point[]> {
  const place = bank.newPlace();
  if (scenario.prepare) await place.psd2(scenario.prepare);
  const points = await recordAt(place, scenario.begin(place));
  return points.slice(
    points.findIndex(({ phase }) => phase === scenario.from || scenario.from === undefined),
  );
}

/** The points of a run at a place that nothing else needs. */
export async function recordAt(place: Place, words: string[]): Promise<Point[]> {
  const points = pointsIn(await place.watched(words));
  place.remove();
  return points;
}

/** The points of a run that nothing stopped. @param code how it ends. @throws Error if it ends in another way */
export function pointsIn(ended: Watched, code = 0): Point[] {
  return distinct(pointsOf(succeeded('It', ended, code).trace));
}

export function distinct(points: Point[]): Point[] {
  return points.filter(
    ({ at }, index) =>
      // A lock is touched once a second, whatever the flow does.
      !/utimes .*\.lock/.test(at) &&
      !(at.startsWith('after ') && points[index + 1]?.at.startsWith('before ')),
  );
}

/** Returns the ways to cut the connections of a run. */
export function cutsOf(points: Point[]): Point[] {
  return points.flatMap(({ at, phase }) => {
    const call = /^before ((?:GET|POST|PUT) .*)$/.exec(at)?.[1];
    return call === undefined
      ? []
      : ['no connection', 'before', 'unanswered', 'half answer'].map((cut) => ({
          at: `${cut} ${call}`,
          phase,
        }));
  });
}

/** The most points of a case that `npm run reliability` tries. `--points` sets it. */
export const MOST = Number(process.env.CRASH_POINTS ?? Infinity);
/** Each case has other ones. */
let cases = 0;

/** Returns all points of the core, and some others that the seed chooses. @param rest how many others in `npm run test:all` */
export function choose(points: Point[], core: Core | undefined, rest: number): Point[] {
  if (ALL) return shareOf(points, MOST, 0, 1, cases++);
  const from = core ? points.findIndex(({ at }) => core.from.test(at)) : 0;
  const to = core ? points.findLastIndex(({ at }) => core.to.test(at)) : -1;
  if (core) expect(Math.min(from, to), 'the points of the core exist').toBeGreaterThan(-1);
  // The core includes the end of its last write.
  const inside = core ? points.slice(Math.max(0, from - 1), to + 3) : [];
  const others = points.filter((point) => !inside.includes(point));
  return [...inside, ...bySeed(others, ({ at }) => at).slice(0, fewer(rest))];
}

/**
 * Returns the points of one of several ways to stop a run. Together the ways have at most `most` of the points, spread
 * over the whole run.
 *
 * @param way its number from 0, of `ways`
 * @param first where the first way begins: another case with another `first` has other points
 */
export function shareOf<Item>(points: Item[], most: number, way: number, ways: number, first = 0): Item[] {
  const each = ways * Math.max(1, Math.ceil(points.length / most));
  const offset = (first + Math.floor((way * each) / ways)) % each;
  return points.filter((_, index) => index % each === offset);
}

/** Tries a flow at each point, several at a time, and then checks the bank's ledger. @returns what went wrong */
export async function tryFlows(
  bank: CrashBank,
  followers: Followers,
  scenario: Scenario,
  how: How,
  points: Point[],
): Promise<string[]> {
  const one = ({ at }: Point) => tryFlow(bank, followers, scenario, { at, how });
  return problemsAt([scenario.name, how], points, one, (tries) => judgeLedger(bank, scenario, tries));
}

/** Adds what the ledger shows. */
export async function judgeLedger(bank: CrashBank, scenario: Scenario, tries: Tried[]): Promise<Tried[]> {
  const booked = await bank.bookings();
  for (const tried of tries) {
    const bookings = booked(tried.amount);
    const expected = tried.ends.includes(scenario.end) ? scenario.bookings : 0;
    if (bookings !== expected) tried.problems.push(`the ledger shows ${bookings} bookings`);
    tried.twice ||= bookings > 1;
  }
  return tries;
}

/**
 * Tries points, `SIDE_BY_SIDE` at a time, and keeps their outcomes. A point whose outcome is already kept is not tried again.
 *
 * @param name of the scenario, and how it is stopped. @param judge gets some tries at once, and adds what the bank says of them
 * @returns everything that went wrong, one line for each problem
 */
export async function problemsAt<Result = Tried>(
  [name, how]: readonly [string, string],
  points: Point[],
  tryOne: (point: Point) => Promise<Result>,
  judge: (results: Result[]) => Promise<Tried[]>,
  atOnce = SIDE_BY_SIDE,
): Promise<string[]> {
  const kept = keptOutcomes(triedShape, name, how, points.length);
  const outcomes = kept.before.filter(({ point }) => points.some(({ at }) => at === point));
  const left = points.filter(({ at }) => !outcomes.some(({ point }) => point === at));
  for (let first = 0; first < left.length; first += AT_ONCE) {
    const some = await judge(await sideBySide(left.slice(first, first + AT_ONCE), tryOne, atOnce));
    kept.keep(some);
    outcomes.push(...some);
  }
  return problemsOf(outcomes);
}

/** For tries that say themselves what went wrong. */
export const asTried = async (tries: Tried[]): Promise<Tried[]> => tries;

/** Works on all items, some at a time. */
export async function sideBySide<Item, Result>(
  items: Item[],
  work: (item: Item) => Promise<Result>,
  atOnce = SIDE_BY_SIDE,
): Promise<Result[]> {
  const results: Result[] = [];
  const left = items.entries();
  const worker = async () => {
    for (const [index, item] of left) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}

/** Describes everything that went wrong, one line for each problem. */
export function problemsOf(outcomes: { point: string; problems: string[] }[]): string[] {
  return outcomes.flatMap(({ point, problems }) => problems.map((problem) => `${point}: ${problem}`));
}
