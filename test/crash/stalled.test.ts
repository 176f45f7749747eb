import { expect, it } from 'vitest';
import { named } from '../support/named.ts';
import { bySeed, sample } from '../support/sample.ts';
import { ALL, type CrashBank, PATIENCE_MS, type Place, type Stop, useCrashBank } from './bank.ts';
import {
  asTried,
  judgeLedger,
  type Point,
  pointsIn,
  problemsAt,
  recordFlow,
  SIDE_BY_SIDE,
} from './matrix.ts';
import { CONSENT, INSTANT, OPERATION, RENEWAL, type Scenario, TRANSFER } from './scenarios.ts';
import {
  decisiveFor,
  type Followers,
  flowsAt,
  judgeEnd,
  mattering,
  newTry,
  type Tried,
  useFollowers,
  withPlaces,
} from './tried.ts';

const NOT_LOGGED_IN = 4;
/** The clock of the waiting process runs faster. */
const FAST = { CRASH_FAST: '10' };
/** If the other process got the customer's return, nobody comes any more. */
const IMPATIENT = { PSD2_SCA_TIMEOUT: '15' };

/** Two processes do the same at the same time, and the first stalls at a point. */
interface Rivalry {
  name: string;
  scenario: Scenario;
  /** Either the second begins the same flow, or both resume a flow that was begun before. */
  both: 'begin' | 'resume';
  how: 'SIGSTOP' | 'block';
  /** The second waits as long as a real takeover takes. */
  real?: true;
}

/** The points of the first process. */
async function recordRival(bank: CrashBank, followers: Followers, rivalry: Rivalry): Promise<Point[]> {
  if (rivalry.both === 'begin') return recordFlow(bank, rivalry.scenario);
  const place = bank.newPlace();
  const flow = await beginFlow(followers, place, rivalry.scenario);
  const points = pointsIn(await place.watched(resumeOf(rivalry.scenario, flow)));
  place.remove();
  return points;
}

/** Begins a flow whose customer does not come. @returns its id */
async function beginFlow(followers: Followers, place: Place, scenario: Scenario): Promise<string> {
  const nobody = { PSD2_BROWSER: '/bin/true', PSD2_SCA_TIMEOUT: '1' };
  const begun = await followers.psd2(place, scenario.begin(place), nobody);
  const [flow] = await flowsAt(followers, place, scenario.kind);
  if (flow?.state !== 'authorizing') throw new Error(`It could not be prepared: ${begun.stderr}`);
  return flow.flow;
}

function resumeOf({ kind, resume }: Scenario, flow: string): string[] {
  return [kind, 'resume', flow, ...resume];
}

/** Makes a process stall at a point until another has done the same, lets it continue, and judges the result. */
async function tryStalled(
  bank: CrashBank,
  followers: Followers,
  { name, scenario, both, how, real }: Rivalry,
  { at }: Point,
): Promise<Tried> {
  const place = bank.newPlace(() => IMPATIENT);
  const tried = newTry('stalled', name, wordsOf({ how, real }), at, place.amount);
  const { problems } = tried;
  if (scenario.prepare) await place.psd2(scenario.prepare);
  const begun = both === 'resume' ? await beginFlow(followers, place, scenario) : undefined;

  const first = await place.stalled(begun ? resumeOf(scenario, begun) : scenario.begin(place), { at, how });
  tried.reached = first.reached;
  // A transfer has a reference, so a second one counts as the same. Other flows are the same only by their id.
  const known =
    begun ?? (scenario.kind === 'transfer' ? undefined : await flowOf(followers, place, scenario));
  const second = known ? resumeOf(scenario, known) : scenario.begin(place);
  const ended = await place.watched(second, undefined, real ? {} : FAST);
  const stalled = await first.goOn();
  judgeEnd('the second', ended, problems);
  judgeEnd('the stalled one', stalled, problems);

  for (const { flow } of await flowsAt(followers, place, scenario.kind)) {
    judgeEnd('resume', await followers.psd2(place, resumeOf(scenario, flow)), problems);
  }
  const flows = await flowsAt(followers, place, scenario.kind);
  tried.ends = flows.map(({ state }) => state);
  for (const flow of flows) {
    const decisive = decisiveFor(bank, flow, scenario.decisive.request);
    if (decisive > 1) {
      tried.twice = true;
      problems.push(`the bank got it ${decisive} times`);
    }
    // A process that lost a reference to another has given up before the bank did anything.
    const lost = flows.some(({ state }) => state === scenario.end) && flow.state === 'cancelled';
    if (decisive > 0 ? flow.state !== scenario.end : flow.state !== 'unknown' && !lost) {
      problems.push(`psd2 shows ${flow.state}, but the bank got it ${decisive} times`);
    }
  }
  const paid = flows.filter(({ state }) => state !== 'cancelled');
  if (scenario.kind === 'transfer' && paid.length > 1) {
    problems.push(`one reference has ${paid.length} transfers: ${tried.ends.join(', ')}`);
  }
  if (flows.length === 0) problems.push('there is no flow');
  if (scenario.prepare) await judgeLogin(followers, place, tried);
  place.remove();
  return tried;
}

async function flowOf(followers: Followers, place: Place, { kind }: Scenario): Promise<string | undefined> {
  return (await flowsAt(followers, place, kind))[0]?.flow;
}

/** Checks that the login works, now and after a renewal. */
async function judgeLogin(followers: Followers, place: Place, tried: Tried): Promise<boolean> {
  for (const args of [
    ['customer', 'id', '--json'],
    ['auth', 'refresh', '--json'],
    ['customer', 'id', '--json'],
  ]) {
    const { code, stderr } = await followers.psd2(place, args);
    if (code !== 0) {
      tried.lost = true;
      tried.problems.push(`psd2 ${args.join(' ')} ended with ${code}: ${stderr}`);
      return false;
    }
  }
  return true;
}

const refresh = ['auth', 'refresh', '--json'];

/** Makes a refresh stall until another has refreshed the same login. The next try can use the place again. */
async function tryStalledRefresh(
  followers: Followers,
  place: Place,
  { at, how, real }: { at: string; how: 'SIGSTOP' | 'block'; real?: true },
): Promise<Tried> {
  const tried = newTry('stalled', 'token refresh', wordsOf({ how, real }), at, place.amount);
  const { problems } = tried;
  const first = await place.stalled(refresh, { at, how });
  tried.reached = first.reached;
  const second = await place.watched(refresh, undefined, real ? {} : FAST);
  const stalled = await first.goOn();
  judgeEnd('the second', second, problems);
  judgeEnd('the stalled one', stalled, problems);
  const stop = stalled.trace.findIndex(({ stopped }) => stopped !== undefined);
  const mayBeSpent = stalled.trace
    .slice(0, stop)
    .some(({ point }) => /^sent POST .*token #/.test(point ?? ''));
  if (stalled.code === NOT_LOGGED_IN) problems.push(`the stalled one asks for a login: ${stalled.stderr}`);
  if (second.code === NOT_LOGGED_IN && !mayBeSpent) {
    problems.push(`the second asks for a login: ${second.stderr}`);
  }
  if (!(await judgeLogin(followers, place, tried))) await place.psd2(['auth', 'login']);
  return tried;
}

function wordsOf({ how, real }: { how: Stop['how']; real: true | undefined }): string {
  const words = how === 'SIGSTOP' ? 'stopped (`SIGSTOP`)' : 'main thread blocked';
  return real ? `${words}, real times` : words;
}

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
