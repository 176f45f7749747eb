import type { CrashBank, Place, Stop } from './bank.ts';
import { type Point, pointsIn, recordFlow } from './matrix.ts';
import type { Scenario } from './scenarios.ts';
import { decisiveFor, type Followers, flowsAt, judgeEnd, newTry, type Tried } from './tried.ts';

const NOT_LOGGED_IN = 4;
/** The clock of the waiting process runs faster. */
const FAST = { CRASH_FAST: '10' };
/** If the other process got the customer's return, nobody comes any more. */
const IMPATIENT = { PSD2_SCA_TIMEOUT: '15' };

/** Two processes do the same at the same time, and the first stalls at a point. */
export interface Rivalry {
  name: string;
  scenario: Scenario;
  /** Either the second begins the same flow, or both resume a flow that was begun before. */
  both: 'begin' | 'resume';
  how: 'SIGSTOP' | 'block';
  /** The second waits as long as a real takeover takes. */
  real?: true;
}

/** The points of the first process. */
export async function recordRival(bank: CrashBank, followers: Followers, rivalry: Rivalry): Promise<Point[]> {
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
export async function tryStalled(
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
export async function tryStalledRefresh(
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
