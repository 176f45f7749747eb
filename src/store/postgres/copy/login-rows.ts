import * as z from 'zod/mini';
import type { LastLoginRecord, LoginRecord } from '../../ports/copy.ts';
import type { Holder } from '../../ports/tokens.ts';
import type { Database } from '../database.ts';
import type { Keys } from '../keys.ts';
import { TokenSeals } from '../token-secrets.ts';
import { loginOf, type Row, TOKEN_COLUMNS, tokenRow } from '../tokens.ts';

/** Checked strictly, since the id becomes the name of a folder. */
const customerId = z.string().check(z.regex(/^\d{1,20}$/));
const heldRow = z.extend(tokenRow, { holder: z.union([z.literal(''), customerId]) });

/** The tokens of one profile, of any bank, for `store copy`. */
export class LoginRows {
  readonly #database: Database;
  readonly #profile: string;
  readonly #keys: Keys;
  readonly #seals: TokenSeals;

  constructor(database: Database, profile: string, keys: Keys) {
    this.#database = database;
    this.#profile = profile;
    this.#keys = keys;
    this.#seals = new TokenSeals(database, profile, keys);
  }

  async all(): Promise<(LoginRecord | LastLoginRecord)[]> {
    const rows = await this.#database.look(
      heldRow,
      `select holder, ${TOKEN_COLUMNS} from psd2.tokens where profile = $1 order by holder`,
      [this.#profile],
    );
    const last = await this.last();
    const logins = await Promise.all(rows.map((row) => this.#open(row.holder, row)));
    return last ? [...logins, last] : logins;
  }

  async of(holder: string): Promise<LoginRecord | undefined> {
    const row = await this.#database.lookOne(
      tokenRow,
      `select ${TOKEN_COLUMNS} from psd2.tokens where profile = $1 and holder = $2`,
      [this.#profile, holder],
    );
    return row && this.#open(holder, row);
  }

  async last(): Promise<LastLoginRecord | undefined> {
    const found = await this.#database.lookOne(
      z.object({ customerId }),
      'select customer_id as "customerId" from psd2.last_logins where profile = $1',
      [this.#profile],
    );
    return found && { kind: 'last-login', ...found };
  }

  async remember(record: LastLoginRecord): Promise<void> {
    await this.#database.look(
      z.unknown(),
      `insert into psd2.last_logins (profile, customer_id) values ($1, $2)
       on conflict (profile) do update set customer_id = excluded.customer_id`,
      [this.#profile, record.customerId],
    );
  }

  /** Stores copied tokens. Older tokens never replace newer ones. */
  async put({ holder, generation, origin, baseUrl, tokens }: LoginRecord): Promise<void> {
    const secrets =
      tokens && (await this.#seals.close({ holder: holderOf(holder), baseUrl, generation }, tokens));
    await this.#database.look(
      z.unknown(),
      `with durable as materialized (select set_config('synchronous_commit', 'on', true))
       insert into psd2.tokens as t (profile, holder, ${TOKEN_COLUMNS})
       select $1, $2, $3::bigint, $4::bigint, $5, $6::timestamptz, $7::timestamptz, $8, $9, $10::json from durable
       on conflict (profile, holder) do update set generation = excluded.generation, origin = excluded.origin,
         base_url = excluded.base_url, access_token_expires_at = excluded.access_token_expires_at,
         refresh_token_expires_at = excluded.refresh_token_expires_at, scope = excluded.scope,
         api_track_id = excluded.api_track_id, secrets = excluded.secrets, changed_at = clock_timestamp()
       where t.generation < excluded.generation`,
      [
        ...[this.#profile, holder, generation, origin, baseUrl],
        ...[tokens?.accessTokenExpiresAt ?? null, tokens?.refreshTokenExpiresAt ?? null],
        ...[tokens?.scope ?? null, tokens?.apiTrackId ?? null, secrets],
      ],
    );
  }

  async #open(holder: string, row: Row): Promise<LoginRecord> {
    const { generation, origin, base_url: baseUrl, secrets } = row;
    const known = { kind: 'login', holder, generation, origin, baseUrl } as const;
    if (!secrets) return { ...known, tokens: null };
    const of = { holder: holderOf(holder), baseUrl, generation };
    const content = await this.#seals.open(of, secrets, this.#keys.mayBePlain);
    return { ...known, tokens: { ...loginOf(row), ...content } };
  }
}

function holderOf(name: string): Holder {
  return name === '' ? null : name;
}
