import { rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { sample } from '../support/sample.ts';
import { type CrashBank, type How, PATIENCE_MS, type Place, useCrashBank } from './bank.ts';
import { asTried, type Point, pointsIn, problemsAt, SIDE_BY_SIDE } from './matrix.ts';
import { type Relay, useRelay } from './relay.ts';
import {
  type Followers,
  mattering,
  newTry,
  succeeded,
  type Tried,
  useFollowers,
  withPlaces,
} from './tried.ts';

const INTERRUPTED = 130;
/** A process that waits for the bank after the second signal ends after its `--timeout`, which is 30 s. */
const AT_ONCE_MS = 10_000;

/** A command that may spend tokens, and the commands that must work after it was stopped. */
interface TokenCommand {
  name: string;
  args(place: Place): string[];
  /** Commands that must succeed, however this command was stopped. */
  works(place: Place): string[][];
  /** Whether the bank ends the access tokens before each try. */
  isStale: boolean;
}

const folder = (place: Place) => `${place.config}-synced`;
const sync = (place: Place) => [
  ...['sync', '--unattended-reads', '9999', '--all-customers', '--concurrency', '3', '--json'],
  ...['--out', folder(place)],
];
const own = [['customer', 'id', '--json']];

const REFRESH: TokenCommand = {
  name: 'token refresh',
  args: () => ['auth', 'refresh', '--json'],
  works: () => [...own, ['auth', 'refresh', '--json'], ...own],
  isStale: false,
};
const LOGIN: TokenCommand = {
  name: 'login',
  args: () => ['auth', 'login', '--json'],
  works: () => own,
  isStale: false,
};
const APPLICATION_LOGIN: TokenCommand = {
  name: 'login with client credentials',
  args: () => ['auth', 'login', '--client-credentials', '--json'],
  works: () => [['accounts', 'list', '--json', '--grant', 'client_credentials']],
  isStale: false,
};
const SYNC: TokenCommand = {
  name: 'sync of three customers',
  args: sync,
  works: (place) => [sync(place)],
  isStale: true,
};

/** What the tries of one command need. */
interface StopMeans {
  bank: CrashBank;
  relay: Relay;
  followers: Followers;
}

/** Opens a place with logins of its own, which one try after another uses. */
async function loggedInPlace(means: StopMeans, users: string[]): Promise<Place> {
  const { bank, relay } = means;
  const place = bank.newPlace(relay.env);
  treat(relay, place, { isStale: false, holds: false });
  await logIn(means, place, users);
  return place;
}

async function logIn({ bank, followers }: StopMeans, place: Place, users: string[]): Promise<void> {
  for (const user of users) {
    const customer = { PSD2_BROWSER: `${bank.operator.env.PSD2_BROWSER} --user ${user}` };
    succeeded(`the login of ${user}`, await followers.psd2(place, ['auth', 'login'], customer));
  }
}

/** Ends each customer's access token at their first call. With `holds`, the answers to token calls never arrive. */
function treat(relay: Relay, place: Place, { isStale, holds }: { isStale: boolean; holds: boolean }): void {
  const ended = new Set<string>();
  relay.treat(place.name, async ({ path }, toBank) => {
    if (/\/token$/.test(path)) {
      const answer = await toBank();
      return holds ? new Promise(() => {}) : answer;
    }
    const customer = /^\/private\/customers\/(\d+)\//.exec(path)?.[1];
    if (!isStale || customer === undefined || ended.has(customer)) return toBank();
    ended.add(customer);
    return toBank({ 'x-sandbox-fault': 'stale-token' });
  });
}

/** The points of a command. Of points that differ only in a customer or an account, the first two. */
async function recordCommand(means: StopMeans, place: Place, command: TokenCommand): Promise<Point[]> {
  treat(means.relay, place, { isStale: command.isStale, holds: false });
  const points = pointsIn(await place.watched(command.args(place)));
  const seen = new Map<string, number>();
  return points.filter(({ at }) => {
    const what = at.replace(/\d{5,}/g, '<n>').replace(/ #\d+$/, '');
    const count = (seen.get(what) ?? 0) + 1;
    seen.set(what, count);
    return !command.isStale || count <= 2;
  });
}

/** If the answer to a token call never arrives, the points end with that call. */
function pointsBeforeAnswer(points: Point[]): Point[] {
  const sent = points.findIndex(({ at }) => /^sent POST .*\/token #1$/.test(at));
  return points.slice(0, sent + 1);
}

/** Tells a command to stop at a point: psd2 waits for the answers to what it sent, and afterwards every login works. */
async function tryToldToStop(
  means: StopMeans,
  place: Place,
  command: TokenCommand,
  how: How,
  { at }: Point,
  users: string[],
): Promise<Tried> {
  const { relay, followers } = means;
  const tried = newTry('told to stop', command.name, WORDS.get(how) ?? how, at, '');
  const { problems } = tried;
  rmSync(folder(place), { recursive: true, force: true });
  const isTwice = how === 'SIGTERM twice';
  treat(relay, place, { isStale: command.isStale, holds: isTwice });
  const stopped = await place.watched(command.args(place), { at, how });
  tried.reached = stopped.stopped;
  tried.tookToEnd = stopped.stopped ? stopped.tookToEnd : null;
  treat(relay, place, { isStale: false, holds: false });
  const isDone = stopped.code === 0 && stopped.stdout !== '';
  if (isTwice) {
    if (stopped.tookToEnd > AT_ONCE_MS) problems.push(`it ended after ${stopped.tookToEnd} ms`);
  } else if (stopped.code !== INTERRUPTED && !isDone) {
    problems.push(`it ended with ${stopped.code ?? stopped.signal}: ${stopped.stderr}`);
  }
  for (const args of command.works(place)) {
    const { code, stderr } = await followers.psd2(place, args, relay.env(place.name));
    if (code === 0) continue;
    // A second signal may cost the login, and psd2 says so.
    if (!isTwice) {
      tried.lost = true;
      problems.push(`psd2 ${args.join(' ')} ended with ${code}: ${stderr}`);
    }
    await logIn(means, place, users);
    break;
  }
  return tried;
}

const WORDS: ReadonlyMap<How, string> = new Map([
  ['SIGINT', 'Ctrl-C (`SIGINT`)'],
  ['SIGTERM', '`SIGTERM`'],
  ['SIGTERM twice', '`SIGTERM` twice, and no answer comes'],
]);

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
