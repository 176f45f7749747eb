/** The audit log, and batches: what happens to them is in it, and their rules hold whatever a worker's machine says. */
export const AUDIT_AND_BATCHES = `
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
-- The first line of each profile, apart from the others, so that nobody removes all of them and begins anew unseen.
create table psd2.audit_beginnings (
  profile text primary key,
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
  if line_n = 1 then
    insert into psd2.audit_beginnings (profile, sha256) values (of_profile, encode(sha256(convert_to(written, 'UTF8')), 'hex'))
      on conflict do nothing;
  end if;
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
    and not psd2.is_copying())
  execute function psd2.audit_flow_event();

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
`;
