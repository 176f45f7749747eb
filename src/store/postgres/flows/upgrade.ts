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
