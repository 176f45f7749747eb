import { AUDIT_AND_BATCHES } from './schema-audit.ts';
import { CUSTOMER, idOf, ROWS } from './schema-rows.ts';

/** The schema that this program reads and writes. It has a step from an older one as soon as somebody has data in that. */
export const SCHEMA_VERSION = 1;

const HOLDER = `holder = '' or holder collate "C" ~ '^payment:[!-~]{1,64}$' or ${idOf('holder')}`;

/** All tables of psd2. `psd2 store init` makes them in one transaction. */
export const SCHEMA = `
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

-- Whether the user of this statement owns the schema, or is a member of the role that does.
create function psd2.is_owner() returns boolean language sql stable set search_path = pg_catalog, pg_temp as $$
  select pg_has_role(current_user, relowner, 'member') from pg_class where oid = 'psd2.store'::regclass
$$;

-- Whether this statement belongs to store copy, which anyone can say, but only the owner may do.
create function psd2.is_copying() returns boolean language sql stable set search_path = pg_catalog, pg_temp as $$
  select coalesce(current_setting('psd2.copying', true), '') = 'on' and psd2.is_owner()
$$;

-- Refuses workers if the store was copied to another backend (PD001), or a copy into it is not complete (PD002). store copy
-- changes the mark under the same lock, so that it then sees everything that was begun before.
create function psd2.refuse_moved() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  mark psd2.store;
begin
  if psd2.is_copying() then return null; end if;
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
  primary key (profile, holder),
  constraint ids check (${HOLDER})
);

create table psd2.last_logins (
  profile text primary key,
  customer_id text not null,
  constraint ids check (${CUSTOMER})
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
  primary key (profile, holder),
  constraint ids check (${HOLDER})
);

-- What is kept of a customer at a bank. generation grows with each change, so that older versions never replace newer ones.
create table psd2.customers (
  profile text not null,
  base_url text not null,
  customer_id text not null,
  generation bigint not null,
  changes text[] not null,
  kept json,
  changed_at timestamptz not null default clock_timestamp(),
  primary key (profile, base_url, customer_id),
  constraint ids check (${CUSTOMER})
);
create trigger customers_here before insert or update on psd2.customers
  for each statement execute function psd2.refuse_moved();

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
  -- How many events psd2 has written of it. If there are fewer, an old backup of them was restored.
  events integer not null default 1,
  primary key (profile, flow)
);
create trigger flows_here before insert on psd2.flows for each statement execute function psd2.refuse_moved();
-- A reference belongs to one flow that has not definitely failed.
create unique index flows_reference on psd2.flows (profile, reference) where reference is not null and standing <> 'refused';
create index flows_resource on psd2.flows (profile, resource_id text_pattern_ops) where resource_id is not null;
create index flows_under_way on psd2.flows (profile, updated_at) where under_way;
-- Lists come newest first, page by page, whatever the locale of the database.
create index flows_newest on psd2.flows (profile, kind, flow collate "C");
-- The few of many flows that a person may have to look at.
create index flows_attention on psd2.flows (profile, kind, flow collate "C")
  where standing in ('open', 'sent') or state in ('executed', 'ordered');

-- A resource of the bank belongs to the flow that had it first, and to no other one. Compared without case.
create table psd2.flow_resources (
  profile text not null,
  resource_id text not null,
  flow text not null,
  primary key (profile, resource_id),
  foreign key (profile, flow) references psd2.flows
);

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
-- The first event of a flow has its customer.
create index flow_events_customer on psd2.flow_events
  (profile, (coalesce(event #>> '{order,customerId}', event->>'customerId')), flow) where n = 1;

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
  primary key (profile, day, customer_id, product_id),
  constraint ids check (${CUSTOMER} and product_id collate "C" ~ '^((failed|paused) )?[!-~]{0,70}$')
);

-- What banks have said for the next steps of customers, which no event has: until the authorisation is over.
create table psd2.steps (
  profile text not null,
  flow text not null,
  steps json not null,
  primary key (profile, flow)
);

-- PINs that were sent and not accepted yet, by a digest of the bank and the PSU-ID.
create table psd2.pins (
  person text primary key check (person ~ '^[0-9a-f]{64}$'),
  sent integer not null
);

-- The pace that the bank's 420 demands from all workers together, by the database's clock.
create table psd2.pace (
  profile text primary key,
  next_turn timestamptz not null,
  gap_ms double precision not null,
  held_until timestamptz not null,
  holds integer not null
);
${ROWS}
${AUDIT_AND_BATCHES}`;

/** The SQL that `psd2 store init --roles` adds. */
export const ROLES = `
do $$ begin
  if not exists (select from pg_roles where rolname = 'psd2_worker') then create role psd2_worker nologin; end if;
  if not exists (select from pg_roles where rolname = 'psd2_reader') then create role psd2_reader nologin; end if;
  if not exists (select from pg_roles where rolname = 'psd2_approver') then create role psd2_approver nologin; end if;
end $$;
grant usage on schema psd2 to psd2_worker, psd2_reader;
grant select, insert, update, delete on all tables in schema psd2 to psd2_worker;
revoke insert, update, delete on psd2.store from psd2_worker;
revoke update, delete on psd2.keys, psd2.flow_events, psd2.batch_lines, psd2.batch_events from psd2_worker;
revoke update, delete on psd2.batches from psd2_worker;
revoke insert, update, delete on psd2.audit, psd2.audit_heads, psd2.audit_beginnings, psd2.pseudonyms
  from psd2_worker;
grant execute on function psd2.make_month(date) to psd2_worker;
grant execute on function
  psd2.audit_append(text, timestamptz, text, text, text, text, text, text, text, text, text) to psd2_worker;
grant select on psd2.accounts, psd2.balances, psd2.transactions, psd2.pending_transactions, psd2.sync_progress to psd2_reader;
`;
