import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod/mini';
import { isCustomerId, isPaymentHolder } from '../../domain/identifiers.ts';
import { Psd2Error } from '../../errors.ts';
import { MAX_RENEWAL_MS } from '../disk/lock.ts';
import type { LastLoginRecord, LoginRecord } from '../ports/copy.ts';
import type { Holder, ReadTokens, StoredLogin, StoredTokens, TokenSlot, Tokens } from '../ports/tokens.ts';
import type { Claim, Claims } from './claims.ts';
import { type Database, LostAnswer, ProfileRows } from './database.ts';
import { isAway } from './failure.ts';
import { type Keys, storedSecrets, TokenSeals } from './keys.ts';

/** How long to wait for a database that is away: the bank gives tokens only once. */
const MAX_OUTAGE_MS = 120_000;
const PAUSE_MS = 500;

const time = z.nullable(z.date());
const tokenRow = z.object({
  generation: z.coerce.number(),
  origin: z.coerce.number(),
  base_url: z.string(),
  access_token_expires_at: time,
  refresh_token_expires_at: time,
  scope: z.nullable(z.string()),
  api_track_id: z.nullable(z.string()),
  /** Null after a logout. */
  secrets: z.nullable(storedSecrets),
});
const { origin: _origin, secrets: _secrets, ...loginColumns } = tokenRow.shape;
const loginRow = z.object({ holder: z.string(), ...loginColumns });
type Row = z.infer<typeof tokenRow>;
const customerId = z.string().check(z.refine(isCustomerId));
/** Checked strictly, since the holders become the names of files. */
const recordRow = z.extend(tokenRow, {
  holder: z.union([z.literal(''), customerId, z.string().check(z.refine(isPaymentHolder))]),
});

const TOKEN_COLUMNS = `generation, origin, base_url, access_token_expires_at, refresh_token_expires_at, scope, api_track_id, secrets`;

/** Of the tokens of customers, not of the application or of payments. */
export const OF_CUSTOMERS = `holder <> '' and holder not like 'payment:%'`;

/** Writes tokens over those of which its condition holds. `$1` is the profile. */
const WRITE = `with durable as materialized (select set_config('synchronous_commit', 'on', true))
  insert into psd2.tokens as t (profile, holder, ${TOKEN_COLUMNS})
  select $1, $2, $3::bigint, $4::bigint, $5, $6::timestamptz, $7::timestamptz, $8, $9, $10::json from durable
  on conflict (profile, holder) do update set
    generation = excluded.generation, origin = excluded.origin, base_url = excluded.base_url,
    access_token_expires_at = excluded.access_token_expires_at, scope = excluded.scope,
    refresh_token_expires_at = excluded.refresh_token_expires_at, api_track_id = excluded.api_track_id,
    secrets = excluded.secrets, changed_at = clock_timestamp()`;

/**
 * The tokens of one profile at one bank: a row for each holder, with a generation that grows with each change. A change
 * requires the generation that was read, so older tokens never replace newer ones, no matter how long a worker was
 * stopped.
 */
export class PostgresTokens extends ProfileRows implements Tokens {
  /** Null if the bank is not known. Then psd2 finds no login and can write none. */
  readonly #baseUrl: string | null;
  readonly #claims: Claims;
  readonly #keys: Keys;
  readonly #seals: TokenSeals;

  constructor(database: Database, profile: string, bank: URL | undefined, claims: Claims, keys: Keys) {
    super(database, profile);
    this.#baseUrl = bank?.href ?? null;
    this.#claims = claims;
    this.#keys = keys;
    this.#seals = new TokenSeals(database, profile, keys);
  }

  async login(holder: Holder): Promise<StoredLogin | undefined> {
    const stored = await this.#usable(holder);
    return stored && loginInRow(stored);
  }

