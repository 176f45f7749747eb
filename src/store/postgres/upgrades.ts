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
const HOLDER = `holder = '' or holder collate "C" ~ '^payment:[!-~]{1,64}$' or ${CUSTOMER('holder')}`;
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

/** Part of version 5 of the schema: the audit log. */
export const AUDIT_VERSION_5 = `
-- Who did what. Each line has the SHA-256 of the line before. No role of psd2 may write here: psd2.audit_append does.
create table psd2.audit (
  profile text not null,
  n bigint not null,
  at timestamptz not null,
  line text not null,
  primary key (profile, n)
);
create index audit_at on psd2.audit (profile, at);
-- The last line of each profile, so that it cannot be removed unseen.
create table psd2.audit_heads (
  profile text primary key,
  n bigint not null,
  sha256 text not null
);

-- Lines never change, so they have pseudonyms in place of customers and accounts. Here is whose they are, until psd2 forgets the
-- customer. No role of psd2 may write here: psd2.pseudonym_of does.
create table psd2.pseudonyms (
  profile text not null,
  customer_id text not null,
  word text not null,
  pseudonym text not null,
  primary key (profile, customer_id, word)
);
create function psd2.pseudonym_of(of_profile text, customer text, meant text) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  found text;
begin
  if customer is null or meant is null then return null; end if;
  insert into psd2.pseudonyms (profile, customer_id, word, pseudonym)
    values (of_profile, customer, meant, 'pseudonym-' || substr(replace(gen_random_uuid()::text, '-', ''), 17))
    on conflict do nothing;
  select pseudonym into found from psd2.pseudonyms
    where profile = of_profile and customer_id = customer and word = meant;
  return found;
end $$;
revoke execute on function psd2.pseudonym_of(text, text, text) from public;

create function psd2.refuse_audit_change() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  raise exception using errcode = 'insufficient_privilege', message = 'the audit log of psd2 can only grow';
end $$;
create trigger audit_here before insert on psd2.audit for each statement execute function psd2.refuse_moved();
create trigger audit_stays before update or delete or truncate on psd2.audit
  for each statement execute function psd2.refuse_audit_change();

-- Adds a line as it is: the next one, or one that store copy brings.
create function psd2.audit_keep(of_profile text, line_n bigint, line_at timestamptz, written text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  insert into psd2.audit (profile, n, at, line) values (of_profile, line_n, line_at, written);
  insert into psd2.audit_heads (profile, n, sha256)
    values (of_profile, line_n, encode(sha256(convert_to(written, 'UTF8')), 'hex'))
    on conflict (profile) do update set n = excluded.n, sha256 = excluded.sha256;
end $$;
revoke execute on function psd2.audit_keep(text, bigint, timestamptz, text) from public;

-- Workers have no right to write lines. This function has the rights of the owner, and adds the next line of a profile.
create function psd2.audit_append(of_profile text, done_at timestamptz, action text, operator text, machine text,
  version text, customer text, of_flow text, about text, account text, system_user text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  before psd2.audit_heads;
  next bigint;
begin
  perform pg_advisory_xact_lock(hashtext('psd2.audit ' || of_profile));
  select * into before from psd2.audit_heads where profile = of_profile;
  next := coalesce(before.n, 0) + 1;
  perform psd2.audit_keep(of_profile, next, done_at, json_build_object('n', next,
    'at', to_char(done_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'profile', of_profile, 'action', action,
    'operator', operator, 'user', system_user, 'role', session_user, 'machine', machine, 'version', version,
    'customerId', psd2.pseudonym_of(of_profile, customer, customer), 'flow', of_flow,
    'about', nullif(concat_ws(' ', about, psd2.pseudonym_of(of_profile, customer, account)), ''),
    'previous', before.sha256)::text);
end $$;
revoke execute on function
  psd2.audit_append(text, timestamptz, text, text, text, text, text, text, text, text, text) from public;

-- What happens to a flow is in the audit log in the same transaction.
create function psd2.audit_flow_event() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  type text := new.event->>'type';
  action text := case type when 'created' then 'began' when 'accepted' then 'confirmed' when 'execute-sent' then 'executed'
    when 'confirm-sent' then 'executed' else type end;
  created json;
begin
  select event into created from psd2.flow_events where profile = new.profile and flow = new.flow and n = 1;
  perform psd2.audit_append(new.profile, new.at, action, new.event->>'operator', new.event->>'machine',
    new.event->>'version', coalesce(created #>> '{order,customerId}', created->>'customerId'), new.flow,
    concat_ws(' ', (select kind from psd2.flows where profile = new.profile and flow = new.flow), new.event->>'outcome'),
    null, new.event->>'user');
  return null;
end $$;
-- A copy brings its lines itself. The condition has the rights of whoever writes, not those of the function.
create trigger flow_events_audit after insert on psd2.flow_events for each row
  when (new.event->>'type' in ('created', 'accepted', 'execute-sent', 'confirm-sent', 'cancelled', 'resolved')
    and not (coalesce(current_setting('psd2.copying', true), '') = 'on' and psd2.is_owner()))
  execute function psd2.audit_flow_event();

do $$ begin
  if exists (select from pg_roles where rolname = 'psd2_worker') then
    if has_table_privilege('psd2_worker', 'psd2.flows', 'insert') then
      grant select on psd2.audit, psd2.audit_heads, psd2.pseudonyms to psd2_worker;
      grant execute on function
        psd2.audit_append(text, timestamptz, text, text, text, text, text, text, text, text, text) to psd2_worker;
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

create index batch_events_decisions on psd2.batch_events (profile, batch) where event->>'type' in ('approved', 'rejected');

-- Whether this statement belongs to store copy, which anyone can say, but only the owner may do.
create function psd2.is_copying() returns boolean language sql stable set search_path = pg_catalog, pg_temp as $$
  select coalesce(current_setting('psd2.copying', true), '') = 'on' and psd2.is_owner()
$$;

-- How many approvals a batch lacks: each of a database role of its own, none of them that of whoever added it. 1 if it was rejected.
create function psd2.approvals_missing(of_profile text, of_batch text) returns integer
language sql stable set search_path = pg_catalog, pg_temp as $$
  select (added.event->>'approvalsNeeded')::integer - count(distinct decided.role) filter (
    where decided.event->>'type' = 'approved' and decided.event->>'sha256' = added.event->>'sha256'
      and decided.role <> added.role)::integer
    + case when bool_or(decided.event->>'type' = 'rejected') then 100 else 0 end
  from psd2.batch_events added left join psd2.batch_events decided on decided.profile = added.profile
    and decided.batch = added.batch and decided.event->>'type' in ('approved', 'rejected')
  where added.profile = of_profile and added.batch = of_batch and added.n = 1
  group by added.profile, added.event->>'approvalsNeeded', added.event->>'sha256', added.role
$$;

-- Nobody begins a payment of a batch that lacks approvals (PD004), whatever the settings of their machine say.
create function psd2.refuse_unapproved() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if not psd2.is_copying() and psd2.approvals_missing(new.profile, new.event #>> '{order,batch,batch}') > 0 then
    raise exception using errcode = 'PD004', message = new.event #>> '{order,batch,batch}';
  end if;
  return new;
end $$;
create trigger flow_events_approved before insert on psd2.flow_events for each row
  when (new.event->>'type' = 'created' and new.event #>> '{order,batch,batch}' is not null)
  execute function psd2.refuse_unapproved();

-- The fields that psd2 reads of each event. An event without them would make the batch unreadable.
create function psd2.is_batch_event(event json) returns boolean language sql immutable set search_path = pg_catalog, pg_temp as $$
  select coalesce(bool_and(case kind
      when 'number' then coalesce(event->>field ~ '^[0-9]{1,9}$' and json_typeof(event->field) = 'number', false)
      when 'numbers' then coalesce(json_typeof(event->field) = 'array' and event->>field ~ '^[][0-9, ]*$', false)
      else coalesce(json_typeof(event->field) = 'string', false) end), false)
  from (values
    ('approved', 'sha256', ''), ('approved', 'by', ''), ('approved', 'user', ''), ('approved', 'machine', ''),
    ('rejected', 'sha256', ''), ('rejected', 'note', ''), ('rejected', 'by', ''), ('rejected', 'user', ''),
    ('rejected', 'machine', ''), ('line-begun', 'line', 'number'), ('line-begun', 'flow', ''),
    ('bulk-begun', 'flow', ''), ('bulk-begun', 'lines', 'numbers'), ('line-refused', 'line', 'number'),
    ('line-refused', 'reason', ''), ('link-given', 'line', 'number'), ('link-given', 'flow', ''),
    ('lines-cancelled', 'lines', 'numbers'), ('lines-cancelled', 'by', ''), ('lines-cancelled', 'user', ''),
    ('lines-cancelled', 'machine', ''), ('pseudonymised', 'sha256', '')
  ) as fields (type, field, kind) where type = event->>'type'
$$;

-- Who may approve and reject: the members of psd2_approver, if there is that role (PD003). All else is the workers', but that only the
-- owner gives pseudonyms. Events follow one another, and psd2 can read them (PD005).
create function psd2.check_batch_event() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  type text := new.event->>'type';
  needed text := case when type in ('approved', 'rejected') then 'psd2_approver' else 'psd2_worker' end;
  last integer;
begin
  new.role := session_user;
  if psd2.is_copying() then return new; end if;
  select max(n) into last from psd2.batch_events where profile = new.profile and batch = new.batch;
  if new.n > coalesce(last, 0) + 1 or new.n > 1 and not psd2.is_batch_event(new.event)
    or type = 'pseudonymised' and not psd2.is_owner() then
    raise exception using errcode = 'PD005', message = coalesce(type, '');
  end if;
  if type in ('line-begun', 'bulk-begun') and psd2.approvals_missing(new.profile, new.batch) > 0 then
    raise exception using errcode = 'PD004', message = new.batch;
  end if;
  if psd2.is_owner() or not exists (select from pg_roles where rolname = needed) then return new; end if;
  if not pg_has_role(current_user, needed, 'member') then
    raise exception using errcode = 'PD003', message = needed;
  end if;
  return new;
end $$;
create trigger batch_events_role before insert on psd2.batch_events
  for each row execute function psd2.check_batch_event();

-- Counts the events. Workers have no right to change the number themselves.
create function psd2.count_batch_event() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  update psd2.batches set events = new.n where profile = new.profile and batch = new.batch and events < new.n;
  return null;
end $$;
create trigger batch_events_count after insert on psd2.batch_events
  for each row execute function psd2.count_batch_event();

-- A batch has its lines before its first event, and gets no more of them.
create function psd2.refuse_more_lines() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if exists (select from added join psd2.batch_events using (profile, batch)) then
    raise exception using errcode = 'PD005', message = 'line';
  end if;
  return null;
end $$;
create trigger batch_lines_all after insert on psd2.batch_lines referencing new table as added
  for each statement execute function psd2.refuse_more_lines();
do $$ begin
  if exists (select from pg_roles where rolname = 'psd2_worker') then
    if has_table_privilege('psd2_worker', 'psd2.flows', 'insert') then
      grant select, insert on psd2.batches, psd2.batch_lines, psd2.batch_events to psd2_worker;
    end if;
  end if;
end $$;
`;

