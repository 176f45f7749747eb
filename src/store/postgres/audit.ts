import * as z from 'zod/mini';
import { parseAuditLine, withoutForgotten } from '../audit/chain.ts';
import type { Actor, Audit, AuditEntry, AuditHead, AuditLine } from '../ports/audit.ts';
import type { IsForgotten, Pseudonym } from '../ports/personal.ts';
import { type Database, ProfileRows } from './database.ts';

/** How many lines one statement reads. */
const PAGE = 1_000;

const lineRow = z.object({ n: z.coerce.number(), line: z.string() });
const PSEUDONYM = 'pseudonym, customer_id as "customerId", word';
const pseudonymRow = z.object({ pseudonym: z.string(), customerId: z.string(), word: z.string() });
const headRow = z.object({ n: z.coerce.number(), sha256: z.string() });

interface Worker {
  now: () => Date;
  actor: Actor;
  isForgotten?: IsForgotten;
}

/** The audit log of one profile in `psd2.audit`. The database adds what happens to flows itself, in the same transaction. */
export class PostgresAudit extends ProfileRows implements Audit {
  readonly #worker: Worker | undefined;

  /** @param worker who works. Only a copy needs none */
  constructor(database: Database, profile: string, worker?: Worker) {
    super(database, profile);
    this.#worker = worker;
  }

  async append(entry: AuditEntry): Promise<void> {
    if (!this.#worker) throw new TypeError('A copy appends nothing of its own');
    const { now, actor, isForgotten } = this.#worker;
    const storedEntry = withoutForgotten(entry, this.profile, isForgotten);
    const { action, customerId = null, flow = null, about = null, account } = storedEntry;
    // Of a lost answer, the line may be there twice. That says nothing wrong.
    await this.executeAgain(
      `with durable as materialized (select set_config('synchronous_commit', 'on', true))
       select psd2.audit_append($1, $2::timestamptz, $3, $4, $5, $6, $7, $8, $9, $10, $11) from durable`,
      [
        now(),
        action,
        actor.operator,
        actor.machine,
        actor.version,
        customerId,
        flow,
        about,
        account ?? null,
        actor.user,
      ],
    );
  }

  async *lines(): AsyncGenerator<AuditLine> {
    for (let after = 0; ; ) {
      const rows = await this.look(
        lineRow,
        `select n, line from psd2.audit where profile = $1 and n > $2::bigint order by n limit ${PAGE}`,
        [after],
      );
      for (const { n, line } of rows) yield { n, text: line };
      after = rows.at(-1)?.n ?? after;
      if (rows.length < PAGE) return;
    }
  }

  async head(): Promise<AuditHead | undefined> {
    return this.lookOne(headRow, 'select n, sha256 from psd2.audit_heads where profile = $1');
  }

  async beginning(): Promise<string | undefined> {
    const row = z.object({ sha256: z.string() });
    return (await this.lookOne(row, 'select sha256 from psd2.audit_beginnings where profile = $1'))?.sha256;
  }

  async mayLackCopied(): Promise<boolean> {
    const copied = 'select 1 from psd2.store where copied_from is not null';
    return (await this.database.lookOne(z.unknown(), copied)) !== undefined;
  }

  /** All pseudonyms. */
  async pseudonyms(): Promise<Pseudonym[]> {
    return this.look(pseudonymRow, `select ${PSEUDONYM} from psd2.pseudonyms where profile = $1`);
  }

  /** The pseudonym of a word, for `store copy`. */
  async pseudonym({ customerId, word }: Pseudonym): Promise<Pseudonym | undefined> {
    return this.lookOne(
      pseudonymRow,
      `select ${PSEUDONYM} from psd2.pseudonyms where profile = $1 and customer_id = $2 and word = $3`,
      [customerId, word],
    );
  }

  /** Adds a pseudonym of another backend, for `store copy`, with the rights of the owner. */
  async keepPseudonym({ pseudonym, customerId, word }: Pseudonym): Promise<void> {
    await this.executeAgain(
      `insert into psd2.pseudonyms (profile, customer_id, word, pseudonym) values ($1, $2, $3, $4)
       on conflict do nothing`,
      [customerId, word, pseudonym],
    );
  }

  /** The line with this number, for `store copy`. */
  async line(n: number): Promise<AuditLine | undefined> {
    const row = await this.lookOne(
      lineRow,
      'select n, line from psd2.audit where profile = $1 and n = $2::bigint',
      [n],
    );
    return row && { n: row.n, text: row.line };
  }

  /** Adds a line of another backend as it is, for `store copy`, with the rights of the owner. */
  async keep({ n, text }: AuditLine): Promise<void> {
    const at = parseAuditLine(text)?.at ?? null;
    await this.database.transactionAgain((statements) =>
      statements.execute(
        `select psd2.audit_keep($1, $2::bigint, coalesce($3::timestamptz, clock_timestamp()), $4)
         where not exists (select from psd2.audit where profile = $1 and n = $2::bigint)`,
        [this.profile, n, at, text],
      ),
    );
  }
}
