import * as z from 'zod/mini';
import type { ReadsRecord } from '../ports/copy.ts';
import type {
  CustomerReads,
  Doubt,
  FailedRead,
  OutdatedCustomer,
  ReadResult,
  ReadResults,
} from '../ports/read-results.ts';
import { addResult, customerReads, failedSince, outdatedBefore } from '../read-results.ts';
import { ProfileRows } from './database.ts';

/** How many customers one statement of a copy reads. */
const PAGE = 500;

const row = z.object({
  customer_id: z.string(),
  read_at: z.nullable(z.date()),
  failed: customerReads.shape.failed,
  doubts: customerReads.shape.doubts,
});

/** The results of one profile's syncs, in `psd2.read_results`, with a row for each customer. */
export class PostgresReadResults extends ProfileRows implements ReadResults {
  async add(results: readonly ReadResult[]): Promise<void> {
    if (results.length === 0) return;
    const customers = [...new Set(results.map(({ customerId }) => customerId))];
    await this.database.transactionAgain(async (statements) => {
      // If the server crashes and loses this, the next sync adds its own results.
      await statements.execute(`select set_config('synchronous_commit', 'off', true)`);
      const rows = await statements.query(
        row,
        `select customer_id, read_at, failed, doubts from psd2.read_results
         where profile = $1 and customer_id = any($2) order by customer_id for update`,
        [this.profile, customers],
      );
      const allReads = new Map(rows.map((each) => [each.customer_id, readsOf(each)]));
      for (const result of results)
        allReads.set(result.customerId, addResult(allReads.get(result.customerId), result));
      const changed = [...allReads].map(([customer_id, { readAt, failed, doubts }]) => ({
        customer_id,
        read_at: readAt,
        failed,
        doubts,
      }));
      await statements.execute(
        `insert into psd2.read_results (profile, customer_id, read_at, failed, doubts)
         select $1, customer_id, read_at, failed, doubts
           from json_to_recordset($2::json) as r (customer_id text, read_at timestamptz, failed json, doubts json)
         order by customer_id
         on conflict (profile, customer_id) do update set read_at = excluded.read_at, failed = excluded.failed,
           doubts = excluded.doubts`,
        [this.profile, JSON.stringify(changed)],
      );
    });
  }

  async failed(since: Date): Promise<FailedRead[]> {
    const rows = await this.look(
      row,
      `select customer_id, read_at, failed, doubts from psd2.read_results
       where profile = $1 and json_array_length(failed) > 0`,
    );
    return rows.flatMap((each) => failedSince(each.customer_id, readsOf(each), since));
  }

  async outdated(before: Date): Promise<OutdatedCustomer[]> {
    const rows = await this.look(
      row,
      `select customer_id, read_at, failed, doubts from psd2.read_results
       where profile = $1 and read_at < $2::timestamptz
       union all
       select customer_id, read_at, failed, doubts from psd2.read_results
       where profile = $1 and json_array_length(failed) > 0 and (read_at is null or read_at >= $2::timestamptz)`,
      [before],
    );
    return rows.flatMap((each) => outdatedBefore(each.customer_id, readsOf(each), before) ?? []);
  }

  async doubts(): Promise<(Doubt & { customerId: string })[]> {
    const rows = await this.look(
      row,
      `select customer_id, read_at, failed, doubts from psd2.read_results
       where profile = $1 and json_array_length(doubts) > 0`,
    );
    return rows.flatMap((each) => each.doubts.map((doubt) => ({ customerId: each.customer_id, ...doubt })));
  }

  /** All that is kept, for `store copy`. */
  async *records(): AsyncGenerator<ReadsRecord> {
    for (let after = ''; ; ) {
      const page = await this.look(
        row,
        `select customer_id, read_at, failed, doubts from psd2.read_results
         where profile = $1 and customer_id collate "C" > $2 collate "C" order by customer_id collate "C" limit ${PAGE}`,
        [after],
      );
      yield* page.map(readsRecordOf);
      after = page.at(-1)?.customer_id ?? '';
      if (page.length < PAGE) return;
    }
  }

  /** What is kept of a customer, for `store copy`. */
  async record(customerId: string): Promise<ReadsRecord | undefined> {
    const stored = await this.lookOne(
      row,
      'select customer_id, read_at, failed, doubts from psd2.read_results where profile = $1 and customer_id = $2',
      [customerId],
    );
    return stored && readsRecordOf(stored);
  }

  /** Stores a copied record. */
  async keep({ customerId, reads }: ReadsRecord): Promise<void> {
    await this.executeAgain(
      `insert into psd2.read_results (profile, customer_id, read_at, failed, doubts)
       values ($1, $2, $3::timestamptz, $4::json, $5::json)
       on conflict (profile, customer_id) do update set read_at = excluded.read_at, failed = excluded.failed,
           doubts = excluded.doubts`,
      [customerId, reads.readAt, JSON.stringify(reads.failed), JSON.stringify(reads.doubts)],
    );
  }

  async forget(customerId: string): Promise<void> {
    await this.executeAgain('delete from psd2.read_results where profile = $1 and customer_id = $2', [
      customerId,
    ]);
  }
}

function readsRecordOf(stored: z.infer<typeof row>): ReadsRecord {
  return { kind: 'reads', customerId: stored.customer_id, reads: readsOf(stored) };
}

function readsOf({ read_at, failed, doubts }: z.infer<typeof row>): CustomerReads {
  return { readAt: read_at?.toISOString() ?? null, failed, doubts };
}
