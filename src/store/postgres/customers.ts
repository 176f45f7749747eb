import * as z from 'zod/mini';
import { isCustomerId } from '../../domain/identifiers.ts';
import {
  type CustomerVersion,
  changeRecord,
  keptCustomer,
  lastingOf,
  moveRecord,
  type Update,
} from '../kept-customer.ts';
import type { CustomerRecord } from '../ports/copy.ts';
import type { Customers, KeptCustomer, LastingConsent } from '../ports/customers.ts';
import { type Database, LostAnswer, ProfileRows } from './database.ts';

/** How many customers one statement of a copy reads. */
const PAGE = 500;

/** A row of `psd2.customers`, without its key. */
const customerRow = z.object({
  generation: z.coerce.number(),
  changes: z.array(z.string()),
  /** Null after psd2 has forgotten the customer. */
  kept: z.nullable(keptCustomer),
});

/** Checked strictly, since the ids become the names of folders. */
const recordRow = z.object({
  baseUrl: z.string(),
  customer: z.string().check(z.refine(isCustomerId)),
  generation: z.coerce.number(),
  kept: customerRow.shape.kept,
});

/** Writes a version over those of which its condition holds. `$1` profile, `$2` bank, `$3` customer; then the version. */
const WRITE = `with durable as materialized (select set_config('synchronous_commit', 'on', true))
  insert into psd2.customers as c (profile, base_url, customer_id, generation, changes, kept)
  select $1, $2, $3, $4::bigint, $5::text[], $6::json from durable
  on conflict (profile, base_url, customer_id) do update set generation = excluded.generation,
    changes = excluded.changes, kept = excluded.kept, changed_at = clock_timestamp()`;

/**
 * What is kept of the customers of one profile: a row for each customer at each bank. A change requires the generation that was
 * read, so no worker waits for another, and none overwrites what another has written.
 */
export class PostgresCustomers extends ProfileRows implements Customers {
  readonly #baseUrl: string | null;

  /** @param bank the profile's current base URL; undefined for callers that change nothing there */
  constructor(database: Database, profile: string, bank: URL | undefined) {
    super(database, profile);
    this.#baseUrl = bank?.href ?? null;
  }

