import {
  AUDIT_VERSION_5,
  BATCHES_VERSION_5,
  CUSTOMERS_VERSION_4,
  FLOWS_VERSION_2,
  IDS_VERSION_3,
  LISTS_VERSION_5,
  READ_RESULTS_VERSION_5,
  TOKENS_VERSION_2,
  TRANSACTIONS_VERSION_5,
} from './upgrades.ts';

/** The schema that this program reads and writes. A change needs a new version, and a step that leads to it. */
export const SCHEMA_VERSION = 5;

/** The step from each version to the next one. `psd2 store init` runs the missing ones in one transaction. */
export const STEPS: readonly string[] = [
  `
create schema if not exists psd2;

create table psd2.store (
  one boolean primary key default true check (one),
  version integer not null,
  plain_tokens boolean not null,
  id uuid not null default gen_random_uuid(),
  moved_to text,
  moved_to_id text,
  copied_from text,
  copied_from_id text,
  copy_ended boolean not null default true
);

-- The key of a profile's tokens, encrypted with a passphrase that the database never gets.
create table psd2.keys (
  profile text primary key,
  key json not null
);

-- Who works on what. The number grows with each claim, so the database refuses a worker that has lost its claim.
create table psd2.claims (
  profile text not null,
  kind text not null,
  name text not null,
  number bigint not null,
  worker text,
  until timestamptz not null,
  primary key (profile, kind, name)
);

-- Refuses workers if the store was copied to another backend (PD001), or a copy into it is not complete (PD002). store copy
-- changes the mark under the same lock, so that it then sees everything that was begun before.
create function psd2.refuse_moved() returns trigger language plpgsql as $$
declare
  mark psd2.store;
begin
  if current_setting('psd2.copying', true) = 'on' then return null; end if;
  perform pg_advisory_xact_lock_shared(hashtext('psd2.copy'));
  select * into mark from psd2.store;
  if mark.moved_to is not null then
    raise exception using errcode = 'PD001', message = mark.moved_to;
  elsif not mark.copy_ended then
    raise exception using errcode = 'PD002', message = mark.copied_from;
  end if;
  return null;
end $$;
create trigger claims_here before insert or update of number on psd2.claims
  for each statement execute function psd2.refuse_moved();

create table psd2.tokens (
  profile text not null,
  holder text not null,
  generation bigint not null,
  origin bigint not null,
  base_url text not null,
  access_token_expires_at timestamptz,
  refresh_token_expires_at timestamptz,
  scope text,
  api_track_id text,
  secrets json,
  changed_at timestamptz not null default clock_timestamp(),
  primary key (profile, holder)
);

create table psd2.last_logins (
  profile text primary key,
  customer_id text not null
);

-- What the bank refused to a login: its renewal (refresh_of: the expiry time of the access token to renew), or a call.
create table psd2.access_notes (
  profile text not null,
  holder text not null,
  refresh_at timestamptz,
  refresh_message text,
  refresh_of timestamptz,
  call_at timestamptz,
  call_message text,
  primary key (profile, holder)
);

create table psd2.flows (
  profile text not null,
  flow text not null,
  kind text not null,
  state text not null,
  standing text not null,
  resource_id text,
  transaction_id text not null,
  reference text,
  under_way boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (profile, flow)
);
create trigger flows_here before insert on psd2.flows for each statement execute function psd2.refuse_moved();
-- A reference belongs to one flow that has not definitely failed.
create unique index flows_reference on psd2.flows (profile, reference) where reference is not null and standing <> 'refused';
create index flows_resource on psd2.flows (profile, resource_id text_pattern_ops) where resource_id is not null;
create index flows_under_way on psd2.flows (profile, updated_at) where under_way;

create table psd2.flow_events (
  profile text not null,
  flow text not null,
  n integer not null,
  writer text not null,
  at timestamptz not null,
  event json not null,
  primary key (profile, flow, n),
  foreign key (profile, flow) references psd2.flows
);
-- A worker that was stopped while the store was copied may still hold its claim.
create trigger flow_events_here before insert on psd2.flow_events for each statement execute function psd2.refuse_moved();

create table psd2.call_counts (
  profile text not null,
  day date not null,
  calls integer not null,
  primary key (profile, day)
);

-- Reads of accounts while the customer was absent. An empty product_id is the list of accounts.
create table psd2.unattended_reads (
  profile text not null,
  day date not null,
  customer_id text not null,
  product_id text not null,
  reads integer not null,
  primary key (profile, day, customer_id, product_id)
);

-- The pace that the bank's 420 demands from all workers together, by the database's clock.
create table psd2.pace (
  profile text primary key,
  next_turn timestamptz not null,
  gap_ms double precision not null,
  held_until timestamptz not null,
  holds integer not null
);

create table psd2.accounts (
  profile text not null,
  customer_id text not null,
  product_id text not null,
  iban text,
  currency text not null,
  name text,
  product_code text,
  product_description text,
  synced_at timestamptz not null default transaction_timestamp(),
  primary key (profile, customer_id, product_id)
);

create table psd2.balances (
  profile text not null,
  customer_id text not null,
  product_id text not null,
  kind text not null,
  amount numeric not null,
  currency text not null,
  as_of text,
  synced_at timestamptz not null default transaction_timestamp(),
  primary key (profile, customer_id, product_id, kind)
);

-- month: the first day of the booking month; '0001-01-01' if the bank gave no booking date.
create table psd2.transactions (
  profile text not null,
  customer_id text not null,
  product_id text not null,
  month date not null,
  id text not null,
  status text not null,
  booking_date date,
  value_date date,
  amount numeric not null,
  currency text not null,
  description text,
  details text,
  code text,
  transfer_reference text,
  fee_charge boolean,
  synced_at timestamptz not null default transaction_timestamp(),
  primary key (profile, customer_id, product_id, month, id)
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
  value_date date,
  amount numeric not null,
  currency text not null,
  description text,
  details text,
  code text,
  transfer_reference text,
  fee_charge boolean,
  synced_at timestamptz not null default transaction_timestamp(),
  primary key (profile, customer_id, product_id, n)
);

create table psd2.sync_progress (
  profile text not null,
  customer_id text not null,
  product_id text not null,
  read_from date not null,
  read_through date not null,
  checked boolean not null,
  synced_at timestamptz not null default transaction_timestamp(),
  primary key (profile, customer_id, product_id)
);

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
  primary key (profile, customer_id)
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
`,
  [FLOWS_VERSION_2, TOKENS_VERSION_2].join('\n'),
  IDS_VERSION_3,
  CUSTOMERS_VERSION_4,
  [AUDIT_VERSION_5, BATCHES_VERSION_5, READ_RESULTS_VERSION_5, TRANSACTIONS_VERSION_5, LISTS_VERSION_5].join(
    '\n',
  ),
];

