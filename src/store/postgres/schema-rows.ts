import { BOOKED_COLUMNS, declared, MARK_COLUMNS, PENDING_COLUMNS } from './transaction-columns.ts';

/** The ids of customers that a column may have. */
export function idOf(column: string): string {
  return `${column} collate "C" ~ '^(?!\\.{1,2}$)[A-Za-z0-9._-]{1,64}$'`;
}
export const CUSTOMER = idOf('customer_id');
const ACCOUNT = `${CUSTOMER} and product_id collate "C" ~ '^[!-~]{1,70}$'`;

/** What syncs read of customers and accounts, and whose turn it is. */
export const ROWS = `
create table psd2.accounts (
  profile text not null,
  customer_id text not null,
  product_id text not null,
  iban text,
  currency text not null,
  name text,
  product_code text,
  product_description text,
  card boolean,
  bban text,
  masked_pan text,
  status text,
  -- The bank's id of the last sync, if the account is stored under another one.
  bank_id text,
  synced_at timestamptz not null default transaction_timestamp(),
  primary key (profile, customer_id, product_id),
  constraint ids check (${ACCOUNT})
);

create table psd2.balances (
  profile text not null,
  customer_id text not null,
  product_id text not null,
  kind text not null,
  -- A booked balance that could not be read has a reason instead.
  amount numeric,
  currency text,
  reason text,
  as_of text,
  -- Whether it has a credit line in it. Null: the bank does not say.
  credit_limit_included boolean,
  synced_at timestamptz not null default transaction_timestamp(),
  primary key (profile, customer_id, product_id, kind),
  constraint ids check (${ACCOUNT})
);

-- month: the first day of the month of booking, or of the value day if the bank gave no other; '0001-01-01' if it gave neither.
create table psd2.transactions (
  profile text not null,
  customer_id text not null,
  product_id text not null,
  month date not null,
  -- Facts that only banks with the standard's say are null at others. future: the row was stored before its day. cancelled: it
  -- vanished before that. replaced: the bank hid it when it showed another one for it. Null: no.
  ${declared([...BOOKED_COLUMNS, ...MARK_COLUMNS])},
  synced_at timestamptz not null default transaction_timestamp(),
  primary key (profile, customer_id, product_id, month, id),
  constraint ids check (${ACCOUNT})
) partition by range (month);
create index transactions_booking_date on psd2.transactions (profile, customer_id, product_id, booking_date);
create table psd2.transactions_undated partition of psd2.transactions for values from ('0001-01-01') to ('0001-01-02');

-- Workers have no right to create tables. This function has the rights of the owner, and creates the partition of a
-- month.
create function psd2.make_month(first_day date) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  partition text := 'transactions_' || to_char(first_day, 'YYYY_MM');
begin
  if first_day <> date_trunc('month', first_day)::date or first_day not between '1900-01-01' and '2199-12-01' then
    raise exception 'no month of booking: %', first_day;
  end if;
  if to_regclass('psd2.' || partition) is null then
    perform pg_advisory_xact_lock(hashtext('psd2.make_month'));
    execute format('create table if not exists psd2.%I partition of psd2.transactions for values from (%L) to (%L)',
      partition, first_day, (first_day + interval '1 month')::date);
  end if;
end $$;
revoke execute on function psd2.make_month(date) from public;

create table psd2.pending_transactions (
  profile text not null,
  customer_id text not null,
  product_id text not null,
  n integer not null,
  ${declared(PENDING_COLUMNS)},
  synced_at timestamptz not null default transaction_timestamp(),
  primary key (profile, customer_id, product_id, n),
  constraint ids check (${ACCOUNT})
);

create table psd2.sync_progress (
  profile text not null,
  customer_id text not null,
  product_id text not null,
  read_from date not null,
  read_through date not null,
  synced_at timestamptz not null default transaction_timestamp(),
  -- The bank's reference of the newest row, at a bank that gives what comes after it.
  newest text,
  -- The booked balance that the rows up to synced_at lead to.
  balance numeric,
  balance_currency text,
  -- What the bank's balance has beyond that of the rows. Null: nothing, or it is not known.
  balance_difference numeric,
  -- What the bank's own statements say that their rows do not: a JSON array of sentences with their days. Null: nothing.
  contradictions json,
  -- How the bank has named the account, so that it is found again under another id.
  account json,
  primary key (profile, customer_id, product_id),
  constraint ids check (${ACCOUNT})
);

-- When a sync last read a customer, what it could not read, and what it could not know. failed, doubts: JSON arrays.
create table psd2.read_results (
  profile text not null,
  customer_id text not null,
  read_at timestamptz,
  failed json not null,
  doubts json not null default '[]',
  primary key (profile, customer_id)
);
create index read_results_doubts on psd2.read_results (profile) where json_array_length(doubts) > 0;
create index read_results_failed on psd2.read_results (profile) where json_array_length(failed) > 0;
create index read_results_read_at on psd2.read_results (profile, read_at);

-- The rounds of psd2 sync --all-customers.
create table psd2.sync_rounds (
  profile text not null,
  round integer not null,
  begun_at timestamptz not null,
  ended_at timestamptz,
  primary key (profile, round)
);

-- Who takes part. A worker that does not extend its time gives back its customers.
create table psd2.sync_workers (
  profile text not null,
  worker text not null,
  name text not null,
  until timestamptz not null,
  primary key (profile, worker)
);
create trigger sync_workers_here before insert on psd2.sync_workers for each statement execute function psd2.refuse_moved();

-- Whose turn it is. A customer who was finished before the round began is due. The number grows with each deal.
create table psd2.sync_customers (
  profile text not null,
  customer_id text not null,
  finished_at timestamptz not null default '-infinity',
  worker text,
  number bigint not null default 0,
  status text,
  code text,
  message text,
  primary key (profile, customer_id),
  constraint ids check (${CUSTOMER})
);
create index sync_customers_due on psd2.sync_customers (profile, finished_at, customer_id) where worker is null;
create index sync_customers_dealt on psd2.sync_customers (profile, worker) where worker is not null;

-- What all workers have done, by minute.
create table psd2.sync_minutes (
  profile text not null,
  minute timestamptz not null,
  calls integer not null,
  customers integer not null,
  primary key (profile, minute)
);
`;
