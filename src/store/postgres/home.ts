import * as z from 'zod/mini';
import { adviceIn, Psd2Error } from '../../errors.ts';
import { describeChoice } from '../machine/store-choice.ts';
import type { ChosenStore, StoreSettings } from '../open.ts';
import type { ProfileData, Store, StoreCheck, StoreStatus } from '../ports/store.ts';
import type { Sync } from '../ports/sync.ts';
import type { KeySources } from '../secrets/vault.ts';
import { PostgresAccessNotes, PostgresUnattendedReads } from './access.ts';
import { type Address, parseAddress, withoutPassword } from './address.ts';
import { PostgresCallCount, PostgresTurns, type TurnsWorld } from './calls.ts';
import { Claims } from './claims.ts';
import { Database } from './database.ts';
import { PostgresFlows } from './flows/flows.ts';
import type { FlowWorld } from './flows/journal.ts';
import { currentVersion } from './init.ts';
import { Keys } from './keys.ts';
import { mayKeepPlainTokens } from './plain-tokens.ts';
import { SCHEMA_VERSION } from './schema.ts';
import { PostgresSync } from './sync/rows.ts';
import { PostgresTokens } from './tokens.ts';

/** What the home needs from the machine that runs psd2. */
interface PostgresWorld extends FlowWorld, TurnsWorld {
  /** The operator's Ctrl-C. */
  signal: AbortSignal | undefined;
  keys: KeySources;
  /** As {@link mayKeepPlainTokens}. */
  mayBePlain: boolean;
}

/** The home in the database that `PSD2_STORE` names. @throws Psd2Error `config` if that is not an address */
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
  };
  return new PostgresStore(address, world, chosen && { ...chosen, address: withoutPassword(text, address) });
}

/** `psd2 doctor` warns if the clocks differ by more than this. */
const MOST_CLOCK_DIFFERENCE_MS = 5_000;

/** The store in PostgreSQL (store page, "One store, two homes"). */
export class PostgresStore implements Store {
  readonly place: string;
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
      flows: new PostgresFlows(this.#database, profile, claims, this.#world),
      calls: new PostgresCallCount(this.#database, profile),
      notes: new PostgresAccessNotes(this.#database, profile),
      reads: new PostgresUnattendedReads(this.#database, profile),
      turns: (own) => new PostgresTurns(this.#database, profile, this.#world, own),
      sync: (out) => {
        const inDatabase = new PostgresSync(this.#database, profile, claims);
        return out === undefined ? inDatabase : alsoInFiles(inDatabase, out);
      },
      rounds: async () => new (await import('./sync/rounds.ts')).PostgresRounds(this.#database, profile),
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
    const detail = `reached PostgreSQL at ${this.#database.shown} (${how})`;
    yield { name: 'store', status: 'ok', detail, fix: null };
    yield schemaCheck(version);
    if (version !== SCHEMA_VERSION) return;
    yield* this.#checkConnection();
  }

  async status(): Promise<StoreStatus> {
    return (await import('./status.ts')).statusOfDatabase(this.#database);
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  async *#checkConnection(): AsyncGenerator<StoreCheck> {
    const found = await this.#database.lookOne(
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
    if (!found) return;
    yield found.tls || found.local
      ? { name: 'store TLS', status: 'ok', detail: found.tls ?? 'on this machine, without TLS', fix: null }
      : {
          name: 'store TLS',
          status: 'warn',
          detail: 'the connection is not encrypted',
          fix: { hint: 'Use sslmode=verify-full.' },
        };
    const off = Math.abs(found.now.getTime() - this.#world.now().getTime());
    yield off <= MOST_CLOCK_DIFFERENCE_MS
      ? { name: 'store clock', status: 'ok', detail: 'agrees with the clock of this machine', fix: null }
      : {
          name: 'store clock',
          status: 'warn',
          detail: `differs by ${Math.round(off / 1000)} s from the clock of this machine`,
          fix: { hint: 'Set both by NTP.' },
        };
    yield found.writes
      ? { name: 'store rights', status: 'ok', detail: 'may write', fix: null }
      : {
          name: 'store rights',
          status: 'fail',
          detail: 'may not write',
          fix: { hint: 'Name the primary server, and give its user the role psd2_worker.' },
        };
    yield* plainTokensCheck(found, this.#world.mayBePlain);
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
    yield { name, status: 'warn', detail: 'tokens are stored in clear text', fix: { hint } };
    return;
  }
  const rows = `${unsealed} ${unsealed === 1 ? 'login is' : 'logins are'} stored in clear text`;
  yield {
    name,
    status: 'fail',
    detail: plain ? `the database says that tokens are in clear text; ${rows}` : rows,
    fix: {
      hint: 'This machine does not use such tokens. If you chose them, set PSD2_STORE_PLAIN_TOKENS=1. If not, find out who can write to the database.',
    },
  };
}

/** With `--out`, a sync also writes files. */
function alsoInFiles(inDatabase: Sync, out: string): Sync {
  return {
    run: async (signal, work) => {
      const { syncIntoFolder } = await import('../files/sync/into-folder.ts');
      const { syncIntoBoth } = await import('../sync-into-both.ts');
      return syncIntoBoth(inDatabase, syncIntoFolder(out)).run(signal, work);
    },
  };
}

function schemaCheck(version: number): StoreCheck {
  if (version === SCHEMA_VERSION)
    return { name: 'store schema', status: 'ok', detail: `version ${version}`, fix: null };
  return version > SCHEMA_VERSION
    ? {
        name: 'store schema',
        status: 'fail',
        detail: `version ${version}, and this psd2 knows ${SCHEMA_VERSION}`,
        fix: { hint: 'Update psd2 on this machine.' },
      }
    : {
        name: 'store schema',
        status: 'fail',
        detail:
          version === 0 ? 'there is no schema' : `version ${version}, and this psd2 needs ${SCHEMA_VERSION}`,
        fix: { hint: 'With the rights of the owner:', next: [['store', 'init']] },
      };
}
