// The steps from each version of the schema to the next one.

/** Version 2 of the schema, for flows: which flow has a resource of the bank, and how many events psd2 has written of a flow. */
export const FLOWS_VERSION_2 = `
-- A resource of the bank belongs to the flow that had it first, and to no other one. Compared without case.
create table psd2.flow_resources (
  profile text not null,
  resource_id text not null,
  flow text not null,
  primary key (profile, resource_id),
  foreign key (profile, flow) references psd2.flows
);
insert into psd2.flow_resources (profile, resource_id, flow)
  select profile, lower(event->>'resourceId'), flow from psd2.flow_events
  where event->>'type' in ('verified', 'further-verified', 'requested') and event->>'resourceId' is not null
  order by at, n
  on conflict do nothing;
do $$ begin
  if exists (select from pg_roles where rolname = 'psd2_worker') then
    if has_table_privilege('psd2_worker', 'psd2.flows', 'insert') then
      grant select, insert, update, delete on psd2.flow_resources to psd2_worker;
    end if;
  end if;
end $$;

-- How many events psd2 has written of a flow. If there are fewer, an old backup of them was restored.
alter table psd2.flows add column events integer not null default 1;
update psd2.flows f set events = n from (select profile, flow, max(n) as n from psd2.flow_events group by profile, flow) e
  where (e.profile, e.flow) = (f.profile, f.flow);

-- If the bank refused execute or confirm, and nothing else is known, the flow may still have been carried out. So it keeps
-- its reference, unless another flow has it by now.
with refused as (
  select f.profile, f.flow, f.reference,
    row_number() over (partition by f.profile, f.reference order by f.created_at desc, f.flow desc) as place
  from psd2.flows f join psd2.flow_events e on (e.profile, e.flow, e.n) = (f.profile, f.flow, f.events)
  where f.standing = 'refused' and e.event->>'type' in ('execute-refused', 'confirm-refused')
)
update psd2.flows f set standing = 'sent' from refused r
where (r.profile, r.flow) = (f.profile, f.flow) and (f.reference is null or r.place = 1 and not exists (
  select from psd2.flows o where o.profile = f.profile and o.reference = f.reference and o.standing <> 'refused'));
`;

/** The part of the step to schema 2 that protects tokens from whoever may write rows. */
export const TOKENS_VERSION_2 = `
-- Tokens of schema 1 are sealed without their generation. psd2 opens them only in these generations. Workers cannot add rows.
create table psd2.tokens_of_schema_1 (
  profile text not null,
  holder text not null,
  generation bigint not null,
  primary key (profile, holder)
);
insert into psd2.tokens_of_schema_1 (profile, holder, generation)
  select profile, holder, generation from psd2.tokens where secrets is not null;

-- Whether the user of this statement owns the schema, or is a member of the role that does.
create function psd2.is_owner() returns boolean language sql stable set search_path = pg_catalog, pg_temp as $$
  select pg_has_role(current_user, relowner, 'member') from pg_class where oid = 'psd2.store'::regclass
$$;

-- As in schema 1, but anyone can set psd2.copying, so it counts for the owner alone.
create or replace function psd2.refuse_moved() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  mark psd2.store;
begin
  if current_setting('psd2.copying', true) = 'on' and psd2.is_owner() then return null; end if;
  perform pg_advisory_xact_lock_shared(hashtext('psd2.copy'));
  select * into mark from psd2.store;
  if mark.moved_to is not null then
    raise exception using errcode = 'PD001', message = mark.moved_to;
  elsif not mark.copy_ended then
    raise exception using errcode = 'PD002', message = mark.copied_from;
  end if;
  return null;
end $$;

-- Roles of schema 1 get no new rights by themselves, and lose what they do not need.
do $$ begin
  if exists (select from pg_roles where rolname = 'psd2_worker') then
    grant select on psd2.tokens_of_schema_1 to psd2_worker;
    revoke update, delete on psd2.keys, psd2.flow_events from psd2_worker;
  end if;
end $$;
`;

