import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { type Server, startServer } from '../store/postgres/server.ts';
import type { CrashBank, Place } from './bank.ts';
import { type Followers, succeeded } from './tried.ts';

/** Where psd2 keeps its flows. */
export const BACKENDS = ['files', 'PostgreSQL'] as const;
export type Backend = (typeof BACKENDS)[number];

/** A place for one try, and the variables that lead psd2 to its store. */
export interface Lodging {
  place: Place;
  env: Record<string, string>;
  /** Runs SQL in the try's database. @throws Error if its flows are in files */
  sql(text: string): string;
}

/** Gives a try a place whose customer is logged in. */
export type Lodge = <Result>(
  backend: Backend,
  work: (lodging: Lodging) => Promise<Result>,
) => Promise<Result>;

/** For the tests of a file. Each try that runs at a time has a database of its own. */
export function useBackends(bank: CrashBank, followers: Followers): Lodge {
  let server: Server | undefined;
  let databases = 0;
  const idle: string[] = [];
  beforeAll(() => {
    server = startServer(undefined, 200);
  });
  afterAll(() => server?.stop());

  const envOf = (database: string) => ({
    PSD2_STORE: server?.url(database) ?? '',
    PSD2_STORE_PLAIN_TOKENS: '1',
  });
  const placeIn = (): Place => {
    const place = bank.newPlace();
    rmSync(join(place.config, 'tokens'), { recursive: true });
    return place;
  };
  const opened = async (): Promise<string> => {
    databases += 1;
    const database = `backend${databases}`;
    server?.create(database);
    const place = placeIn();
    for (const args of [
      ['store', 'init', '--plain-tokens'],
      ['auth', 'login'],
    ])
      succeeded(args, await followers.psd2(place, args, envOf(database)));
    place.remove();
    return database;
  };

  return async (backend, work) => {
    if (backend === 'files') {
      const sql = () => {
        throw new TypeError('There is no database');
      };
      const place = bank.newPlace();
      try {
        return await work({ place, env: {}, sql });
      } finally {
        place.remove();
      }
    }
    const database = idle.pop() ?? (await opened());
    const place = placeIn();
    try {
      return await work({ place, env: envOf(database), sql: (text) => server?.sql(database, text) ?? '' });
    } finally {
      place.remove();
      idle.push(database);
    }
  };
}
