import * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import type {
  CollectedData,
  PersonalData,
  Pseudonym,
  Removed,
  StoredRows,
  SyncedFolder,
} from '../ports/personal.ts';
import { PostgresAudit } from './audit.ts';
import type { Claims } from './claims.ts';
import { type Database, onlyRow, ProfileRows } from './database.ts';
import { damagedAt } from './flows/journal.ts';

/** How long to wait for a worker that uses the customer's data. */
const PATIENCE_MS = 15_000;

const tableRow = z.object({ name: z.string(), customer: z.enum(['customer_id', 'holder']) });
const loginRow = z.object({
  baseUrl: z.string(),
  accessTokenExpiresAt: z.nullable(z.date()),
  refreshTokenExpiresAt: z.nullable(z.date()),
  scope: z.nullable(z.string()),
});
const eventRow = z.object({
  flow: z.string(),
  kind: z.string(),
  n: z.number(),
  at: z.date(),
  event: z.unknown(),
});

/** The tables with columns for profile and customer. */
const TABLES = `select c.relname as name, a.attname as customer from pg_class c join pg_attribute a on a.attrelid = c.oid
  where c.relnamespace = 'psd2'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    and a.attname in ('customer_id', 'holder') and not a.attisdropped and c.relname <> 'pseudonyms'
    and exists (select from pg_attribute p where p.attrelid = c.oid and p.attname = 'profile')
  order by c.relname`;
/** Tokens are secrets. A login shows what is known of them. */
const HIDDEN = 'tokens';

/** What the database keeps about a customer of one profile. Forgetting needs the rights of the owner. */
export class PostgresPersonalData extends ProfileRows implements PersonalData {
  readonly #claims: Claims;
  readonly #audit: PostgresAudit;

  constructor(database: Database, profile: string, claims: Claims) {
    super(database, profile);
    this.#claims = claims;
    this.#audit = new PostgresAudit(database, profile);
  }

  async collect(customerId: string): Promise<CollectedData> {
    const logins = await this.look(
      loginRow,
      `select base_url as "baseUrl", access_token_expires_at as "accessTokenExpiresAt",
         refresh_token_expires_at as "refreshTokenExpiresAt", scope
       from psd2.tokens where profile = $1 and holder = $2 and secrets is not null`,
      [customerId],
    );
    return {
      logins: logins.map(({ accessTokenExpiresAt, refreshTokenExpiresAt, ...login }) => ({
        ...login,
        accessTokenExpiresAt: accessTokenExpiresAt?.toISOString() ?? null,
        refreshTokenExpiresAt: refreshTokenExpiresAt?.toISOString() ?? null,
      })),
      flows: await this.#flowsOf(customerId),
      rows: await this.#rowsOf(customerId),
    };
  }

  async assertMayForget(): Promise<void> {
    const rights = z.object({ owner: z.boolean() });
    const { owner } = onlyRow(await this.database.look(rights, 'select psd2.is_owner() as owner'));
    if (owner) return;
    throw new Psd2Error(
      'config',
      `The user of PostgreSQL at ${this.database.shown} may not change journals, so psd2 cannot forget a customer`,
      {
        hint: 'Workers may only add to journals. Use the rights of the owner of the schema psd2, as for psd2 store init.',
      },
    );
  }

  async pseudonymOf(customerId: string, word: string): Promise<string> {
    const rows = await this.look(
      z.object({ pseudonym: z.string() }),
      `with durable as materialized (select set_config('synchronous_commit', 'on', true))
       select psd2.pseudonym_of($1, $2, $3) as pseudonym from durable`,
      [customerId, word],
    );
    return onlyRow(rows).pseudonym;
  }

  async pseudonyms(): Promise<Pseudonym[]> {
    return this.#audit.pseudonyms();
  }

