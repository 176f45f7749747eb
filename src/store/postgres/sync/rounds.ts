import * as z from 'zod/mini';
import { ListedRound } from '../../listed-round.ts';
import type { CustomerEnd, Round, RoundShare, RoundStatus, Rounds } from '../../ports/sync.ts';
import { type Database, onlyRow, ProfileRows, type Statements } from '../database.ts';
import { isAway } from '../failure.ts';
import { OF_CUSTOMERS } from '../tokens.ts';
import { PostgresRound, releaseOfDeadWorkers } from './round.ts';

/** Workers continue an unfinished round until this long after it began. Then they begin a new one. */
const CONTINUED_FOR_MS = 12 * 3_600_000;
/** The period of the rates that `psd2 sync status` shows. */
const RECENT = `interval '5 minutes'`;

/** The customers with a consent at the profile's bank ($1, $2). */
const WITH_CONSENT = `select k.customer_id from psd2.customers k
  where k.profile = $1 and k.base_url = $2 and json_array_length(k.kept -> 'consents') > 0`;

const lastRound = z.object({
  round: z.number(),
  begun_at: z.string(),
  is_open: z.boolean(),
  age_ms: z.number(),
  has_workers: z.boolean(),
});
const begun = z.object({ round: z.number(), begun_at: z.string() });

/** The rounds of one profile, over rows that all workers share (store page, "Dealing out"). */
export class PostgresRounds extends ProfileRows implements Rounds {
  readonly #baseUrl: string | null;

  /** @param bank the profile's current base URL */
  constructor(database: Database, profile: string, bank: URL | undefined) {
    super(database, profile);
    this.#baseUrl = bank?.href ?? null;
  }

  over(customers: readonly string[]): Round {
    return new ListedRound(customers);
  }

  async join(every?: number): Promise<Round | { dueIn: number }> {
    // A sync may run for months.
    await this.database.checkedAgain();
    // If the answer is lost and the round was begun, the next try finds it open.
    const joined = await this.database.transactionAgain((statements) => this.#joinOrBegin(statements, every));
    return 'dueIn' in joined ? joined : this.rejoin(joined);
  }

  rejoin(share: RoundShare): Round {
    if ('customers' in share) return new ListedRound(share.customers, share.taken);
    return new PostgresRound(this.database, this.profile, share);
  }

  status(): Promise<RoundStatus | undefined> {
    return statusOf(this.database, this.profile);
  }

  isAway(error: unknown): boolean {
    return isAway(error);
  }

  async #joinOrBegin(
    statements: Statements,
    every: number | undefined,
  ): Promise<Extract<RoundShare, { round: number }> | { dueIn: number }> {
    const profile = [this.profile];
    await statements.execute(`select pg_advisory_xact_lock(hashtext('psd2.rounds ' || $1))`, profile);
    const [last] = await statements.query(
      lastRound,
      `select round, begun_at::text, ended_at is null as is_open,
         extract(epoch from clock_timestamp() - begun_at)::float8 * 1000 as age_ms,
         exists (select from psd2.sync_workers where profile = $1 and until > clock_timestamp()) as has_workers
       from psd2.sync_rounds where profile = $1 order by round desc limit 1`,
      profile,
    );
    const isContinued = last?.is_open && (last.has_workers || last.age_ms < CONTINUED_FOR_MS);
    if (!isContinued && every !== undefined && last && last.age_ms < every)
      return { dueIn: every - last.age_ms };
    const { round, begun_at } = last && isContinued ? last : await this.#begin(statements);
    const all = await statements.query(
      z.object({ size: z.number() }),
      'select count(*)::int as size from psd2.sync_customers where profile = $1',
      profile,
    );
    return { round, begunAt: begun_at, size: onlyRow(all).size };
  }

