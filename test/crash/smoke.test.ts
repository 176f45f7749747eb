import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Server, startServer } from '../store/postgres/server.ts';
import { sample } from '../support/sample.ts';
import { BACKENDS } from './backends.ts';
import { type CrashBank, type How, PATIENCE_MS, type Place, useCrashBank } from './bank.ts';
import { choose, type Point, problemsAt, recordAt, SIDE_BY_SIDE, shareOf } from './matrix.ts';
import { doorRules } from './nextgenpsd2.ts';
import { type Followers, flowsAt, judgeEnd, newTry, succeeded, type Tried, useFollowers } from './tried.ts';

// Smoke tests that make something: a login, a consent, a payment that is given up, a payment. Whenever one is stopped, the next run
// ends what it has made, or names it.

/** A kind of bank. */
interface SmokeBank {
  name: string;
  /** The profile, and options of `sandbox start`. */
  profile: 'sandbox' | 'sandbox-nextgen';
  file?: object;
  /** Payments come first: each place pays another amount, and more than 1.00 needs a person. */
  makes: readonly Makes[];
}

type Makes = 'login' | 'consent' | 'initiate' | 'pay';

const NEVER = { executesWithoutSca: 'never' };
const SMOKE_BANKS: readonly SmokeBank[] = [
  { name: 'cb', profile: 'sandbox', makes: ['pay', 'login', 'initiate'] },
  {
    ...{ name: 'NextGenPSD2, cancels', profile: 'sandbox-nextgen' },
    ...{ file: { payments: { ...NEVER, cancel: 'direct' } }, makes: ['pay', 'consent', 'initiate'] },
  },
  {
    ...{ name: 'NextGenPSD2, may execute without SCA', profile: 'sandbox-nextgen' },
    ...{ file: {}, makes: ['pay'] },
  },
  {
    ...{ name: 'NextGenPSD2, login before the consent', profile: 'sandbox-nextgen' },
    file: {
      oauth: { mode: 'pre-step', metadata: 'https://bank.example/.well-known/oauth-authorization-server' },
    },
    makes: ['login'],
  },
];

const rulesOf = ({ file }: SmokeBank) => (file ? doorRules(file) : []);

/** What the tries at a bank need. */
interface Means {
  at: SmokeBank;
  bank: CrashBank;
  followers: Followers;
  /** Where the store is. Undefined: in files. */
  server: Server | undefined;
}

const PAYEE = ['--to', 'DE89370400440532013000', '--name', 'Ada Lovelace', '--yes'];
const FROM = { sandbox: '0010482620', 'sandbox-nextgen': 'IT89F0999001600000010482620' };

function wordsOf({ profile }: SmokeBank, makes: Makes, { amount, name }: Place): string[] {
  const customer = profile === 'sandbox' ? [] : ['--customer', name];
  const payee = [...PAYEE, '--from', FROM[profile]];
  const words = {
    login: ['--login', '--steps', 'login', ...customer],
    consent: ['--consent', '--steps', 'consent,accounts', ...customer],
    initiate: ['--initiate', ...payee, '--steps', 'initiate', ...customer],
    pay: ['--pay', amount, '--max-fee', '0.50', ...payee, '--steps', 'pay', ...customer],
  };
  return ['smoke', '--json', '--psu-ip', '192.0.2.1', ...words[makes]];
}

/** A place whose customer is known, and the variables of its processes. In PostgreSQL it has a database of its own. */
async function placeFor({ bank, followers, server, at: { profile } }: Means, makes: Makes) {
  const database = `smoke${randomUUID().slice(0, 8)}`;
  server?.create(database);
  const home = server && { PSD2_STORE: server.url(database), PSD2_STORE_PLAIN_TOKENS: '1' };
  const env: Record<string, string> = { PSD2_PROFILE: profile, ...home };
  const place = bank.newPlace(() => env);
  const run = async (...words: string[]) =>
    succeeded(words, await followers.psd2(place, [...words, '--json'], env));
  if (makes === 'login' || server) rmSync(join(place.config, 'tokens'), { recursive: true, force: true });
  if (server) await run('store', 'init', '--plain-tokens');
  if (profile !== 'sandbox' && makes !== 'login')
    await run('auth', 'login', '--customer', place.name, '--psu-id', 'anna');
  else if (server && makes !== 'login') await run('auth', 'login');
  /** A process that was killed has lost its locks. */
  const passTime = () => {
    place.passTime();
    server?.sql(database, "update psd2.claims set until = '-infinity'");
  };
  return { place, env, passTime };
}

