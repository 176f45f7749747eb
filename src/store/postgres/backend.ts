import * as z from 'zod/mini';
import { adviceIn, Psd2Error } from '../../errors.ts';
import { actorOf } from '../machine/actor.ts';
import type { Environment } from '../machine/settings.ts';
import {
  type ChosenStore,
  describeChoice,
  type StoreGuard,
  type StoreSettings,
} from '../machine/store-choice.ts';
import { requireBank } from '../pin-key.ts';
import type { Actor } from '../ports/audit.ts';
import type { Glance, ProfileData, Store, StoreCheck, StoreStatus } from '../ports/store.ts';
import type { Sync } from '../ports/sync.ts';
import type { KeySources } from '../secrets/vault.ts';
import {
  PostgresAccessNotes,
  PostgresCallCount,
  PostgresTurns,
  PostgresUnattendedReads,
  type TurnsWorld,
} from './access.ts';
import { type Address, parseAddress, withoutPassword } from './address.ts';
import { PostgresAudit } from './audit.ts';
import { batchesBegun, PostgresBatches } from './batches.ts';
import { Claims } from './claims.ts';
import { PostgresCustomers } from './customers.ts';
import { Database } from './database.ts';
import { PostgresFlows } from './flows/flows.ts';
import type { FlowWorld } from './flows/journal.ts';
import { currentVersion } from './init.ts';
import { Keys, mayKeepPlainTokens } from './keys.ts';
import { PostgresPersonalData } from './personal.ts';
import { PostgresReadResults } from './read-results.ts';
import { SCHEMA_VERSION } from './schema.ts';
import { PostgresSync } from './sync/rows.ts';
import { customersOf, OF_CUSTOMERS, PostgresTokens } from './tokens.ts';

/** What the backend needs from the machine that runs psd2. */
interface PostgresWorld extends FlowWorld, TurnsWorld {
  /** The operator's Ctrl-C. */
  signal: AbortSignal | undefined;
  keys: KeySources;
  actor: Actor;
  /** As {@link mayKeepPlainTokens}. */
  mayBePlain: boolean;
}

/** The backend in the database that `PSD2_STORE` names. @throws Psd2Error `config` if that is not an address */
export function openPostgres(
  { env, folder, keySources, now, random, onFlow, sleep }: StoreSettings,
  chosen?: ChosenStore,
): Store {
  const text = env.PSD2_STORE ?? '';
  const address = parseAddress(text, env);
  const world = {
    now,
    random,
    onFlow,
    sleep,
    clock: () => performance.now(),
    signal: folder.interrupted,
    keys: keySources,
    mayBePlain: mayKeepPlainTokens(env),
    actor: actorOf(env),
    isForgotten: folder.forgotten.isForgotten,
  };
  return new PostgresStore(address, world, chosen && { ...chosen, address: withoutPassword(text, address) });
}

/** `psd2 doctor` warns if the clocks differ by more than this. */
const MAX_CLOCK_DIFFERENCE_MS = 5_000;

/** The store in PostgreSQL (store page, "One store, two homes"). */
export class PostgresStore implements Store {
  readonly place: string;
  readonly home = 'postgres';
  readonly needsFolder = false;
  readonly #database: Database;
  readonly #world: PostgresWorld;
  readonly #chosen: (ChosenStore & { address: string }) | undefined;

  /** @param chosen how it was chosen, with its address without a password. Without it, psd2 guards no profile */
  constructor(address: Address, world: PostgresWorld, chosen?: ChosenStore & { address: string }) {
    this.place = `in PostgreSQL at ${address.shown}`;
    this.#database = new Database(address, world.signal);
    this.#world = world;
    this.#chosen = chosen;
  }

  get source(): Store['source'] {
    return this.#chosen?.source ?? 'environment';
  }

