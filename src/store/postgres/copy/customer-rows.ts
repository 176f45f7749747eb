import * as z from 'zod/mini';
import { isCustomerId } from '../../../domain/identifiers.ts';
import { keptCustomer } from '../../kept-customer.ts';
import type { CustomerRecord } from '../../ports/copy.ts';
import type { Database } from '../database.ts';

/** How many customers one statement reads. */
const PAGE = 500;
const COLUMNS = 'base_url as "baseUrl", customer_id as customer, generation, kept';
const row = z.object({
  baseUrl: z.string(),
  customer: z.string().check(z.refine(isCustomerId)),
  generation: z.coerce.number(),
  kept: z.nullable(keptCustomer),
});

/** What is kept of the customers of one profile, at any bank, for `store copy`. */
export class CustomerRows {
  readonly #database: Database;
  readonly #profile: string;

  constructor(database: Database, profile: string) {
    this.#database = database;
    this.#profile = profile;
  }

  async *all(): AsyncGenerator<CustomerRecord> {
    for (let after = ['', '']; ; ) {
      const page = await this.#database.look(
        row,
        `select ${COLUMNS} from psd2.customers
         where profile = $1 and (base_url collate "C", customer_id collate "C") > ($2 collate "C", $3 collate "C")
         order by base_url collate "C", customer_id collate "C" limit ${PAGE}`,
        [this.#profile, ...after],
      );
      for (const each of page) {
        yield { kind: 'customer', ...each };
        after = [each.baseUrl, each.customer];
      }
      if (page.length < PAGE) return;
    }
  }

  async of({ baseUrl, customer }: CustomerRecord): Promise<CustomerRecord | undefined> {
    const stored = await this.#database.lookOne(
      row,
      `select ${COLUMNS} from psd2.customers where profile = $1 and base_url = $2 and customer_id = $3`,
      [this.#profile, baseUrl, customer],
    );
    return stored && { kind: 'customer', ...stored };
  }

  /** Stores a copied record. An older one never replaces a newer one. */
  async put({ baseUrl, customer, generation, kept: record }: CustomerRecord): Promise<void> {
    await this.#database.transactionAgain(async (statements) => {
      await statements.query(
        z.unknown(),
        `select set_config('psd2.copying', 'on', true), set_config('synchronous_commit', 'on', true)`,
      );
      await statements.query(
        z.unknown(),
        `insert into psd2.customers as c (profile, base_url, customer_id, generation, changes, kept)
         values ($1, $2, $3, $4::bigint, '{}', $5::json)
         on conflict (profile, base_url, customer_id) do update set generation = excluded.generation,
           changes = excluded.changes, kept = excluded.kept, changed_at = clock_timestamp()
         where c.generation < excluded.generation`,
        [this.#profile, baseUrl, customer, generation, record && JSON.stringify(record)],
      );
    });
  }
}
