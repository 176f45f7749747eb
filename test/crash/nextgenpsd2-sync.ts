import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { CrashBank, How, Place } from './bank.ts';
import { type Point, pointsIn } from './matrix.ts';
import { type DoorWay, placeAtDoor } from './nextgenpsd2.ts';
import { newTry, succeeded, type Tried } from './tried.ts';

/** A bank whose customer has given a consent, and a place where psd2 keeps what it reads. */
export interface SyncedHome {
  name: 'files' | 'PostgreSQL';
  place: Place;
  sync: string[];
  env: Record<string, string>;
  /** The rows that are there, sorted: account and id of each. */
  rows(): string[];
  /** Empties the home, as before the first sync. */
  forget(): void;
}

const SYNC = ['sync', '--customer', 'ada', '--psu-ip', '203.0.113.7', '--cores', '1', '--json'];
const CONSENT = ['consent', 'request', '--customer', 'ada', '--psu-id', 'anna', '--yes', '--json'];

/** Files in a folder of the place. */
export async function filesHome(bank: CrashBank, way: DoorWay): Promise<SyncedHome> {
  const place = await consented(bank, way, {});
  const out = join(place.config, 'synced');
  const rows = () => {
    const folder = join(out, 'ada', 'transactions');
    return readdirSync(folder).flatMap((file) =>
      readFileSync(join(folder, file), 'utf8')
        .split('\n')
        .slice(0, -1)
        .map((line): string => `${file} ${JSON.parse(line).id}`),
    );
  };
  return {
    ...{ name: 'files', place, env: {}, sync: [...SYNC, '--out', out] },
    rows: () => rows().sort(),
    forget: () => rmSync(out, { recursive: true, force: true }),
  };
}

/** Tables in a database, in which the consent and the tokens are, too. */
export async function databaseHome(
  bank: CrashBank,
  way: DoorWay,
  database: { url: string; sql(text: string): string },
): Promise<SyncedHome> {
  const env = { PSD2_STORE: database.url, PSD2_STORE_PLAIN_TOKENS: '1' };
  const place = await consented(bank, way, env);
  return {
    ...{ name: 'PostgreSQL', place, env, sync: SYNC },
    rows: () =>
      database
        .sql("select product_id || ' ' || id from psd2.transactions order by 1")
        .split('\n')
        .filter(Boolean),
    forget: () => {
      for (const table of ['transactions', 'sync_progress', 'sync_rounds', 'sync_customers'])
        database.sql(`truncate psd2.${table} cascade`);
    },
  };
}

async function consented(bank: CrashBank, way: DoorWay, env: Record<string, string>): Promise<Place> {
  const place = await placeAtDoor(bank, way);
  const first = Object.keys(env).length === 0 ? [] : [['store', 'init', '--plain-tokens']];
  for (const args of [...first, CONSENT]) succeeded(args, await place.watched(args, undefined, env));
  return place;
}

/** @returns the points of a whole sync, and the rows that it leaves */
export async function recordSync(home: SyncedHome): Promise<{ points: Point[]; rows: string[] }> {
  const points = pointsIn(await home.place.watched(home.sync, undefined, home.env));
  return { points, rows: home.rows() };
}

/** Stops a sync at a point, and syncs again: every row is there once. */
export async function trySync(
  home: SyncedHome,
  how: How,
  { at }: Point,
  expected: readonly string[],
): Promise<Tried> {
  const { place, sync, env } = home;
  home.forget();
  const tried = newTry('NextGenPSD2', `sync (${home.name})`, how, at, '');
  const stopped = await place.watched(sync, { at, how }, env);
  tried.reached = stopped.stopped;
  place.passTime();
  const again = await place.watched(sync, undefined, env);
  if (again.code !== 0) tried.problems.push(`it ended with ${again.code}: ${again.stderr}`);
  const rows = home.rows();
  if (rows.join() !== expected.join()) {
    tried.rows = true;
    tried.problems.push(`${rows.length} rows, ${new Set(rows).size} different, of ${expected.length}`);
  }
  return tried;
}