  /** Begins a round in which all customers with a login or a consent are due. Writes only the rows that changed since the last round. */
  async #begin(statements: Statements): Promise<z.infer<typeof begun>> {
    const profile = [this.profile];
    await statements.takeTime();
    await releaseOfDeadWorkers(statements.query, this.profile);
    for (const sql of [
      `delete from psd2.sync_customers c where profile = $1 and not exists (
         select from psd2.tokens t where t.profile = $1 and t.holder = c.customer_id and t.secrets is not null)
         and not exists (${WITH_CONSENT} and k.customer_id = c.customer_id)`,
      `insert into psd2.sync_customers (profile, customer_id)
       select $1, customer_id from (
         select holder as customer_id from psd2.tokens where profile = $1 and ${OF_CUSTOMERS} and secrets is not null
         union ${WITH_CONSENT}) known
       where not exists (select from psd2.sync_customers c where c.profile = $1 and c.customer_id = known.customer_id)
       on conflict do nothing`,
    ])
      await statements.execute(sql, [this.profile, this.#baseUrl]);
    for (const sql of [
      `update psd2.sync_rounds set ended_at = clock_timestamp() where profile = $1 and ended_at is null`,
      `delete from psd2.sync_minutes where profile = $1 and minute < clock_timestamp() - interval '1 day'`,
      `delete from psd2.sync_workers where profile = $1 and until < clock_timestamp() - interval '1 day'`,
    ])
      await statements.execute(sql, profile);
    const rows = await statements.query(
      begun,
      `insert into psd2.sync_rounds (profile, round, begun_at)
       select $1, coalesce(max(round), 0) + 1, clock_timestamp() from psd2.sync_rounds where profile = $1
       returning round, begun_at::text`,
      profile,
    );
    return onlyRow(rows);
  }
}

const roundRow = z.object({
  round: z.number(),
  begun: z.date(),
  ended: z.nullable(z.date()),
  begun_at: z.string(),
});
const counts = z.object({
  due: z.number(),
  at_work: z.number(),
  synced: z.number(),
  partly: z.number(),
  waiting: z.number(),
  failed: z.number(),
});
const failure = z.object({
  code: z.string(),
  customers: z.number(),
  customer_id: z.string(),
  message: z.string(),
});
const atWork = z.object({ worker: z.string(), customers: z.number() });
const rates = z.object({ calls: z.nullable(z.number()), customers: z.nullable(z.number()) });
const NO_RATES: z.infer<typeof rates> = { calls: null, customers: null };

async function statusOf(database: Database, profile: string): Promise<RoundStatus | undefined> {
  const round = await database.lookOne(
    roundRow,
    `select round, begun_at as begun, ended_at as ended, begun_at::text from psd2.sync_rounds
     where profile = $1 order by round desc limit 1`,
    [profile],
  );
  if (!round) return undefined;
  const of = [profile, round.begun_at];
  const finished = (status: CustomerEnd['status']) =>
    `count(*) filter (where finished_at >= $2::timestamptz and status = '${status}')::int as ${status}`;
  const count = await database.look(
    counts,
    `select count(*) filter (where worker is null and finished_at < $2::timestamptz)::int as due,
       count(*) filter (where worker is not null)::int as at_work,
       ${finished('synced')}, ${finished('partly')}, ${finished('waiting')}, ${finished('failed')}
     from psd2.sync_customers where profile = $1`,
    of,
  );
  const failures = await database.look(
    failure,
    `select code, count(*)::int as customers, min(customer_id) as customer_id,
       coalesce((array_agg(message order by customer_id))[1], '') as message
     from psd2.sync_customers where profile = $1 and finished_at >= $2::timestamptz and code is not null
     group by code order by 2 desc, code collate "C"`,
    of,
  );
  const needSca = await database.look(
    z.object({ customer_id: z.string() }),
    `select customer_id from psd2.sync_customers
     where profile = $1 and finished_at >= $2::timestamptz and code = 'sca_required'
     order by customer_id collate "C" limit 100`,
    of,
  );
  const workers = await database.look(
    atWork,
    `select w.name as worker, count(c.customer_id)::int as customers from psd2.sync_workers w
     left join psd2.sync_customers c on c.profile = w.profile and c.worker = w.worker
     where w.profile = $1 and w.until > clock_timestamp() group by w.worker, w.name order by 1`,
    [profile],
  );
  const rate = round.ended ? NO_RATES : await ratesOf(database, of);
  const { due, at_work, ...done } = onlyRow(count);
  return {
    begunAt: round.begun.toISOString(),
    endedAt: round.ended?.toISOString() ?? null,
    due,
    atWork: at_work,
    done,
    failures: failures.map(({ customer_id: customerId, ...rest }) => ({ ...rest, customerId })),
    needSca: needSca.map(({ customer_id }) => customer_id),
    workers,
    callsPerSecond: rate.calls,
    customersPerSecond: rate.customers,
  };
}

/** Calls and customers a second, lately. @param of the profile, and when the round began */
async function ratesOf(database: Database, of: string[]): Promise<z.infer<typeof rates>> {
  const rows = await database.look(
    rates,
    `select calls / seconds as calls, customers / seconds as customers from (
       select sum(calls)::float8 as calls, sum(customers)::float8 as customers,
         greatest(1, extract(epoch from clock_timestamp() - greatest(min(minute), $2::timestamptz))::float8) as seconds
       from psd2.sync_minutes where profile = $1 and minute > clock_timestamp() - ${RECENT}) recent`,
    of,
  );
  return onlyRow(rows);
}
