import type { Environment } from '../machine/settings.ts';
import type { StoreGuard } from '../machine/store-guard.ts';
import type { Glance } from '../ports/store.ts';
import { parseAddress } from './address.ts';
import { Claims } from './claims.ts';
import { Database } from './database.ts';
import { PostgresFlows } from './flows/flows.ts';
import { customersOf } from './tokens.ts';

/**
 * What completion offers for a profile. If the database cannot be reached or used, or the data of the profile is in another
 * store, it offers nothing and throws nothing.
 */
export function glanceAtPostgres(profile: string, env: Environment, guard: StoreGuard): Glance {
  const within = async <T>(look: (database: Database) => Promise<T[]>): Promise<T[]> => {
    try {
      const address = parseAddress(env.PSD2_STORE ?? '', env);
      guard.checkNamed({ shown: address.shown, address: '' });
      const database = new Database(address, AbortSignal.timeout(1_000));
      try {
        return await look(database);
      } finally {
        await database.close();
      }
    } catch {
      return [];
    }
  };
  return {
    customers: () => within((database) => customersOf(database, profile)),
    begun: (kind, most) =>
      within((database) =>
        new PostgresFlows(database, profile, new Claims(database, profile, undefined), {
          now: () => new Date(),
          random: Math.random,
        }).begun(kind, most),
      ),
  };
}