async function recordSmoke(means: Means, makes: Makes): Promise<Point[]> {
  const { place } = await placeFor(means, makes);
  return recordAt(place, wordsOf(means.at, makes, place));
}

const OVER = ['executed', 'settled', 'failed', 'cancelled', 'rejected', 'expired', 'revoked', 'deleted'];

/** Stops a run at a point. Then another one runs, which makes nothing. */
async function tryStopped(means: Means, makes: Makes, how: How, point: Point): Promise<Tried> {
  const { followers, at } = means;
  const { place, env, passTime } = await placeFor(means, makes);
  const scenario = `${at.name}, ${makes}${means.server ? ', PostgreSQL' : ''}`;
  const tried = newTry('smoke test', scenario, how, point.at, place.amount);
  const { problems } = tried;
  const words = wordsOf(at, makes, place);
  const stopped = await place.watched(words, { at: point.at, how });
  tried.reached = stopped.stopped;
  if (how !== 'SIGKILL') judgeEnd('it', stopped, problems);
  passTime();
  const customer = at.profile === 'sandbox' ? [] : ['--customer', place.name];
  const next = await followers.psd2(place, ['smoke', '--json', '--steps', 'settings', ...customer], env);
  judgeEnd('the next run', next, problems);
  // What it has ended must have ended, so its name there does not count.
  const said = `${stopped.stderr} ${next.stdout} ${next.stderr}`.replaceAll(/ended the \w+ [\w-]+/g, '');
  for (const kind of ['transfer', 'consent'])
    for (const { flow, state } of await flowsAt(followers, place, kind, env)) {
      tried.ends.push(state);
      if (!OVER.includes(state) && !said.includes(flow))
        problems.push(`${flow} is ${state}, and nobody names it`);
    }
  if (makes === 'login') {
    const { stdout } = await followers.psd2(place, ['auth', 'list', '--json'], env);
    if (stdout.trim() !== '[]' && !/login_stays/.test(said))
      problems.push(`a login is left: ${stdout}; ${said}`);
  }
  place.remove();
  return tried;
}

/** What the ledger shows: only `--pay` moves money, and at most once. @param before bookings of one cent */
async function judgeMoney({ bank }: Means, makes: Makes, before: number, tries: Tried[]): Promise<Tried[]> {
  const booked = await bank.bookings();
  if (makes !== 'pay') {
    if (booked('0.01') !== before) tries[0]?.problems.push('money has moved');
    return tries;
  }
  for (const { amount, ends, problems } of tries) {
    const paid = booked(amount);
    const isKnown = ends.some((state) => ['executed', 'settled'].includes(state));
    const isOpen = ends.some((state) => !OVER.includes(state));
    if (paid > 1 || (paid === 0 && isKnown) || (paid === 1 && !isKnown && !isOpen))
      problems.push(`${ends.join()}, but ${paid} bookings`);
  }
  return tries;
}

const HOW = ['SIGKILL', 'SIGINT', 'SIGTERM', 'twice'] as const;
/** The points that a run of all tests takes of each case. */
const SOME = 6;
/** The points of all ways together: each place pays another amount, and only a person may pay more than 1.00. */
const MOST = 80;

const CASES = BACKENDS.flatMap((home) => SMOKE_BANKS.map((at) => [at.name, home, at] as const));

describe.each(CASES)('psd2 smoke at %s with a store in %s', (name, home, at) => {
  const bank = useCrashBank(rulesOf(at));
  const means: Means = { at, bank, followers: useFollowers(bank, SIDE_BY_SIDE), server: undefined };
  beforeAll(() => {
    if (home === 'PostgreSQL') means.server = startServer(undefined, 200);
  });
  afterAll(() => means.server?.stop());

  it.each(at.makes.flatMap((makes) => sample(HOW, 1).map((how) => [makes, how] as const)))(
    'what a run of --%s makes that is stopped at any step (%s) is ended by the next run, or named',
    async (makes, how) => {
      const before = (await bank.bookings())('0.01');
      const all = await recordSmoke(means, makes);
      const share = shareOf(all, MOST, HOW.indexOf(how), HOW.length, SMOKE_BANKS.indexOf(at));
      const points = choose(share, undefined, SOME);
      const what = `smoke ${makes} ${name} ${home}`;
      const one = (point: Point) => tryStopped(means, makes, how, point);
      const judge = (tries: Tried[]) => judgeMoney(means, makes, before, tries);
      expect(await problemsAt([what, how], points, one, judge)).toEqual([]);
    },
    PATIENCE_MS,
  );
});
