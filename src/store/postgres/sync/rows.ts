import * as z from 'zod/mini';
import { dayOfRow } from '../../../domain/booked-ids.ts';
import { EARLIEST_DAY, type IsoDate, isIsoDate } from '../../../domain/calendar.ts';
import { isDecimal } from '../../../domain/decimal.ts';
import { isoDate } from '../../../domain/events.ts';
import type { StoredAccount } from '../../../domain/same-accounts.ts';
import { Psd2Error } from '../../../errors.ts';
import { KnownRows, type StoredRows } from '../../known-rows.ts';
import { accountName, byIdsOfToday, type NamedProgress, type StoredTarget } from '../../placed-accounts.ts';
import type {
  BookedRows,
  Contradiction,
  Progress,
  RowMark,
  Sync,
  SyncedRow,
  SyncRun,
} from '../../ports/sync.ts';
import { contradiction, FIELDS_OF_STORED_ROW, storedRow } from '../../synced-rows.ts';
import type { Claim, Claims } from '../claims.ts';
import { type Database, onlyRow, ProfileRows, type Statements } from '../database.ts';
import {
  asFields,
  BOOKED_COLUMNS,
  type Column,
  columnOf,
  MARK_COLUMNS,
  namesOf,
  PENDING_COLUMNS,
  typed,
} from '../transaction-columns.ts';

/** How long to wait for another run that works on the customer. */
const CUSTOMER_PATIENCE_MS = 15_000;
export const UNDATED = '0001-01-01';

const OF_PRODUCT = 'profile = $1 and customer_id = $2 and product_id = $3';

/** As `dayOfRow`. */
export const DAY_OF_ROW = `coalesce(case when booking_date >= '${EARLIEST_DAY}' then booking_date end, value_date)`;

const progressRow = z.object({
  product_id: z.string(),
  read_from: isoDate,
  read_through: isoDate,
  newest: z.nullable(z.string()),
  balance: z.nullable(z.string()),
  balance_currency: z.nullable(z.string()),
  balance_difference: z.nullable(z.string()),
  contradictions: z.nullable(z.string()),
  account: z.nullable(z.string()),
});
const count = z.object({ count: z.number() });

/** What `find` reads of a row. */
const FIELDS_OF_FIND = new Set(['status', ...FIELDS_OF_STORED_ROW]);
const FOUND = asFields([...BOOKED_COLUMNS, ...MARK_COLUMNS].filter(({ field }) => FIELDS_OF_FIND.has(field)));
const ACCOUNT_COLUMNS = [
  ...['productId', 'iban', 'currency', 'name', 'productCode', 'productDescription'].map((field) =>
    columnOf(field, 'text'),
  ),
  columnOf('card', 'boolean'),
  ...['bban', 'maskedPan', 'status', 'bankId'].map((field) => columnOf(field, 'text')),
];
const BALANCE_KINDS = ['accountBalance', 'availableBalance', 'accountAvailability', 'accountAvailableCredit'];
const money = z.nullish(z.object({ amount: z.string(), currency: z.string() }));
const balanceRow = z.looseObject({
  productId: z.string(),
  asOf: z.nullish(z.string()),
  creditLimitIncluded: z.nullish(z.record(z.string(), z.boolean())),
  reason: z.nullish(z.string()),
});

/** Stores what `psd2 sync` reads in the database. It writes rows and progress of a customer in one transaction. */
export class PostgresSync extends ProfileRows implements Sync {
  readonly #claims: Claims;
  /** Booking months that have a partition. */
  readonly #months = new Set<string>();

  constructor(database: Database, profile: string, claims: Claims) {
    super(database, profile);
    this.#claims = claims;
  }

  run<T>(signal: AbortSignal, work: (run: SyncRun) => Promise<T>): Promise<T> {
    return work({
      customer: (customerId, ofCustomer) => {
        const what = `The sync of customer ${customerId}`;
        return this.#claims.within(
          'sync',
          customerId,
          { what, patienceMs: CUSTOMER_PATIENCE_MS, signal },
          async (claim) => {
            const target = new CustomerTarget(this.database, this.profile, customerId, claim, this.#months);
            await target.load();
            try {
              return await ofCustomer(byIdsOfToday(target));
            } finally {
              await target.commit();
            }
          },
        );
      },
    });
  }
}

