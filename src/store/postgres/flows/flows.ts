import * as z from 'zod/mini';
import { isUntouched } from '../../../domain/flow-states.ts';
import { comparableReference } from '../../../domain/order/sepa-text.ts';
import { Psd2Error } from '../../../errors.ts';
import { movedAway } from '../../copy/moved.ts';
import { collectMoments, momentEvent } from '../../flow/history.ts';
import { findFlow, isFlowId } from '../../flow/ids.ts';
import { KINDS, type KnownKind } from '../../flow/kinds.ts';
import { compactOf } from '../../flow/order-filter.ts';
import { overtaken } from '../../flow/refusals.ts';
import type { Begin, Filter, FlowMoment, FlowOf, Flows, Kind, LeftBehind, Open } from '../../ports/flows.ts';
import type { Claim, Claims } from '../claims.ts';
import { type Database, ProfileRows } from '../database.ts';
import { eventRow, FlowJournal, type FlowWorld, flowRow, type Known } from './journal.ts';

/** A bit longer than it takes to see that another worker is dead. */
const CLAIM_PATIENCE_MS = 15_000;
/** How many flows one statement reads. */
const PAGE = 100;

const flowName = z.object({ flow: z.string() });

/** The flows of one profile: how workers claim, find and leave them ({@link FlowJournal} has their rows). */
export class PostgresFlows extends ProfileRows implements Flows {
  readonly #claims: Claims;
  readonly #world: FlowWorld;
  readonly #journal: FlowJournal;

  constructor(database: Database, profile: string, claims: Claims, world: FlowWorld) {
    super(database, profile);
    this.#claims = claims;
    this.#world = world;
    this.#journal = new FlowJournal(database, profile, world);
  }

  async begin<K extends Kind, T>(kind: K, begin: Begin<K>, work: (open: Open<K>) => Promise<T>): Promise<T> {
    const { flow, known: journal } = await this.#journal.create(kind, begin);
    return this.#worked(flow, (claim) => work(this.#writable(kind, flow, journal, claim)));
  }

