import * as z from 'zod/mini';
import type { StoreStatus } from '../ports/store.ts';
import type { Database } from './database.ts';
import { currentVersion } from './init.ts';
import { SCHEMA_VERSION } from './schema.ts';

const perProfile = z.object({ profile: z.string(), customers: z.number() });
const perState = z.object({ profile: z.string(), kind: z.string(), state: z.string(), count: z.number() });
const held = z.object({
  profile: z.string(),
  kind: z.string(),
  name: z.string(),
  worker: z.string(),
  until: z.date(),
});

/** What `psd2 store status` shows for a database. @throws Psd2Error `config` */
export async function statusOfDatabase(database: Database): Promise<StoreStatus> {
  const version = await currentVersion(database);
  const status: StoreStatus = {
    home: 'postgres',
    place: database.shown,
    schema: { version, needed: SCHEMA_VERSION },
    profiles: [],
    claims: [],
    bytes: 0,
  };
  if (version !== SCHEMA_VERSION) return status;
  const customers = await database.look(
    perProfile,
    `select profile, (count(*) filter (where holder <> '' and secrets is not null))::int as customers
     from psd2.tokens group by profile`,
  );
  const flows = await database.look(
    perState,
    'select profile, kind, state, count(*)::int from psd2.flows group by profile, kind, state order by kind, state',
  );
  const claims = await database.look(
    held,
    `select profile, kind, name, coalesce(worker, '') as worker, until from psd2.claims
     where until > clock_timestamp() order by profile, kind, name`,
  );
  const size = await database.lookOne(
    z.object({ bytes: z.coerce.number() }),
    `select coalesce(sum(pg_total_relation_size(c.oid)), 0)::text as bytes from pg_class c
     join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'psd2' and c.relkind in ('r', 'p')`,
  );
  const names = new Set([...customers, ...flows].map(({ profile }) => profile));
  return {
    ...status,
    profiles: [...names].sort().map((profile) => ({
      profile,
      customers: customers.find((each) => each.profile === profile)?.customers ?? 0,
      flows: flows
        .filter((each) => each.profile === profile)
        .map(({ kind, state, count }) => ({ kind, state, count })),
    })),
    claims: claims.map(({ until, ...claim }) => ({ ...claim, until: until.toISOString() })),
    bytes: size?.bytes ?? 0,
  };
}