  open(profile: string, bank?: URL): ProfileData {
    this.#guard(profile);
    const claims = new Claims(this.#database, profile, this.#world.signal);
    const keys = new Keys(this.#database, profile, this.#world.keys, this.#world.mayBePlain);
    return {
      tokens: new PostgresTokens(this.#database, profile, bank, claims, keys),
      customers: new PostgresCustomers(this.#database, profile, bank),
      flows: new PostgresFlows(this.#database, profile, claims, this.#world),
      audit: new PostgresAudit(this.#database, profile, this.#world),
      personal: new PostgresPersonalData(this.#database, profile, claims),
      batches: new PostgresBatches(this.#database, profile, claims, this.#world.now),
      calls: new PostgresCallCount(this.#database, profile),
      notes: new PostgresAccessNotes(this.#database, profile),
      reads: new PostgresUnattendedReads(this.#database, profile),
      results: new PostgresReadResults(this.#database, profile),
      pins: async () =>
        new (await import('./pins.ts')).PostgresUnacceptedPins(this.#database, requireBank(bank)),
      turns: (own) => new PostgresTurns(this.#database, profile, this.#world, own),
      sync: (out) => {
        const inDatabase = new PostgresSync(this.#database, profile, claims);
        return out === undefined ? inDatabase : alsoInFiles(inDatabase, out);
      },
      smoking: (work, busy) =>
        claims.within('smoke', 'run', { what: 'The smoke test', patienceMs: 0, busy }, work),
      lastSyncFolder: () => undefined,
      synced: async () => {
        const { PostgresSynced } = await import('./sync/synced.ts');
        return new PostgresSynced(this.#database, profile);
      },
      rounds: async () =>
        new (await import('./sync/rounds.ts')).PostgresRounds(this.#database, profile, bank),
    };
  }

  /** Lets the guard of a profile check this database, now and when psd2 connects. @throws Psd2Error `config` */
  #guard(profile: string): void {
    const guard = this.#chosen?.guardOf(profile);
    if (!guard) return;
    const named = { shown: this.#database.shown, address: this.#chosen?.address ?? '' };
    guard.checkNamed(named);
    this.#database.guard(profile, {
      get needsToKnowData() {
        return guard.needsToKnowData;
      },
      found: (id, hasData) => guard.checkFound({ ...named, id, hasData }),
      remember: (id) => guard.rememberFound({ ...named, id }),
    });
  }

  async *check(profile?: string): AsyncGenerator<StoreCheck> {
    let version: number;
    try {
      if (profile !== undefined) this.#guard(profile);
      version = await currentVersion(this.#database);
      if (version === SCHEMA_VERSION) await this.#database.checked();
    } catch (error) {
      if (!(error instanceof Psd2Error)) throw error;
      yield { name: 'store', status: 'fail', detail: error.message, fix: adviceIn(error) };
      return;
    }
    const isRemembered = profile !== undefined && this.#chosen?.guardOf(profile).remembered !== undefined;
    const how = describeChoice(this.source, isRemembered);
    yield finding('store', 'ok', `reached PostgreSQL at ${this.#database.shown} (${how})`);
    yield schemaCheck(version);
    if (version !== SCHEMA_VERSION) return;
    yield* this.#checkConnection();
  }

  async status(): Promise<StoreStatus> {
    return statusOfDatabase(this.#database);
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  async *#checkConnection(): AsyncGenerator<StoreCheck> {
    const connection = await this.#database.lookOne(
      z.object({
        now: z.date(),
        tls: z.nullable(z.string()),
        local: z.boolean(),
        writes: z.boolean(),
        plain: z.boolean(),
        unsealed: z.coerce.number(),
      }),
      `select clock_timestamp() as now, (select version from pg_stat_ssl where pid = pg_backend_pid()) as tls,
         coalesce(host(inet_client_addr()) in ('127.0.0.1', '::1'), true) as local,
         has_table_privilege('psd2.flow_events', 'insert') and not pg_is_in_recovery() as writes,
         (select plain_tokens from psd2.store) as plain,
         (select count(*) from psd2.tokens where secrets is not null and secrets->'sealed' is null)::text as unsealed`,
    );
    if (!connection) return;
    yield connection.tls || connection.local
      ? finding('store TLS', 'ok', connection.tls ?? 'on this machine, without TLS')
      : finding('store TLS', 'warn', 'the connection is not encrypted', 'Use sslmode=verify-full.');
    const off = Math.abs(connection.now.getTime() - this.#world.now().getTime());
    const difference = `differs by ${Math.round(off / 1000)} s from the clock of this machine`;
    yield off <= MAX_CLOCK_DIFFERENCE_MS
      ? finding('store clock', 'ok', 'agrees with the clock of this machine')
      : finding('store clock', 'warn', difference, 'Set both with NTP.');
    const writer = 'Name the primary server, and give its user the role psd2_worker.';
    yield connection.writes
      ? finding('store rights', 'ok', 'may write')
      : finding('store rights', 'fail', 'may not write', writer);
    yield* plainTokensCheck(connection, this.#world.mayBePlain);
  }
}

/** Tokens in clear text are the choice of both the store and the machine. Otherwise someone has changed the database. */
function* plainTokensCheck(
  { plain, unsealed }: { plain: boolean; unsealed: number },
  mayBePlain: boolean,
): Generator<StoreCheck> {
  if (!plain && unsealed === 0) return;
  const name = 'store tokens';
  if (plain && mayBePlain) {
    const hint =
      'To encrypt them, set PSD2_CONFIG_PASSPHRASE, run psd2 profile protect, and unset PSD2_STORE_PLAIN_TOKENS.';
    yield finding(name, 'warn', 'tokens are stored in clear text', hint);
    return;
  }
  const rows = `${unsealed} ${unsealed === 1 ? 'login is' : 'logins are'} stored in clear text`;
  yield finding(
    name,
    'fail',
    plain ? `the database says that tokens are in clear text; ${rows}` : rows,
    'This machine does not use such tokens. If you chose them, set PSD2_STORE_PLAIN_TOKENS=1. If not, find out who can write to the database.',
  );
}

function finding(name: string, status: StoreCheck['status'], detail: string, hint?: string): StoreCheck {
  return { name, status, detail, fix: hint === undefined ? null : { hint } };
}

/** With `--out`, a sync also writes files. */
function alsoInFiles(inDatabase: Sync, out: string): Sync {
  return {
    run: async (signal, work) => {
      const { syncIntoFolder } = await import('../files/sync/folder.ts');
      const { syncIntoBoth } = await import('../sync-into-both.ts');
      return syncIntoBoth(inDatabase, syncIntoFolder(out)).run(signal, work);
    },
  };
}

function schemaCheck(version: number): StoreCheck {
  const name = 'store schema';
  if (version === SCHEMA_VERSION) return finding(name, 'ok', `version ${version}`);
  if (version !== 0) {
    const detail = `version ${version}, and this psd2 knows ${SCHEMA_VERSION}`;
    return finding(name, 'fail', detail, 'Update psd2 on this machine.');
  }
  const fix = { hint: 'With the rights of the owner:', next: [['store', 'init']] };
  return { name, status: 'fail', detail: 'there is no schema', fix };
}

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
    begun: (kind, max) =>
      within((database) =>
        new PostgresFlows(database, profile, new Claims(database, profile, undefined), {
          now: () => new Date(),
          random: Math.random,
        }).begun(kind, max),
      ),
    batches: (max) => within((database) => batchesBegun(database, profile, max)),
  };
}

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
async function statusOfDatabase(database: Database): Promise<StoreStatus> {
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
    `select profile, (count(*) filter (where ${OF_CUSTOMERS} and secrets is not null))::int as customers
     from psd2.tokens group by profile`,
  );
  const flows = await database.look(
    perState,
    `select profile, kind, state, count(*)::int from psd2.flows group by profile, kind, state
     order by array_position(array['transfer', 'operation', 'consent'], kind), state collate "C"`,
  );
  const batches = await database.look(
    z.object({ profile: z.string(), count: z.number() }),
    'select profile, count(*)::int from psd2.batches group by profile',
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
  const names = new Set([...customers, ...flows, ...batches].map(({ profile }) => profile));
  return {
    ...status,
    profiles: [...names].sort().map((profile) => ({
      profile,
      customers: customers.find((each) => each.profile === profile)?.customers ?? 0,
      flows: flows
        .filter((each) => each.profile === profile)
        .map(({ kind, state, count }) => ({ kind, state, count })),
      batches: batches.find((each) => each.profile === profile)?.count ?? 0,
    })),
    claims: claims.map(({ until, ...claim }) => ({ ...claim, until: until.toISOString() })),
    bytes: size?.bytes ?? 0,
  };
}