/** The part of the step to schema 5 for banks that identify transactions. */
export const TRANSACTIONS_VERSION_5 = `
-- What a bank of the Berlin Group says of a transaction. Null at other banks. No row is rewritten.
${['transactions', 'pending_transactions']
  .map(
    (table) => `alter table psd2.${table} add column transaction_id text, add column entry_reference text,
  add column end_to_end_id text, add column counterparty_name text, add column counterparty_iban text,
  add column remittance text, add column bank_transaction_code text, add column counterparty_account text,
  add column remittance_structured text, add column ultimate_debtor text, add column ultimate_creditor text,
  add column mandate_id text, add column creditor_id text, add column purpose_code text, add column original_amount numeric,
  add column original_currency text, add column exchange_rate numeric, add column fee_amount numeric,
  add column fee_currency text, add column internal_transaction_id text;`,
  )
  .join('\n')}
-- The bank's reference of the newest row, at a bank that gives what comes after it.
alter table psd2.sync_progress add column newest text;
-- The booked balance that the rows up to synced_at lead to.
alter table psd2.sync_progress add column balance numeric, add column balance_currency text;
-- What the bank's balance has beyond that of the rows. Null: nothing, or it is not known.
alter table psd2.sync_progress add column balance_difference numeric;
-- future: the row was stored before its day. cancelled: it vanished before that. Null: no.
alter table psd2.transactions add column future boolean, add column cancelled boolean;
-- A booked balance that could not be read has no amount, but a reason.
alter table psd2.balances alter column amount drop not null, alter column currency drop not null, add column reason text;
`;

/** The part of the step to schema 5 that keeps what syncs could not read. */
export const READ_RESULTS_VERSION_5 = `
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
do $$ begin
  if exists (select from pg_roles where rolname = 'psd2_worker') then
    if has_table_privilege('psd2_worker', 'psd2.flows', 'insert') then
      grant select, insert, update, delete on psd2.read_results to psd2_worker;
    end if;
  end if;
end $$;
`;

/** The part of the step to schema 5 for lists of many flows. */
export const LISTS_VERSION_5 = `
-- Lists come newest first, page by page, whatever the locale of the database.
create index flows_newest on psd2.flows (profile, kind, flow collate "C");
-- The few of many flows that a person may have to look at.
create index flows_attention on psd2.flows (profile, kind, flow collate "C")
  where standing in ('open', 'sent') or state in ('executed', 'ordered');
-- The first event of a flow has its customer.
create index flow_events_customer on psd2.flow_events
  (profile, (coalesce(event #>> '{order,customerId}', event->>'customerId')), flow) where n = 1;
`;