  async resume<K extends Kind, T>(
    kind: K,
    reference: string,
    work: (open: Open<K>) => Promise<T>,
  ): Promise<T> {
    const flow = await this.#find(kind, reference);
    return this.#worked(flow, async (claim) => {
      const row = await this.lookOne(
        flowRow,
        `update psd2.flows set under_way = true where profile = $1 and flow = $2
         returning events, standing, resource_id`,
        [flow],
      );
      const journal = await this.#journal.stepping(await this.#journal.read(kind, flow));
      const open = this.#writable(kind, flow, journal, claim);
      const { unanswered }: KnownKind<K> = KINDS[kind];
      if (row && this.#journal.isSentUnnoticed(kind, row, journal)) await open.record(unanswered);
      return work(open);
    });
  }

  async find<K extends Kind>(kind: K, reference: string): Promise<FlowOf<K>> {
    const flow = await this.#find(kind, reference);
    const { current } = await this.#journal.read(kind, flow);
    this.#world.onFlow?.(current.transactionId, flow);
    return current;
  }

  async *list<K extends Kind>(
    kind: K,
    { since, until, customer, order = {}, onDamaged, attention, states }: Filter = {},
  ): AsyncGenerator<FlowOf<K>> {
    const { prefix } = KINDS[kind];
    // A database in the locale C changes the case of no other letters. The caller filters anyway.
    const payee = /^[ -~]*$/.test(order.payee ?? '') ? order.payee : undefined;
    for (let before = `${prefix}~`; ; ) {
      const events = await this.look(
        eventRow,
        // A flow whose events are missing is damaged. Without it, the list would end too early.
        `select f.flow, coalesce(e.n, 0) as n, coalesce(e.writer, '') as writer, coalesce(e.at, f.created_at) as at, e.event
         from (
           select flow, created_at from psd2.flows listed
           where profile = $1 and kind = $2 and flow collate "C" < $3 collate "C"
             and created_at >= coalesce($4::timestamptz, '-infinity')
             and ($5::boolean is not true or ((standing in ('open', 'sent') or state in ('executed', 'ordered'))
               and (state <> 'executed' or standing = 'sent' or ($2 = 'transfer' and exists (
                 select from psd2.flow_events c where c.profile = $1 and c.flow = listed.flow and c.n = 1
                   and (c.event #>> '{order,instant}' is distinct from 'false' or (c.event->>'commits' = 'by the customer'
                     and not exists (select from psd2.flow_events l where l.profile = $1 and l.flow = listed.flow
                       and l.event->>'isFinal' = 'true'))))))))
             and ($12::text[] is null or state = any($12)) and created_at < coalesce($6::timestamptz, 'infinity') and ($7::text is null or reference = $7)
             and ($8::text is null and $9::text is null and $11::text is null or exists (
               select from psd2.flow_events c where c.profile = $1 and c.flow = listed.flow and c.n = 1
                 and ($8::text is null or coalesce(c.event #>> '{order,customerId}', c.event->>'customerId') = $8)
                 and ($9::text is null or strpos(lower(c.event #>> '{order,to}'), $10) > 0 or strpos(
                   lower(regexp_replace(normalize(c.event #>> '{order,name}', NFC), '\\s+', ' ', 'g')), $9) > 0)
                 and ($11::text is null or (c.event #>> '{order,amount}')::numeric = $11::numeric)))
           order by flow collate "C" desc limit ${PAGE}
         ) f left join psd2.flow_events e on e.profile = $1 and e.flow = f.flow
         order by f.flow collate "C" desc, e.n`,
        [
          kind,
          before,
          since ?? null,
          attention ?? null,
          until ?? null,
          order.reference === undefined ? null : comparableReference(order.reference),
          customer ?? null,
          payee === undefined ? null : comparableReference(payee),
          payee === undefined ? null : compactOf(payee),
          order.amount ?? null,
          states ?? null,
        ],
      );
      const flows = byFlow(events);
      for (const [flow, own] of flows) {
        before = flow;
        try {
          yield this.#journal.fold(kind, flow, own).current;
        } catch (damage) {
          if (!onDamaged || !(damage instanceof Psd2Error)) throw damage;
          onDamaged(damage, flow);
        }
      }
      if (flows.size < PAGE) return;
    }
  }

  async history(flow: string): Promise<FlowMoment[] | null> {
    const events = await this.#journal.events(flow);
    if (events.length === 0) return null;
    return events.reduce<FlowMoment[]>((moments, { event, at, n }) => {
      const read = momentEvent.safeParse(event);
      if (!read.success) throw this.#journal.damaged(flow, n);
      return collectMoments(moments, read.data, at.toISOString());
    }, []);
  }

  async leftBehind(max: number, except = ''): Promise<LeftBehind> {
    const names = await this.look(
      z.object({
        kind: z.enum(['transfer', 'operation', 'consent']),
        flow: z.string(),
        resource_id: z.nullable(z.string()),
      }),
      `select kind, flow, resource_id from psd2.flows f
         where profile = $1 and under_way and updated_at > clock_timestamp() - interval '7 days'
           and not exists (select from psd2.claims c where c.profile = $1 and c.kind = 'flow' and c.name = f.flow
             and c.until > clock_timestamp())
         order by created_at desc limit 1000`,
    )
      // A command that needs the database reports what is wrong with it.
      .catch(() => []);
    const unread = names.filter(
      ({ flow, resource_id }) => !except || !(flow.startsWith(except) || resource_id?.startsWith(except)),
    );
    const flows: LeftBehind['flows'] = [];
    for (let next = unread.shift(); next && flows.length < max; next = unread.shift()) {
      const left = await this.#left(next.kind, next.flow);
      if (left) flows.push(left);
      if (flows.length === max) break;
    }
    return { flows, more: unread.length };
  }

  async atWork(): Promise<{ flow: string; holder: string }[]> {
    const held = await this.#claims.held('flow');
    return held.map(({ name, worker }) => ({ flow: name, holder: worker }));
  }

  exclusively<T>(work: () => Promise<T>): Promise<T> {
    const what = 'The journal of the profile';
    return this.#claims.within('begin', '', { what, patienceMs: 10_000 }, async () => {
      // Wait for workers that checked before the claim existed, and are about to begin a flow.
      await this.database.transaction(async (statements) => {
        await statements.execute(`select pg_advisory_xact_lock(hashtext('psd2.begin ' || $1))`, [
          this.profile,
        ]);
      });
      return work();
    });
  }

  async recordedIn(): Promise<string | undefined> {
    const [anyFlow] = await this.look(flowName, 'select flow from psd2.flows where profile = $1 limit 1');
    return anyFlow && `psd2.flows at ${this.database.shown}`;
  }

  /** The first events of the newest flows, for completion. */
  async begun(kind: Kind | undefined, max: number): Promise<{ flow: string; at: string; event: object }[]> {
    const rows = await this.look(
      z.object({ flow: z.string(), at: z.date(), event: z.looseObject({}) }),
      `select f.flow, e.at, e.event from psd2.flows f join psd2.flow_events e using (profile, flow)
       where f.profile = $1 and e.n = 1 and ($2 = '' or f.kind = $2) order by f.created_at desc limit $3`,
      [kind ?? '', max],
    );
    return rows.map(({ flow, at, event }) => ({ flow, at: at.toISOString(), event }));
  }

  /** @returns undefined if the flow has ended, if nothing of it reached the bank, or if it cannot be read */
  async #left<K extends Kind>(kind: K, flow: string): Promise<LeftBehind['flows'][number] | undefined> {
    const { isAtEnd, resourceIdOf, cancelled }: KnownKind<K> = KINDS[kind];
    try {
      const { current } = await this.#journal.read(kind, flow);
      if (isAtEnd(current)) {
        await this.#end(flow);
        return undefined;
      }
      if (!isUntouched(current))
        return { kind, flow, state: current.state, resourceId: resourceIdOf(current) };
      await this.resume(kind, flow, async (open) => {
        if (isUntouched(open.current)) await open.record(cancelled);
      });
    } catch (error) {
      // Commands on that flow report the error.
      if (!(error instanceof Psd2Error)) throw error;
    }
    return undefined;
  }

  /** Records that the flow has ended, or is as far as the operator wanted. */
  async #end(flow: string): Promise<void> {
    await this.executeAgain('update psd2.flows set under_way = false where profile = $1 and flow = $2', [
      flow,
    ]);
  }

  /** Works on a flow. If `work` throws, the flow stays unfinished, and counts as left behind. */
  #worked<T>(flow: string, work: (claim: Claim) => Promise<T>): Promise<T> {
    return this.#claims.within('flow', flow, { what: flow, patienceMs: CLAIM_PATIENCE_MS }, async (claim) => {
      const result = await work(claim);
      // If this fails, the next worker that looks sees from the events that the flow has ended.
      await this.#end(flow).catch(() => {});
      return result;
    });
  }

  #writable<K extends Kind>(kind: K, flow: string, read: Known<FlowOf<K>>, claim: Claim): Open<K> {
    let journal = read;
    /** Whether to require the claim. False after {@link OpenFlow.reread}: an overtaken worker may write then. */
    let isClaimed = true;
    this.#world.onFlow?.(journal.current.transactionId, flow);
    return {
      get current() {
        return journal.current;
      },
      record: async (event) => {
        await this.#journal.holdSteps(kind, journal, event);
        journal = await this.#journal.append(kind, flow, journal, event, isClaimed ? claim.number : null);
        return journal.current;
      },
      assertOurs: async () => {
        const claimed = await this.lookOne(
          z.object({ ours: z.boolean(), moved_to: z.nullable(z.string()) }),
          `select (select max(n) from psd2.flow_events where profile = $1 and flow = $2) = $3
             and exists (select from psd2.claims where profile = $1 and kind = 'flow' and name = $2
               and number = $4) as ours,
             (select moved_to from psd2.store) as moved_to`,
          [flow, journal.events, claim.number],
        );
        if (claimed?.moved_to) throw movedAway(`PostgreSQL at ${this.database.shown}`, claimed.moved_to);
        if (!claimed?.ours) throw overtaken(flow);
      },
      reread: async () => {
        journal = await this.#journal.stepping(await this.#journal.read(kind, flow));
        isClaimed = false;
        return journal.current;
      },
    };
  }

  async #find<K extends Kind>(kind: K, reference: string): Promise<string> {
    if (isFlowId(reference)) {
      const whole = 'select flow from psd2.flows where profile = $1 and kind = $2 and flow = $3';
      const [flow] = await this.look(flowName, whole, [kind, reference]);
      if (flow) return flow.flow;
    }
    const matching = await this.look(
      z.object({ flow: z.string(), resource_id: z.nullable(z.string()) }),
      `select flow, resource_id from psd2.flows
       where profile = $1 and kind = $2 and (starts_with(flow, $3) or starts_with(resource_id, $3))
       order by $3 in (flow, resource_id) desc nulls last, flow collate "C" desc limit 50`,
      [kind, reference],
    );
    const [holder] = await this.look(
      flowName,
      `select flow from psd2.flows where profile = $1 and kind = $2 and reference = $3
       order by standing = 'refused', flow collate "C" desc limit 1`,
      [kind, comparableReference(reference)],
    );
    return findFlow(reference, {
      referenced: () => holder?.flow,
      prefix: KINDS[kind].prefix,
      flows: () => matching.map(({ flow }) => flow),
      resources: () =>
        matching.flatMap(({ flow, resource_id }) =>
          resource_id === null ? [] : [{ flow, resourceId: resource_id }],
        ),
    });
  }
}

/** The rows of each flow, in their order. */
export function byFlow<Row extends { flow: string }>(events: readonly Row[]): Map<string, Row[]> {
  const flows = new Map<string, Row[]>();
  for (const event of events) flows.set(event.flow, [...(flows.get(event.flow) ?? []), event]);
  return flows;
}