const CUSTOMER = (column: string) => `${column} collate "C" ~ '^(?!\\.{1,2}$)[A-Za-z0-9._-]{1,64}$'`;
const HOLDER = `holder = '' or ${CUSTOMER('holder')}`;
const CUSTOMER_AND_ACCOUNT = `${CUSTOMER('customer_id')} and product_id collate "C" ~ '^[!-~]{1,70}$'`;
const CHECKS: Readonly<Record<string, string>> = {
  tokens: HOLDER,
  access_notes: HOLDER,
  last_logins: CUSTOMER('customer_id'),
  sync_customers: CUSTOMER('customer_id'),
  unattended_reads: `${CUSTOMER('customer_id')} and product_id collate "C" ~ '^((failed|paused) )?[!-~]{0,70}$'`,
  accounts: CUSTOMER_AND_ACCOUNT,
  balances: CUSTOMER_AND_ACCOUNT,
  transactions: CUSTOMER_AND_ACCOUNT,
  pending_transactions: CUSTOMER_AND_ACCOUNT,
  sync_progress: CUSTOMER_AND_ACCOUNT,
};

/** Version 3 of the schema: ids of customers and accounts of any bank. */
export const IDS_VERSION_3 = `
-- The id of an account may contain a colon, but no space.
update psd2.unattended_reads set product_id = regexp_replace(product_id, '^(failed|paused):', '\\1 ')
  where product_id ~ '^(failed|paused):';

-- For rows from now on, so that the upgrade does not read all transactions.
${Object.entries(CHECKS)
  .map(([table, check]) => `alter table psd2.${table} add constraint ids check (${check}) not valid;`)
  .join('\n')}
`;

/** Version 4 of the schema: what is kept of customers. */
export const CUSTOMERS_VERSION_4 = `
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
  constraint ids check (${CUSTOMER('customer_id')})
);
create trigger customers_here before insert or update on psd2.customers
  for each statement execute function psd2.refuse_moved();
do $$ begin
  if exists (select from pg_roles where rolname = 'psd2_worker') then
    if has_table_privilege('psd2_worker', 'psd2.flows', 'insert') then
      grant select, insert, update, delete on psd2.customers to psd2_worker;
    end if;
  end if;
end $$;
`;

/** The part of the step to schema 5 that keeps batches. */
export const BATCHES_VERSION_5 = `
-- A batch: the SHA-256 of its content, and how many events psd2 has written of it.
create table psd2.batches (
  profile text not null,
  batch text not null,
  sha256 text not null,
  message_id text,
  events integer not null,
  primary key (profile, batch)
);
create index batches_message on psd2.batches (profile, message_id) where message_id is not null;
create table psd2.batch_lines (
  profile text not null,
  batch text not null,
  line integer not null,
  content json not null,
  primary key (profile, batch, line),
  foreign key (profile, batch) references psd2.batches
);
create table psd2.batch_events (
  profile text not null,
  batch text not null,
  n integer not null,
  writer text not null,
  at timestamptz not null,
  event json not null,
  -- Who was connected. psd2 cannot choose it.
  role text not null default session_user,
  primary key (profile, batch, n),
  foreign key (profile, batch) references psd2.batches
);
create trigger batches_here before insert or update on psd2.batches
  for each statement execute function psd2.refuse_moved();
create trigger batch_events_here before insert on psd2.batch_events
  for each statement execute function psd2.refuse_moved();

-- Who may approve and reject: the members of psd2_approver, if there is that role (PD003). All else is the workers'.
create function psd2.check_batch_event() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  needed text := case when new.event->>'type' in ('approved', 'rejected') then 'psd2_approver' else 'psd2_worker' end;
begin
  new.role := session_user;
  if psd2.is_owner() or not exists (select from pg_roles where rolname = needed) then return new; end if;
  if not pg_has_role(current_user, needed, 'member') then
    raise exception using errcode = 'PD003', message = needed;
  end if;
  return new;
end $$;
create trigger batch_events_role before insert on psd2.batch_events
  for each row execute function psd2.check_batch_event();
do $$ begin
  if exists (select from pg_roles where rolname = 'psd2_worker') then
    if has_table_privilege('psd2_worker', 'psd2.flows', 'insert') then
      grant select, insert, update on psd2.batches to psd2_worker;
      grant select, insert on psd2.batch_lines, psd2.batch_events to psd2_worker;
    end if;
  end if;
end $$;
`;
