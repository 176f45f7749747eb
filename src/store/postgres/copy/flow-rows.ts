import * as z from 'zod/mini';
import { standingOf } from '../../../domain/flow-states.ts';
import { comparableReference } from '../../../domain/order/sepa-text.ts';
import { Psd2Error } from '../../../errors.ts';
import { isFlowId } from '../../flow/ids.ts';
import { KINDS, type KnownKind, kindOf } from '../../flow/kinds.ts';
import { journalIsOlder } from '../../flow/refusals.ts';
import { heldSteps } from '../../flow/steps.ts';
import type { FlowRecord } from '../../ports/copy.ts';
import type { Kind } from '../../ports/flows.ts';
import { type Database, KeyTaken, ProfileRows } from '../database.ts';
import { byFlow } from '../flows/flows.ts';
import { foldEvents } from '../flows/journal.ts';
import { StepRows } from '../flows/steps.ts';

/** How many flows one statement reads. */
const PAGE = 100;

const rowOfEvent = z.object({
  flow: z.string().check(z.refine(isFlowId)),
  under_way: z.boolean(),
  /** How many events psd2 has written. */
  events: z.number(),
  at: z.date(),
  event: z.unknown(),
  steps: z.nullable(heldSteps),
});
type RowOfEvent = z.infer<typeof rowOfEvent>;

/** The flows of one profile for `store copy`. It does not parse events, so it copies them unchanged. */
export class FlowRows extends ProfileRows {
  readonly #steps: StepRows;

  constructor(database: Database, profile: string) {
    super(database, profile);
    this.#steps = new StepRows(database, profile);
  }

  /** All flows in the order of their ids. Of several with the same reference, the first one took it first. */
  async *records(): AsyncGenerator<FlowRecord> {
    for (let after = ''; ; ) {
      const rows = await this.look(
        rowOfEvent,
        `select f.flow, f.under_way, f.events, coalesce(e.at, f.created_at) as at, e.event, s.steps from (
           select flow, under_way, events, created_at from psd2.flows where profile = $1 and flow collate "C" > $2 collate "C"
           order by flow collate "C" limit ${PAGE}
         ) f left join psd2.flow_events e on e.profile = $1 and e.flow = f.flow
         left join psd2.steps s on s.profile = $1 and s.flow = f.flow order by f.flow collate "C", e.n`,
        [after],
      );
      const flows = byFlow(rows);
      for (const own of flows.values()) yield* this.#recordOf(own);
      if (flows.size < PAGE) return;
      after = [...flows.keys()].at(-1) ?? after;
    }
  }

  async record({ flow }: FlowRecord): Promise<FlowRecord | undefined> {
    const rows = await this.look(
      rowOfEvent,
      `select flow, f.under_way, f.events, coalesce(e.at, f.created_at) as at, e.event, s.steps
       from psd2.flows f left join psd2.flow_events e using (profile, flow) left join psd2.steps s using (profile, flow)
       where profile = $1 and flow = $2 order by e.n`,
      [flow],
    );
    return this.#recordOf(rows)[0];
  }

  /**
   * The record of a flow; none without rows.
   *
   * @throws Psd2Error `config` if events are missing. A copy would forget that they ever were
   */
  #recordOf(rows: readonly RowOfEvent[]): FlowRecord[] {
    const [first] = rows;
    if (!first) return [];
    const { flow, steps } = first;
    if (rows.length < first.events || first.event === null)
      throw journalIsOlder(flow, `of ${flow} at ${this.database.shown}`);
    const events = rows.map(({ at, event }) => ({ at: at.toISOString(), event }));
    return [{ kind: 'flow', flow, underWay: first.under_way, events, ...(steps && { steps }) }];
  }

  /** Adds the missing events of a flow: all of them or none. @throws Psd2Error `config` */
  async keep(record: FlowRecord): Promise<void> {
    const kind = kindOf(record.flow);
    if (kind === undefined) throw new TypeError(`${record.flow} is of no kind`);
    const { events, flow, underWay, steps } = record;
    const folded = foldOf(kind, record);
    await this.#steps.hold(flow, steps ?? null);
    const values = [
      this.profile,
      flow,
      kind,
      folded.state,
      folded.standing,
      folded.resourceId,
      folded.transactionId,
      folded.reference,
      underWay,
      events.at(0)?.at ?? null,
      events.at(-1)?.at ?? null,
      events.length,
      JSON.stringify(events.map((each, index) => ({ ...each, n: index + 1 }))),
    ];
    try {
      await this.database.transactionAgain((statements) => statements.execute(WRITE, values));
    } catch (error) {
      if (!(error instanceof KeyTaken)) throw error;
      throw new Psd2Error('config', `Two flows have the reference of ${flow}`, {
        hint: 'Copy back, end one of them (psd2 transfer cancel, or resolve), then run the same psd2 store copy again.',
      });
    }
  }
}

/** Writes the columns of a flow, the events that are missing, and whose the resources of the bank are. */
const WRITE = `with changed as (
    insert into psd2.flows (profile, flow, kind, state, standing, resource_id, transaction_id, reference,
      under_way, created_at, updated_at, events)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::timestamptz, $11::timestamptz, $12)
    on conflict (profile, flow) do update set state = excluded.state, standing = excluded.standing,
      resource_id = excluded.resource_id, under_way = excluded.under_way, updated_at = excluded.updated_at,
      events = excluded.events),
  copied as (select n, at, event from json_to_recordset($13::json) as r (n integer, at timestamptz, event json)),
  written as (
    insert into psd2.flow_events (profile, flow, n, writer, at, event)
    select $1, $2, n, 'copy', at, event from copied on conflict do nothing)
  insert into psd2.flow_resources (profile, resource_id, flow)
  select $1, lower(event->>'resourceId'), $2 from copied where event->>'resourceId' is not null order by n
  on conflict (profile, resource_id) do nothing`;

/** The columns of a flow that its events determine. @throws Psd2Error `config` if they are damaged */
function foldOf<K extends Kind>(name: K, { flow, events }: FlowRecord) {
  const { resourceIdOf, orderOf }: KnownKind<K> = KINDS[name];
  const numbered = events.map(({ at, event }, index) => ({ n: index + 1, at: new Date(at), event }));
  const { current } = foldEvents(
    name,
    numbered,
    (n, cause) =>
      new Psd2Error('config', `The journal of ${flow} is damaged at event ${n}`, {
        hint: 'It is the record of a flow. Restore it from a backup, then run the same psd2 store copy again.',
        cause,
      }),
  );
  const reference = orderOf?.(current).reference;
  return {
    state: current.state,
    standing: standingOf(current),
    resourceId: resourceIdOf(current),
    transactionId: current.transactionId,
    reference: reference ? comparableReference(reference) : null,
  };
}
