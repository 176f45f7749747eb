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