/** The SQL that `psd2 store init --roles` adds. */
export const ROLES = `
do $$ begin
  if not exists (select from pg_roles where rolname = 'psd2_worker') then create role psd2_worker nologin; end if;
  if not exists (select from pg_roles where rolname = 'psd2_reader') then create role psd2_reader nologin; end if;
  if not exists (select from pg_roles where rolname = 'psd2_approver') then create role psd2_approver nologin; end if;
end $$;
grant usage on schema psd2 to psd2_worker, psd2_reader;
grant select, insert, update, delete on all tables in schema psd2 to psd2_worker;
revoke insert, update, delete on psd2.store, psd2.tokens_of_schema_1 from psd2_worker;
revoke update, delete on psd2.keys, psd2.flow_events, psd2.batch_lines, psd2.batch_events from psd2_worker;
revoke update, delete on psd2.batches from psd2_worker;
revoke insert, update, delete on psd2.audit, psd2.audit_heads, psd2.pseudonyms from psd2_worker;
grant execute on function psd2.make_month(date) to psd2_worker;
grant execute on function
  psd2.audit_append(text, timestamptz, text, text, text, text, text, text, text, text, text) to psd2_worker;
grant select on psd2.accounts, psd2.balances, psd2.transactions, psd2.pending_transactions, psd2.sync_progress to psd2_reader;
`;