/** The synced data of one customer. It collects changes until {@link commit}. */
class CustomerTarget extends ProfileRows implements StoredTarget {
  readonly #address: readonly [profile: string, customerId: string];
  readonly #claim: Claim;
  readonly #months: Set<string>;
  readonly #known = new Map<string, NamedProgress>();
  readonly #remembered = new Map<string, NamedProgress>();
  readonly #replaced = new Map<string, readonly object[]>();
  readonly #appended = new Map<string, SyncedRow[]>();
  readonly #marked: { product: string; mark: RowMark; ids: string[] }[] = [];

  constructor(database: Database, profile: string, customerId: string, claim: Claim, months: Set<string>) {
    super(database, profile);
    this.#address = [profile, customerId];
    this.#claim = claim;
    this.#months = months;
  }

  async load(): Promise<void> {
    const rows = await this.database.look(
      progressRow,
      `select product_id, read_from::text, read_through::text, newest, balance::text, balance_currency,
         balance_difference::text, contradictions::text, account::text
       from psd2.sync_progress
       where profile = $1 and customer_id = $2`,
      this.#address,
    );
    for (const { product_id, read_from, read_through, newest, contradictions, account, ...row } of rows)
      this.#known.set(product_id, {
        from: read_from,
        through: read_through,
        ...(newest !== null && { newest }),
        ...balanceIn(row),
        ...(contradictions !== null && { contradictions: contradictionsIn(contradictions) }),
        ...(account !== null && { account: accountName.parse(JSON.parse(account)) }),
      });
  }

  async stored(): Promise<StoredAccount[]> {
    return [...this.#known].map(([productId, { account }]) => ({ bankId: productId, ...account, productId }));
  }

  async progress(productId: string): Promise<NamedProgress | undefined> {
    return this.#remembered.get(productId) ?? this.#known.get(productId);
  }

  async booked(productId: string): Promise<BookedRows> {
    return new KnownRows(this.#stored(productId));
  }

  #stored(productId: string): StoredRows {
    const appended = () => this.#appended.get(productId) ?? [];
    return {
      find: async (days, from) => [
        ...(await this.#find(productId, days, from)),
        ...appended().filter((row) => {
          const day = dayOfRow(row) ?? '';
          return days.has(day) || (from !== undefined && day >= from);
        }),
      ],
      add: async (rows) => void this.#appended.set(productId, [...appended(), ...rows]),
      mark: async (rows, mark) =>
        void this.#marked.push({ product: productId, mark, ids: rows.map(({ id }) => id) }),
      recall: async () => {},
      lastDay: async (latest) => {
        const stored = await this.database.look(
          z.object({ day: z.nullable(isoDate) }),
          // The largest DAY_OF_ROW, in two parts because the index has the booking day.
          `select greatest(
             (select max(booking_date) from psd2.transactions where ${OF_PRODUCT}
                and booking_date between '${EARLIEST_DAY}' and $4::date),
             (select max(value_date) from psd2.transactions where ${OF_PRODUCT}
                and (booking_date is null or booking_date < '${EARLIEST_DAY}') and value_date <= $4::date)
           )::text as day`,
          [...this.#address, productId, latest],
        );
        const days = appended().flatMap((row) => {
          const day = dayOfRow(row);
          return day !== null && day <= latest ? [day] : [];
        });
        const last = [...days, onlyRow(stored).day ?? ''].reduce((a, b) => (a > b ? a : b), '');
        return isIsoDate(last) ? last : undefined;
      },
    };
  }

  replace(name: string, rows: readonly object[]): void {
    this.#replaced.set(name, rows);
  }

  remember(productId: string, progress: NamedProgress): void {
    this.#remembered.set(productId, progress);
  }

  async commit(): Promise<void> {
    if (this.#appended.size + this.#replaced.size + this.#remembered.size + this.#marked.length === 0) return;
    await this.#makeMonths();
    await this.database.transactionAgain((statements) => this.#write(statements));
    this.#appended.clear();
    this.#marked.length = 0;
    this.#replaced.clear();
    for (const [product, progress] of this.#remembered) this.#known.set(product, progress);
    this.#remembered.clear();
  }

  async #find(productId: string, days: ReadonlySet<string>, from?: IsoDate): Promise<SyncedRow[]> {
    const dated = [...days].filter((day) => day !== '');
    // Rows without a booking day were once stored as undated.
    const months = new Set([UNDATED, ...[...days].map((day) => monthOf(day))]);
    return this.database.look(
      storedRow,
      `select ${FOUND} from psd2.transactions t where ${OF_PRODUCT}
         and (month = any ($4::date[]) and (${DAY_OF_ROW} = any ($5::date[])
             or $7 and ${DAY_OF_ROW} is null)
           or (month >= date_trunc('month', $6::date) or month = '${UNDATED}') and ${DAY_OF_ROW} >= $6::date)`,
      [...this.#address, productId, [...months], dated, from ?? null, days.has('')],
    );
  }

  async #makeMonths(): Promise<void> {
    const wanted = new Set([...this.#appended.values()].flat().map((row) => monthOf(dayOfRow(row) ?? '')));
    for (const month of wanted) {
      if (month === UNDATED || this.#months.has(month)) continue;
      await this.database.executeAgain('select psd2.make_month($1::date)', [month]);
      this.#months.add(month);
    }
  }

  async #write(statements: Statements): Promise<void> {
    const [profile, customerId] = this.#address;
    const mine = await statements.query(
      count,
      `select count(*)::int from (select from psd2.claims
       where profile = $1 and kind = 'sync' and name = $2 and number = $3 for share) mine`,
      [profile, customerId, this.#claim.number],
    );
    if (onlyRow(mine).count !== 1)
      throw new Psd2Error('overtaken', `Another psd2 sync has taken over customer ${customerId}`, {
        hint: 'This sync leaves the customer to that one. Nothing is lost.',
      });
    for (const [product, rows] of this.#appended) await this.#insertBooked(statements, product, rows);
    for (const { product, mark, ids } of this.#marked)
      await statements.execute(
        `update psd2.transactions set ${mark} = true, status = 'hidden'
         where profile = $1 and customer_id = $2 and product_id = $3 and id = any ($4)`,
        [profile, customerId, product, ids],
      );
    for (const [name, rows] of this.#replaced) await this.#replaceRows(statements, name, rows);
    for (const [product, progress] of this.#remembered) {
      const { from, through, newest = null, balance, difference, contradictions = [], account } = progress;
      await statements.execute(
        `insert into psd2.sync_progress as p (profile, customer_id, product_id, read_from, read_through, newest,
           balance, balance_currency, balance_difference, contradictions, account)
           values ($1, $2, $3, $4, $5, $6, $7::numeric, $8, $9::numeric, $10::json, $11::json)
           on conflict (profile, customer_id, product_id) do update set
           read_from = excluded.read_from, read_through = excluded.read_through, newest = excluded.newest, balance = excluded.balance, balance_currency = excluded.balance_currency,
           balance_difference = excluded.balance_difference, contradictions = excluded.contradictions, account = excluded.account, synced_at = excluded.synced_at`,
        [
          profile,
          customerId,
          product,
          from,
          through,
          newest,
          balance?.amount ?? null,
          balance?.currency ?? null,
          difference ?? null,
          contradictions.length > 0 ? JSON.stringify(contradictions) : null,
          account ? JSON.stringify(account) : null,
        ],
      );
    }
  }

  async #insertBooked(statements: Statements, product: string, rows: readonly SyncedRow[]): Promise<void> {
    if (rows.length === 0) return;
    await statements.execute(
      `insert into psd2.transactions (profile, customer_id, product_id, month, ${namesOf(BOOKED_COLUMNS)})
       select $1, $2, $3, coalesce(date_trunc('month', ${DAY_OF_ROW})::date, '${UNDATED}'), ${namesOf(BOOKED_COLUMNS)}
       from json_to_recordset($4::json) as r (${typed(BOOKED_COLUMNS)})
       on conflict do nothing`,
      [...this.#address, product, asColumns(rows, BOOKED_COLUMNS)],
    );
  }

  async #replaceRows(statements: Statements, name: string, rows: readonly object[]): Promise<void> {
    if (name === 'accounts') {
      await statements.execute(
        'delete from psd2.accounts where profile = $1 and customer_id = $2',
        this.#address,
      );
      await statements.execute(
        `insert into psd2.accounts (profile, customer_id, ${namesOf(ACCOUNT_COLUMNS)}) select $1, $2, ${namesOf(ACCOUNT_COLUMNS)}
         from json_to_recordset($3::json) as r (${typed(ACCOUNT_COLUMNS)})`,
        [...this.#address, asColumns(rows, ACCOUNT_COLUMNS)],
      );
    } else if (name.startsWith('balances')) {
      await this.#replaceBalances(statements, name.slice('balances/'.length) || null, rows);
    } else await this.#replacePending(statements, name.slice('pending/'.length), rows);
  }

  /** @param product the only product to replace; null for all products of the customer */
  async #replaceBalances(
    statements: Statements,
    product: string | null,
    rows: readonly object[],
  ): Promise<void> {
    const balances = rows.flatMap((row): object[] => {
      const { productId, asOf, reason, creditLimitIncluded, ...amounts } = balanceRow.parse({
        ...(product !== null && { productId: product }),
        ...row,
      });
      if (reason) return [{ product_id: productId, kind: 'account_balance', reason }];
      return BALANCE_KINDS.flatMap((kind) => {
        const balance = money.parse(amounts[kind]);
        return balance
          ? [
              {
                product_id: productId,
                kind: snakeCase(kind),
                as_of: asOf ?? null,
                ...balance,
                credit_limit_included: creditLimitIncluded?.[kind] ?? null,
              },
            ]
          : [];
      });
    });
    await statements.execute(
      `delete from psd2.balances where profile = $1 and customer_id = $2 and ($3::text is null or product_id = $3)`,
      [...this.#address, product],
    );
    await statements.execute(
      `insert into psd2.balances (profile, customer_id, product_id, kind, amount, currency, as_of, credit_limit_included, reason)
       select $1, $2, product_id, kind, amount, currency, as_of, credit_limit_included, reason from json_to_recordset($3::json)
       as r (product_id text, kind text, amount numeric, currency text, as_of text, credit_limit_included boolean, reason text)`,
      [...this.#address, JSON.stringify(balances)],
    );
  }

  async #replacePending(statements: Statements, product: string, rows: readonly object[]): Promise<void> {
    await statements.execute(
      'delete from psd2.pending_transactions where profile = $1 and customer_id = $2 and product_id = $3',
      [...this.#address, product],
    );
    await statements.execute(
      `insert into psd2.pending_transactions (profile, customer_id, product_id, n, ${namesOf(PENDING_COLUMNS)})
       select $1, $2, $3, row_number() over (), ${namesOf(PENDING_COLUMNS)}
       from json_to_recordset($4::json) as r (${typed(PENDING_COLUMNS)})`,
      [...this.#address, product, asColumns(rows, PENDING_COLUMNS)],
    );
  }
}

/** What `psd2.sync_progress` says of the bank's own statements. */
export function contradictionsIn(json: string | null): readonly Contradiction[] {
  return json === null ? [] : z.array(contradiction).parse(JSON.parse(json));
}

/** The balance in a row of `psd2.sync_progress`. */
export function balanceIn({
  balance,
  balance_currency: currency,
  balance_difference: difference = null,
}: Pick<z.infer<typeof progressRow>, 'balance' | 'balance_currency'> & {
  balance_difference?: string | null;
}): Pick<Progress, 'balance' | 'difference'> {
  if (balance === null || currency === null || !isDecimal(balance)) return {};
  return {
    balance: { amount: balance, currency },
    ...(difference !== null && isDecimal(difference) && { difference }),
  };
}

/** The first day of the month of a day; `''` is none. */
function monthOf(day: string): string {
  return day === '' ? UNDATED : `${day.slice(0, 7)}-01`;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Rows as JSON with column names. Amounts stay strings, which the database reads as `numeric`. */
function asColumns(rows: readonly object[], columns: readonly Column[]): string {
  const named = new Map(columns.map(({ field, name }) => [field, name]));
  return JSON.stringify(
    rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).flatMap(([field, value]) => {
          const name = named.get(field);
          return name === undefined ? [] : [[name, value]];
        }),
      ),
    ),
  );
}