  async rewriteFlow(flow: string, change: (event: unknown) => unknown): Promise<void> {
    await this.#claims.within('flow', flow, { what: flow, patienceMs: PATIENCE_MS }, () =>
      this.database.transactionAgain(async (statements) => {
        await statements.execute(`select set_config('synchronous_commit', 'on', true)`);
        const events = await statements.query(
          z.object({ n: z.number(), event: z.unknown() }),
          'select n, event from psd2.flow_events where profile = $1 and flow = $2 order by n for update',
          [this.profile, flow],
        );
        if (events.length === 0) throw damagedAt(flow, this.database, 1);
        for (const [before, { n, event }] of events.entries()) {
          this.#assertNext(flow, n, before);
          await statements.execute(
            'update psd2.flow_events set event = $4::json where profile = $1 and flow = $2 and n = $3::integer',
            [this.profile, flow, n, JSON.stringify(change(event))],
          );
        }
        await statements.execute('delete from psd2.steps where profile = $1 and flow = $2', [
          this.profile,
          flow,
        ]);
      }),
    );
  }

  async removeRows(customerId: string): Promise<Removed[]> {
    const wait = { patienceMs: PATIENCE_MS };
    const removed = await this.#claims.within(
      'tokens',
      customerId,
      { what: `The login of customer ${customerId}`, ...wait },
      () =>
        this.#claims.within('sync', customerId, { what: `The sync of customer ${customerId}`, ...wait }, () =>
          this.#remove(customerId),
        ),
    );
    await this.executeAgain(
      `delete from psd2.claims where profile = $1 and kind in ('tokens', 'sync') and name = $2
         and until <= clock_timestamp()`,
      [customerId],
    );
    return removed;
  }

  async forgetPseudonyms(customerId: string): Promise<void> {
    await this.executeAgain(
      `with durable as materialized (select set_config('synchronous_commit', 'on', true))
       delete from psd2.pseudonyms using durable where profile = $1 and customer_id = $2`,
      [customerId],
    );
  }

  syncedInto(out: string): SyncedFolder {
    const opened = import('../files/sync/customer-folder.ts').then(({ syncedInto }) => syncedInto(out));
    return {
      rows: async (customerId) => (await opened).rows(customerId),
      remove: async (customerId) => (await opened).remove(customerId),
    };
  }

  #remove(customerId: string): Promise<Removed[]> {
    return this.database.transactionAgain(async (statements) => {
      await statements.takeTime();
      await statements.execute(`select set_config('synchronous_commit', 'on', true)`);
      const removed: Removed[] = [];
      for (const { name, customer } of await statements.query(tableRow, TABLES)) {
        const rows = await statements.query(
          z.object({ count: z.number() }),
          `with gone as (delete from psd2.${name} where profile = $1 and ${customer} = $2 returning 1)
           select count(*)::int as count from gone`,
          [this.profile, customerId],
        );
        const { count } = onlyRow(rows);
        if (count > 0) removed.push({ name, count });
      }
      return removed;
    });
  }

  async #rowsOf(customerId: string): Promise<StoredRows[]> {
    const stored: StoredRows[] = [];
    for (const { name, customer } of await this.database.look(tableRow, TABLES)) {
      if (name === HIDDEN) continue;
      const rows = await this.look(
        z.object({ row: z.looseObject({}) }),
        // Amounts are exact, as text.
        `select to_jsonb(t) || case when to_jsonb(t) ? 'amount'
           then jsonb_build_object('amount', to_jsonb(t)->>'amount') else '{}' end as row
         from psd2.${name} t where profile = $1 and ${customer} = $2`,
        [customerId],
      );
      if (rows.length > 0)
        stored.push({ name, rows: rows.map(({ row: { profile: _profile, ...row } }) => row) });
    }
    return stored;
  }

  async #flowsOf(customerId: string): Promise<CollectedData['flows']> {
    const rows = await this.look(
      eventRow,
      `select e.flow, f.kind, e.n, e.at, e.event from psd2.flow_events e
       join psd2.flows f on (f.profile, f.flow) = (e.profile, e.flow)
       where e.profile = $1 and e.flow in (
         select flow from psd2.flow_events where profile = $1 and n = 1
           and coalesce(event #>> '{order,customerId}', event->>'customerId') in ($2, (
             select pseudonym from psd2.pseudonyms where profile = $1 and customer_id = $2 and word = $2)))
       order by e.flow collate "C", e.n`,
      [customerId],
    );
    const flows = new Map<string, CollectedData['flows'][number]>();
    for (const { flow, kind, n, at, event } of rows) {
      const journal = flows.get(flow) ?? { flow, kind, events: [] };
      this.#assertNext(flow, n, journal.events.length);
      journal.events.push({ at: at.toISOString(), event });
      flows.set(flow, journal);
    }
    return [...flows.values()];
  }

  /** @throws Psd2Error `config` if the event is not the next one: others are missing */
  #assertNext(flow: string, n: number, before: number): void {
    if (n !== before + 1) throw damagedAt(flow, this.database, before + 1);
  }
}