  async list(): Promise<string[]> {
    const rows = await this.look(
      z.object({ customer_id: z.string() }),
      `select customer_id from psd2.customers where profile = $1 and base_url = $2 and kept is not null
       order by customer_id collate "C"`,
      [this.#baseUrl],
    );
    return rows.map(({ customer_id }) => customer_id);
  }

  async all(): Promise<{ customer: string; kept: KeptCustomer }[]> {
    return this.look(
      z.object({ customer: z.string(), kept: keptCustomer }),
      `select customer_id as customer, kept from psd2.customers where profile = $1 and base_url = $2 and kept is not null
       order by customer_id collate "C"`,
      [this.#baseUrl],
    );
  }

  async lasting(): Promise<LastingConsent[]> {
    return (await this.all()).flatMap(({ customer, kept: record }) => lastingOf(customer, record));
  }

  async read(customer: string): Promise<KeptCustomer | undefined> {
    return (await this.#newest(customer)).kept ?? undefined;
  }

  async change(customer: string, update: (before: KeptCustomer) => KeptCustomer): Promise<void> {
    await this.#change(customer, update);
  }

  async forget(customer: string): Promise<void> {
    this.#bank();
    if ((await this.#newest(customer)).kept !== null) await this.#change(customer, null);
  }

  async otherBanks(): Promise<{ baseUrl: string; customers: number }[]> {
    return this.look(
      z.object({ baseUrl: z.string(), customers: z.number() }),
      `select base_url as "baseUrl", count(*)::int as customers from psd2.customers
       where profile = $1 and kept is not null and base_url is distinct from $2
       group by base_url order by customers desc, base_url collate "C"`,
      [this.#baseUrl],
    );
  }

  async move(from: string): Promise<number> {
    const rows = await this.look(
      z.object({ customer_id: z.string() }),
      `select customer_id from psd2.customers where profile = $1 and base_url = $2 and kept is not null
       order by customer_id collate "C"`,
      [from],
    );
    let moved = 0;
    for (const { customer_id: customer } of rows) {
      const old = {
        read: async () => (await this.#newest(customer, from)).kept,
        change: (update: Update) => this.#change(customer, update, from),
      };
      if (await moveRecord(old, { change: (update) => this.#change(customer, update) })) moved += 1;
    }
    return moved;
  }

  async forgetAll(): Promise<void> {
    await this.look(
      z.unknown(),
      `with durable as materialized (select set_config('synchronous_commit', 'on', true))
       update psd2.customers set generation = generation + 1, changes = '{}', kept = null, changed_at = clock_timestamp()
       from durable where profile = $1 and kept is not null`,
    );
  }

  /** All records, at any bank, for `store copy`. */
  async *records(): AsyncGenerator<CustomerRecord> {
    for (let after = ['', '']; ; ) {
      const page = await this.look(
        recordRow,
        `select base_url as "baseUrl", customer_id as customer, generation, kept from psd2.customers
         where profile = $1 and (base_url collate "C", customer_id collate "C") > ($2 collate "C", $3 collate "C")
         order by base_url collate "C", customer_id collate "C" limit ${PAGE}`,
        after,
      );
      for (const each of page) {
        yield { kind: 'customer', ...each };
        after = [each.baseUrl, each.customer];
      }
      if (page.length < PAGE) return;
    }
  }

  /** The record of a customer at a bank, for `store copy`. */
  async record({ baseUrl, customer }: CustomerRecord): Promise<CustomerRecord | undefined> {
    const { generation, kept: record } = await this.#newest(customer, baseUrl);
    return generation === 0 ? undefined : { kind: 'customer', baseUrl, customer, generation, kept: record };
  }

  /** Stores a copied record. An older one never replaces a newer one. */
  async keep({ baseUrl, customer, ...version }: CustomerRecord): Promise<void> {
    const values = valuesOf([this.profile, baseUrl, customer], { ...version, changes: [] });
    await this.database.transactionAgain((statements) =>
      statements.execute(`${WRITE} where c.generation < excluded.generation`, values),
    );
  }

  async #change(customer: string, update: Update | null, baseUrl = this.#bank()): Promise<void> {
    await this.database.remember(this.profile);
    const newest = () => this.#newest(customer, baseUrl);
    const add = (version: CustomerVersion) => this.#add([this.profile, baseUrl, customer], version);
    await changeRecord(`the record of customer ${customer}`, { newest, add }, update);
  }

  #bank(): string {
    if (this.#baseUrl === null) throw new TypeError('What is kept of a customer needs the bank');
    return this.#baseUrl;
  }

  async #newest(customer: string, baseUrl = this.#baseUrl): Promise<CustomerVersion> {
    const version = await this.lookOne(
      customerRow,
      `select generation, changes, kept from psd2.customers
       where profile = $1 and base_url = $2 and customer_id = $3`,
      [baseUrl, customer],
    );
    return version ?? { generation: 0, changes: [], kept: null };
  }

  /** @returns false if another worker was faster, or the answer was lost */
  async #add(key: Key, version: CustomerVersion): Promise<boolean> {
    try {
      const added = await this.database.query(
        z.unknown(),
        `${WRITE} where c.generation = excluded.generation - 1 returning 1`,
        valuesOf(key, version),
      );
      return added.length > 0;
    } catch (error) {
      if (error instanceof LostAnswer) return false;
      throw error;
    }
  }
}

type Key = readonly [profile: string, baseUrl: string, customer: string];

/** The parameters of {@link WRITE}. */
function valuesOf(key: Key, { generation, changes, kept: record }: CustomerVersion) {
  return [...key, generation, changes, record && JSON.stringify(record)];
}