  async logins(): Promise<{ customerId: string; login: StoredLogin }[]> {
    const rows = await this.look(
      loginRow,
      `select holder, generation, base_url, access_token_expires_at, refresh_token_expires_at, scope, api_track_id from psd2.tokens
       where profile = $1 and ${OF_CUSTOMERS} and secrets is not null and base_url = $2 order by holder collate "C"`,
      [this.#baseUrl ?? null],
    );
    return rows.map((stored) => ({ customerId: stored.holder, login: loginInRow(stored) }));
  }

  async read(holder: Holder): Promise<ReadTokens | undefined> {
    const stored = await this.#usable(holder);
    return stored && this.#open(holder, stored);
  }

  change<T>(holder: Holder, work: (slot: TokenSlot) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#claimed(holder, signal, async (claim) => {
      await this.#keys.key();
      return work(this.#slot(holder, claim));
    });
  }

  async forget(holder: Holder, before: () => Promise<void> = async () => {}): Promise<void> {
    await this.#claimed(holder, undefined, async () => {
      await before();
      await this.#forget(holder);
    });
  }

  async erase(holder: Holder): Promise<void> {
    if (!(await this.#newest(holder))) return;
    await this.#claimed(holder, undefined, () =>
      this.executeAgain('delete from psd2.tokens where profile = $1 and holder = $2', [nameOfHolder(holder)]),
    );
  }

  async forgetAll(): Promise<void> {
    for (const holder of await this.#holders()) await this.forget(holder);
    await this.executeAgain('delete from psd2.last_logins where profile = $1');
  }

  async ready(): Promise<() => Promise<void>> {
    const [rights] = await this.database.look(
      z.object({ can: z.boolean() }),
      `select has_table_privilege('psd2.tokens', 'insert, update') and not pg_is_in_recovery() as can`,
    );
    if (rights?.can) {
      await this.#keys.key();
      return async () => {};
    }
    throw new Psd2Error('config', `Tokens cannot be written at ${this.database.shown}`, {
      hint: 'Name the primary server in PSD2_STORE, and give its user the role psd2_worker.',
    });
  }

  customers(): Promise<string[]> {
    return customersOf(this.database, this.profile);
  }

  async otherBanks(): Promise<{ baseUrl: string; logins: number }[]> {
    const rows = await this.look(
      z.object({ base_url: z.string(), logins: z.number() }),
      `select base_url, count(*)::int as logins from psd2.tokens
       where profile = $1 and secrets is not null and base_url is distinct from $2
       group by base_url order by logins desc, base_url collate "C"`,
      [this.#baseUrl],
    );
    return rows.map(({ base_url: baseUrl, logins }) => ({ baseUrl, logins }));
  }

  async last(): Promise<string | undefined> {
    const lastLogin = await this.lookOne(
      z.object({ customer_id: customerId }),
      'select customer_id from psd2.last_logins where profile = $1',
    );
    return lastLogin?.customer_id;
  }

  async remember(customerId: string): Promise<void> {
    await this.executeAgain(
      `insert into psd2.last_logins (profile, customer_id) values ($1, $2)
       on conflict (profile) do update set customer_id = excluded.customer_id`,
      [customerId],
    );
  }

  async rewrite(): Promise<void> {
    for (const holder of await this.#holders())
      await this.#claimed(holder, undefined, async () => {
        const stored = await this.#newest(holder);
        const tokens = stored && (await this.#open(holder, stored, this.#keys.mayBePlain));
        if (stored && tokens)
          await this.#put(holder, stored.generation, tokens, stored.origin, stored.base_url);
      });
  }

  async move(from: string): Promise<number> {
    const rows = await this.look(
      z.object({ holder: z.string() }),
      'select holder from psd2.tokens where profile = $1 and base_url = $2 and secrets is not null order by holder',
      [from],
    );
    let moved = 0;
    for (const { holder: name } of rows) {
      const holder = holderNamed(name);
      await this.#claimed(holder, undefined, async () => {
        for (;;) {
          const stored = await this.#newest(holder);
          const tokens = stored?.base_url === from ? await this.#open(holder, stored) : undefined;
          if (!stored || !tokens) return;
          if (!(await this.#put(holder, stored.generation, tokens, stored.origin))) continue;
          moved += 1;
          return;
        }
      });
    }
    return moved;
  }

  /** Always empty: a row is complete, or does not exist. */
  async damaged(): Promise<string[]> {
    return [];
  }

  /** All tokens, of any bank, and who logged in last, for `store copy`. */
  async *records(): AsyncGenerator<LoginRecord | LastLoginRecord> {
    const rows = await this.look(
      recordRow,
      `select holder, ${TOKEN_COLUMNS} from psd2.tokens where profile = $1 order by holder`,
    );
    for (const { holder, ...stored } of rows) yield this.#record(holder, stored);
    const last = await this.last();
    if (last !== undefined) yield { kind: 'last-login', customerId: last };
  }

  /** The tokens of a holder, of any bank, for `store copy`. */
  async record({ holder }: LoginRecord): Promise<LoginRecord | undefined> {
    const stored = await this.#newest(holderNamed(holder));
    return stored && this.#record(holder, stored);
  }

  /** Stores copied tokens. Older tokens never replace newer ones. */
  async keep(record: LoginRecord): Promise<void> {
    await this.executeAgain(
      `${WRITE} where t.generation < excluded.generation`,
      await this.#valuesOf(record),
    );
  }

  async #record(holder: string, stored: Row): Promise<LoginRecord> {
    const { generation, origin, base_url: baseUrl } = stored;
    const tokens = (await this.#opened(holderNamed(holder), stored, this.#keys.mayBePlain)) ?? null;
    return { kind: 'login', holder, generation, origin, baseUrl, tokens };
  }

  #slot(holder: Holder, claim: Claim): TokenSlot {
    return {
      takenOverFrom: claim.takenOverFrom,
      read: () => this.read(holder),
      isOurs: async (read) =>
        (await claim.isOurs()) && (await this.#usable(holder))?.generation === read?.generation,
      write: async (tokens) => {
        for (;;) {
          const before = await this.#newest(holder);
          if (await this.#put(holder, before?.generation ?? 0, tokens)) return;
        }
      },
      replace: (spent, tokens) =>
        whenBack(async () => {
          for (;;) {
            const before = await this.#newest(holder);
            // Do not require the claim. Without it, the tokens that the bank gave for a refresh token would be lost.
            const isSpent = before?.secrets && before.origin === (spent?.origin ?? spent?.generation);
            if (spent && !isSpent) return this.read(holder);
            // If the spent tokens have been moved to another base URL, the new ones follow them.
            const baseUrl = spent ? before?.base_url : undefined;
            if (await this.#put(holder, before?.generation ?? 0, tokens, undefined, baseUrl)) return tokens;
          }
        }),
      refuse: async ({ generation, origin = generation, ...tokens }) => {
        const ended = { ...tokens, refreshToken: null, refreshTokenExpiresAt: null };
        await this.#put(holder, generation, ended, origin);
      },
      prove: async ({ generation, origin = generation, unproven: _, ...tokens }, isOwn) => {
        if (isOwn) await this.#put(holder, generation, tokens, origin);
        else await this.#forget(holder, generation);
      },
    };
  }

  /**
   * Replaces the tokens of a generation.
   *
   * @returns false, and writes nothing, if the store has another generation in the meantime
   */
  async #put(
    holder: Holder,
    before: number,
    tokens: StoredTokens,
    origin = before + 1,
    baseUrl = this.#baseUrl,
  ): Promise<boolean> {
    if (baseUrl === null) throw new TypeError('Tokens are written for a bank');
    const { accessToken, refreshToken } = tokens;
    const next = { holder: nameOfHolder(holder), generation: before + 1, origin, baseUrl, tokens };
    const values = await this.#valuesOf(next);
    try {
      const written = await this.query(
        z.unknown(),
        `${WRITE} where t.generation = excluded.generation - 1 returning 1`,
        values,
      );
      return written.length > 0;
    } catch (error) {
      if (!(error instanceof LostAnswer)) throw error;
      // The tokens may have been written. Only this worker has them, so the stored tokens show it.
      const stored = await this.#newest(holder);
      if (stored?.generation === before + 1) {
        const storedTokens = await this.#open(holder, stored);
        return storedTokens?.accessToken === accessToken && storedTokens?.refreshToken === refreshToken;
      }
      return this.#put(holder, before, tokens, origin, baseUrl);
    }
  }

  /** The parameters of {@link WRITE} after the profile. */
  async #valuesOf({ holder, generation, origin, baseUrl, tokens }: Omit<LoginRecord, 'kind'>) {
    return [
      holder,
      generation,
      origin,
      baseUrl,
      tokens?.accessTokenExpiresAt ?? null,
      tokens?.refreshTokenExpiresAt ?? null,
      tokens?.scope ?? null,
      tokens?.apiTrackId ?? null,
      tokens && (await this.#seals.close({ holder: holderNamed(holder), baseUrl, generation }, tokens)),
    ];
  }

  /** @param generation forgets only this one; without it, any */
  async #forget(holder: Holder, generation: number | null = null): Promise<void> {
    await this.executeAgain(
      `update psd2.tokens set secrets = null, generation = generation + 1, origin = generation + 1,
         access_token_expires_at = null, refresh_token_expires_at = null, scope = null, api_track_id = null,
         changed_at = clock_timestamp()
       where profile = $1 and holder = $2 and secrets is not null and ($3::bigint is null or generation = $3::bigint)`,
      [nameOfHolder(holder), generation],
    );
  }

  /** The row that {@link read} gives: not after a logout, and not of another bank. */
  async #usable(holder: Holder): Promise<Row | undefined> {
    const stored = await this.#newest(holder);
    return stored?.secrets && stored.base_url === this.#baseUrl ? stored : undefined;
  }

  async #newest(holder: Holder): Promise<Row | undefined> {
    return this.lookOne(
      tokenRow,
      `select ${TOKEN_COLUMNS} from psd2.tokens where profile = $1 and holder = $2`,
      [nameOfHolder(holder)],
    );
  }

  async #open(holder: Holder, stored: Row, takesPlain?: boolean): Promise<ReadTokens | undefined> {
    const opened = await this.#opened(holder, stored, takesPlain);
    return opened && { ...opened, generation: stored.generation, origin: stored.origin };
  }

  /** @param takesPlain as {@link TokenSeals.open}. @returns undefined after a logout */
  async #opened(holder: Holder, stored: Row, takesPlain?: boolean): Promise<StoredTokens | undefined> {
    const { generation, base_url: baseUrl, secrets } = stored;
    if (!secrets) return undefined;
    const opened = await this.#seals.open({ holder, baseUrl, generation }, secrets, takesPlain);
    return { ...loginInRow(stored), ...opened };
  }

  async #holders(): Promise<Holder[]> {
    const rows = await this.look(
      z.object({ holder: z.string() }),
      'select holder from psd2.tokens where profile = $1 and secrets is not null order by holder',
    );
    return rows.map(({ holder }) => holderNamed(holder));
  }

  #claimed<T>(
    holder: Holder,
    signal: AbortSignal | undefined,
    work: (claim: Claim) => Promise<T>,
  ): Promise<T> {
    const what = holder === null ? 'The login of the application' : `The login of customer ${holder}`;
    return this.#claims.within(
      'tokens',
      nameOfHolder(holder),
      { what, patienceMs: MAX_RENEWAL_MS, signal },
      work,
    );
  }
}

