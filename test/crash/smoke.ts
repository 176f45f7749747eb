import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Server } from '../store/postgres/server.ts';
import type { CrashBank, How, Place } from './bank.ts';
import { type Point, pointsIn } from './matrix.ts';
import { doorRules } from './nextgenpsd2.ts';
import { type Followers, flowsAt, judgeEnd, newTry, succeeded, type Tried } from './tried.ts';

// Smoke tests that make something: a login, a consent, a payment that is given up, a payment. Whenever one is stopped, the next run
// ends what it has made, or names it.

/** A kind of bank. */
export interface SmokeBank {
  name: string;
  /** The profile, and options of `sandbox start`. */
  profile: 'sandbox' | 'sandbox-nextgen';
  file?: object;
  /** Payments come first: each place pays another amount, and more than 1.00 needs a person. */
  makes: readonly Makes[];
}

export type Makes = 'login' | 'consent' | 'initiate' | 'pay';

const NEVER = { executesWithoutSca: 'never' };
export const SMOKE_BANKS: readonly SmokeBank[] = [
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

export const rulesOf = ({ file }: SmokeBank) => (file ? doorRules(file) : []);

/** What a try needs. */
export interface Means {
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
    pay: ['--pay', amount, ...payee, '--steps', 'pay', ...customer],
  };
  return ['smoke', '--json', '--psu-ip', '192.0.2.1', ...words[makes]];
}

/** A place whose customer is known, and the variables of its processes. In PostgreSQL it has a database of its own. */
async function placeFor({ bank, followers, server }: Means, { profile }: SmokeBank, makes: Makes) {
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

export async function recordSmoke(means: Means, at: SmokeBank, makes: Makes): Promise<Point[]> {
  const { place } = await placeFor(means, at, makes);
  const points = pointsIn(await place.watched(wordsOf(at, makes, place)));
  place.remove();
  return points;
}

const OVER = ['executed', 'settled', 'failed', 'cancelled', 'rejected', 'expired', 'revoked', 'deleted'];

/** Stops a run at a point. Then another one runs, which makes nothing. */
export async function tryStopped(
  means: Means,
  at: SmokeBank,
  makes: Makes,
  how: How,
  point: Point,
): Promise<Tried> {
  const { followers } = means;
  const { place, env, passTime } = await placeFor(means, at, makes);
  const { amount } = place;
  const tried = newTry(
    'smoke test',
    `${at.name}, ${makes}${means.server ? ', PostgreSQL' : ''}`,
    how,
    point.at,
    amount,
  );
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
export async function judgeMoney(
  bank: CrashBank,
  makes: Makes,
  before: number,
  tries: Tried[],
): Promise<Tried[]> {
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
