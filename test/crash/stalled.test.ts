import { expect, it } from 'vitest';
import { ALL, PATIENCE_MS, useCrashBank } from './bank.ts';
import { distinct, goThrough, problemsOf, SIDE_BY_SIDE, sideBySide } from './matrix.ts';
import { pointsOf } from './outcome.ts';
import { CONSENT, INSTANT, OPERATION, RENEWAL, TRANSFER } from './scenarios.ts';
import { judgeLedger, type Rivalry, recordRival, tryStalled, tryStalledRefresh } from './stalled.ts';
import { bySeed, mattering, triedShape, useFollowers } from './tried.ts';

const bank = useCrashBank();
const followers = useFollowers(bank, Math.ceil(SIDE_BY_SIDE / 2));

const order = /^before POST .*\/verify #1$/;
const execution = /^before PUT .*\/execute #\d+$/;
const confirmation = /^before PUT .*\/confirm #\d+$/;

/** What `npm test` takes of each: what is just before requests that matter, and some others. */
interface Taken extends Rivalry {
  wanted: RegExp[];
  before: number;
  rest: number;
}
const rivalries: Taken[] = [
  {
    ...{ name: 'transfer, same reference', scenario: TRANSFER, both: 'begin', how: 'SIGSTOP' },
    ...{ wanted: [order, execution], before: 1, rest: 1 },
  },
  {
    ...{ name: 'transfer, same reference', scenario: TRANSFER, both: 'begin', how: 'block' },
    ...{ wanted: [order, execution], before: 0, rest: 1 },
  },
  {
    ...{ name: 'transfer, both resume it', scenario: TRANSFER, both: 'resume', how: 'SIGSTOP' },
    ...{ wanted: [execution], before: 2, rest: 0 },
  },
  {
    ...{ name: 'instant transfer, same reference', scenario: INSTANT, both: 'begin', how: 'SIGSTOP' },
    ...{ wanted: [], before: 0, rest: 2 },
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
/** Points of which some are tried with the times as they are. */
const REAL_TIMES = ALL ? 6 : 1;
const REAL: Rivalry[] = [
  { name: 'transfer, same reference', scenario: TRANSFER, both: 'begin', how: 'SIGSTOP', real: true },
  { name: 'transfer, both resume it', scenario: TRANSFER, both: 'resume', how: 'SIGSTOP', real: true },
];

it.each(rivalries)(
  '$name: whoever stands still ($how) at any step, it is done once, and its journal tells the truth',
  async (rivalry) => {
    const recorded = await recordRival(bank, followers, rivalry);
    const points = mattering(recorded, rivalry.wanted, rivalry.before, rivalry.rest);
    expect(points.length).toBeGreaterThan(0);
    expect(problemsOf(await tryAll(rivalry, points))).toEqual([]);
  },
  PATIENCE_MS,
);

it.each(REAL)(
  '$name: so it is with the real times too',
  async (rivalry) => {
    const recorded = await recordRival(bank, followers, rivalry);
    const last = recorded.findIndex(({ at }) => execution.test(at));
    // Where the first holds what the second waits for, and nothing is decided yet.
    const points = [
      ...recorded.slice(last - 2, last + 1),
      ...bySeed(recorded.slice(0, last), ({ at }) => at),
    ];
    expect(last).toBeGreaterThan(2);
    expect(problemsOf(await tryAll(rivalry, [...new Set(points)].slice(0, REAL_TIMES)))).toEqual([]);
  },
  PATIENCE_MS,
);

async function tryAll(rivalry: Rivalry, points: { at: string; phase: string }[]) {
  const how = `stalled ${rivalry.how}${rivalry.real ? ' real' : ''}`;
  return goThrough(triedShape, rivalry.name, how, points, async (some) => {
    const tries = await sideBySide(some, (point) => tryStalled(bank, followers, rivalry, point));
    await judgeLedger(bank, rivalry, tries);
    return tries;
  });
}

it.each([
  { how: 'SIGSTOP', rest: 3 },
  { how: 'block', rest: 1 },
] as const)(
  'a token refresh that stands still ($how) at any step while another refreshes loses no login',
  async ({ how, rest }) => {
    const loggedIn = async () => {
      const place = bank.newPlace();
      const login = await place.psd2(['auth', 'login']);
      expect(login, login.stderr).toMatchObject({ code: 0 });
      return place;
    };
    const place = await loggedIn();
    const { code, stderr, trace } = await place.watched(['auth', 'refresh', '--json']);
    expect(code, stderr).toBe(0);
    const calls = [/^(?:before|sent) POST .*\/token #1$/];
    const points = mattering(distinct(pointsOf(trace)), calls, 0, rest);
    // Each place is used for one try after another.
    const idle = [place];
    const tries = await goThrough(triedShape, 'token refresh', `stalled ${how}`, points, (some) =>
      sideBySide(some, async ({ at }) => {
        const own = idle.pop() ?? (await loggedIn());
        const tried = await tryStalledRefresh(followers, own, { at, how });
        idle.push(own);
        return tried;
      }),
    );
    for (const each of idle) each.remove();
    expect(problemsOf(tries)).toEqual([]);
  },
  PATIENCE_MS,
);