/** Repeats `work` while the database is away. If a write succeeded and only its answer was lost, the next try finds it. */
async function whenBack<T>(work: () => Promise<T>): Promise<T> {
  const until = performance.now() + MAX_OUTAGE_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isAway(error) || performance.now() > until) throw error;
      await delay(PAUSE_MS);
    }
  }
}

/** Customers of a profile with stored tokens, sorted. */
export async function customersOf(database: Database, profile: string): Promise<string[]> {
  const rows = await database.look(
    z.object({ holder: z.string() }),
    `select holder from psd2.tokens where profile = $1 and ${OF_CUSTOMERS} and secrets is not null
     order by holder collate "C"`,
    [profile],
  );
  return rows.map(({ holder }) => holder);
}

function loginInRow(stored: Omit<Row, 'origin' | 'secrets'>): StoredLogin {
  return {
    accessTokenExpiresAt: stored.access_token_expires_at?.toISOString() ?? null,
    refreshTokenExpiresAt: stored.refresh_token_expires_at?.toISOString() ?? null,
    scope: stored.scope,
    apiTrackId: stored.api_track_id ?? undefined,
  };
}

/** The holder's name in the database, which is empty for the application. */
export function nameOfHolder(holder: Holder): string {
  return holder ?? '';
}

/** The holder with this name in the database. */
function holderNamed(name: string): Holder {
  return name === '' ? null : name;
}
