import * as z from 'zod/mini';
import type { IsoDate } from '../../../domain/calendar.ts';
import type { CreditLimits } from '../../../domain/credit-limits.ts';
import { isoDate } from '../../../domain/events.ts';
import type {
  SyncedAccount,
  SyncedBalance,
  SyncedBookings,
  SyncedData,
  SyncedDays,
} from '../../ports/synced.ts';
import { newestFirst, syncedAccount, syncedBalance, syncedBooking } from '../../synced-rows.ts';
import { ProfileRows } from '../database.ts';
import { asFields, BOOKED_COLUMNS } from '../transaction-columns.ts';
import { balanceIn, contradictionsIn, DAY_OF_ROW, UNDATED } from './rows.ts';

const balanceRow = z.object({
  kind: z.string(),
  amount: z.nullable(z.string()),
  currency: z.nullable(z.string()),
  as_of: z.nullable(z.string()),
  credit_limit_included: z.nullable(z.boolean()),
  reason: z.nullable(z.string()),
});

const DAYS = { from: isoDate, through: isoDate };
const progressAndRow = z.looseObject({
  ...DAYS,
  balance: z.nullable(z.string()),
  balance_currency: z.nullable(z.string()),
  balance_difference: z.nullable(z.string()),
  contradictions: z.nullable(z.string()),
  id: z.nullable(z.string()),
});

/** Reads what syncs have stored in the tables of `docs/store.md`. */
export class PostgresSynced extends ProfileRows implements SyncedData {
  async customers(): Promise<string[]> {
    const rows = await this.look(
      z.object({ customer_id: z.string() }),
      'select distinct customer_id collate "C" as customer_id from psd2.accounts where profile = $1 order by 1',
    );
    return rows.map(({ customer_id }) => customer_id);
  }

  async accounts(customerId: string): Promise<SyncedAccount[]> {
    return this.look(
      syncedAccount,
      `select product_id as "productId", iban, currency, name, product_code as "productCode",
         product_description as "productDescription", card, bban, masked_pan as "maskedPan", status, bank_id as "bankId"
       from psd2.accounts where profile = $1 and customer_id = $2 order by product_id`,
      [customerId],
    );
  }

  async balance(customerId: string, productId: string): Promise<SyncedBalance | undefined> {
    const rows = await this.look(
      balanceRow,
      `select kind, amount::text, currency, as_of, credit_limit_included, reason from psd2.balances
       where profile = $1 and customer_id = $2 and product_id = $3`,
      [customerId, productId],
    );
    const [first] = rows;
    if (!first) return undefined;
    const balances = new Map(
      rows.map(({ kind, amount, currency }) => [kind, amount === null ? null : { amount, currency }]),
    );
    return z.parse(syncedBalance, {
      productId,
      accountBalance: balances.get('account_balance'),
      availableBalance: balances.get('available_balance'),
      accountAvailability: balances.get('account_availability'),
      accountAvailableCredit: balances.get('account_available_credit'),
      asOf: first.as_of,
      creditLimitIncluded: limitsIn(rows),
      reason: first.reason,
    });
  }

  async days(customerId: string, productId: string): Promise<SyncedDays | undefined> {
    return this.lookOne(
      z.object(DAYS),
      `select read_from::text as "from", read_through::text as through from psd2.sync_progress
       where profile = $1 and customer_id = $2 and product_id = $3`,
      [customerId, productId],
    );
  }

  async booked(customerId: string, productId: string, from: IsoDate): Promise<SyncedBookings | undefined> {
    // One statement, so that no sync comes in between. Rows that were stored later than the progress do not count yet.
    const rows = await this.look(
      progressAndRow,
      `select p.read_from::text as "from", p.read_through::text as through, p.balance::text, p.balance_currency,
         p.balance_difference::text, p.contradictions::text as contradictions,
         ${asFields(BOOKED_COLUMNS)}
       from psd2.sync_progress p left join psd2.transactions t
         on t.profile = p.profile and t.customer_id = p.customer_id and t.product_id = p.product_id
         and (t.month >= date_trunc('month', $4::date) or t.month = '${UNDATED}') and coalesce(${DAY_OF_ROW}, $4::date) >= $4::date
         and t.synced_at <= p.synced_at and t.cancelled is not true and t.replaced is not true
       where p.profile = $1 and p.customer_id = $2 and p.product_id = $3
       order by ${DAY_OF_ROW} nulls first, t.synced_at, t.id`,
      [customerId, productId, from],
    );
    const [progress] = rows;
    if (!progress) return undefined;
    const { balance = null, difference = null } = balanceIn(progress);
    return {
      from: progress.from,
      through: progress.through,
      balance,
      difference,
      contradictions: contradictionsIn(progress.contradictions),
      rows: newestFirst(
        rows.flatMap(({ id, ...row }) => (id === null ? [] : z.parse(syncedBooking, { id, ...row }))),
      ),
    };
  }
}

/** Whether a credit line is in the balances, as far as their rows say it. */
function limitsIn(rows: readonly z.infer<typeof balanceRow>[]): CreditLimits | undefined {
  const limitOf = (kind: string) => rows.find((row) => row.kind === kind)?.credit_limit_included ?? undefined;
  const [accountBalance, availableBalance] = ['account_balance', 'available_balance'].map(limitOf);
  if (accountBalance === undefined && availableBalance === undefined) return undefined;
  return {
    ...(accountBalance !== undefined && { accountBalance }),
    ...(availableBalance !== undefined && { availableBalance }),
  };
}
