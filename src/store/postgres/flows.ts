import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { isUntouched, standingOf } from '../../domain/flow-states.ts';
import { comparableReference } from '../../domain/order/sepa-text.ts';
import { Psd2Error } from '../../errors.ts';
import { findFlow } from '../flow/find.ts';
import { collectMoments, momentEvent } from '../flow/history.ts';
import { createdAt, newFlowId } from '../flow/ids.ts';
import { KINDS, type KnownKind } from '../flow/kinds.ts';
import { overtaken } from '../flow/overtaken.ts';
import { referenceIsUsed } from '../flow/reference-used.ts';
import type { Begin, EventOf, Filter, FlowMoment, FlowOf, Flows, Kind, LeftBehind, Open } from '../ports.ts';
import type { Claim, Claims } from './claims.ts';
import { type Database, LostAnswer, type Statements, Taken } from './database.ts';

/** How long it takes to see that the worker of a flow is dead, and some more. */
const CLAIM_PATIENCE_MS = 15_000;
/** Flows that are read at once. */
const PAGE = 100;

const eventRow = z.object({
  flow: z.string(),
  n: z.number(),
  writer: z.string(),
  at: z.date(),
  event: z.unknown(),
});
type EventRow = z.infer<typeof eventRow>;
const flowName = z.object({ flow: z.string() });

/** Time and randomness, and what takes the flow of each transaction that is begun or opened. */
export interface FlowWorld {
  now: () => Date;
  random: () => number;
  onFlow?: ((transactionId: string, flow: string) => void) | undefined;
}

/** A flow as this worker knows it. */
interface Known<Flow> {
  current: Flow;
  events: number;
}

/**
 * The flows of one profile: a row for each, and one for each of its events, with the number of the event in the primary
 * key. So of two workers that write the next event of a flow, the database lets one.
 */
export class PostgresFlows implements Flows {
  readonly #database: Database;
  readonly #profile: string;
  readonly #claims: Claims;
  readonly #world: FlowWorld;
  /** Names who writes an event, so that an answer that was lost can be looked up. */
  readonly #writer = randomUUID();

  constructor(database: Database, profile: string, claims: Claims, world: FlowWorld) {
    this.#database = database;
    this.#profile = profile;
    this.#claims = claims;
    this.#world = world;
  }

  async begin<K extends Kind, T>(kind: K, begin: Begin<K>, work: (open: Open<K>) => Promise<T>): Promise<T> {
    const { flow, known } = await this.#create(kind, begin);
    return this.#worked(flow, (claim) => work(this.#writable(kind, flow, known, claim)));
  }

  async resume<K extends Kind, T>(
    kind: K,
    reference: string,
    work: (open: Open<K>) => Promise<T>,
  ): Promise<T> {
    const flow = await this.#find(kind, reference);
    return this.#worked(flow, async (claim) => {
      await this.#database.look(
        z.unknown(),
        'update psd2.flows set under_way = true where profile = $1 and flow = $2',
        [this.#profile, flow],
      );
      return work(this.#writable(kind, flow, await this.#read(kind, flow), claim));
    });
  }

  async find<K extends Kind>(kind: K, reference: string): Promise<FlowOf<K>> {
    const flow = await this.#find(kind, reference);
    const { current } = await this.#read(kind, flow);
    this.#world.onFlow?.(current.transactionId, flow);
    return current;
  }

  async *list<K extends Kind>(kind: K, { since, onDamaged }: Filter = {}): AsyncGenerator<FlowOf<K>> {
    const { prefix } = KINDS[kind];
    for (let before = `${prefix}~`; ; ) {
      const events = await this.#database.look(
        eventRow,
        `select e.flow, e.n, e.writer, e.at, e.event from (
           select flow from psd2.flows
           where profile = $1 and kind = $2 and flow collate "C" < $3 collate "C"
             and created_at >= coalesce($4::timestamptz, '-infinity')
           order by flow collate "C" desc limit ${PAGE}
         ) f join psd2.flow_events e on e.profile = $1 and e.flow = f.flow
         order by e.flow collate "C" desc, e.n`,
        [this.#profile, kind, before, since ?? null],
      );
      const flows = byFlow(events);
      for (const [flow, own] of flows) {
        before = flow;
        try {
          yield this.#fold(kind, flow, own).current;
        } catch (damage) {
          if (!onDamaged || !(damage instanceof Psd2Error)) throw damage;
          onDamaged(damage, flow);
        }
      }
      if (flows.size < PAGE) return;
    }
  }

  async history(flow: string): Promise<FlowMoment[] | null> {
    const events = await this.#events(flow);
    if (events.length === 0) return null;
    return events.reduce<FlowMoment[]>((moments, { event, at, n }) => {
      const read = momentEvent.safeParse(event);
      if (!read.success) throw this.#damaged(flow, n);
      return collectMoments(moments, read.data, at.toISOString());
    }, []);
  }

  async leftBehind(most: number, except = ''): Promise<LeftBehind> {
    const names = await this.#database
      .look(
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
        [this.#profile],
      )
      // Whoever needs the database is told what is wrong with it.
      .catch(() => []);
    const unread = names.filter(
      ({ flow, resource_id }) => !except || !(flow.startsWith(except) || resource_id?.startsWith(except)),
    );
    const flows: LeftBehind['flows'] = [];
    for (let next = unread.shift(); next && flows.length < most; next = unread.shift()) {
      const left = await this.#left(next.kind, next.flow);
      if (left) flows.push(left);
      if (flows.length === most) break;
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
      // Those who have looked before the claim was there, and are about to begin a flow, come to their end.
      await this.#database.transaction(async (statements) => {
        await statements.query(z.unknown(), `select pg_advisory_xact_lock(hashtext('psd2.begin ' || $1))`, [
          this.#profile,
        ]);
      });
      return work();
    });
  }

  async recordedIn(): Promise<string | undefined> {
    const [found] = await this.#database.look(
      flowName,
      'select flow from psd2.flows where profile = $1 limit 1',
      [this.#profile],
    );
    return found && `psd2.flows at ${this.#database.shown}`;
  }

  /** How the newest flows began, for completion. */
  async begun(kind: Kind | undefined, most: number): Promise<{ flow: string; at: string; event: object }[]> {
    const found = await this.#database.look(
      z.object({ flow: z.string(), at: z.date(), event: z.looseObject({}) }),
      `select f.flow, e.at, e.event from psd2.flows f join psd2.flow_events e using (profile, flow)
       where f.profile = $1 and e.n = 1 and ($2 = '' or f.kind = $2) order by f.created_at desc limit $3`,
      [this.#profile, kind ?? '', most],
    );
    return found.map(({ flow, at, event }) => ({ flow, at: at.toISOString(), event }));
  }

  /** @returns undefined for a flow that is at its end, of which nothing reached the bank, or that can't be read */
  async #left<K extends Kind>(kind: K, flow: string): Promise<LeftBehind['flows'][number] | undefined> {
    const { isAtEnd, resourceIdOf, cancelled }: KnownKind<K> = KINDS[kind];
    try {
      const { current } = await this.#read(kind, flow);
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
      // Another command tells more of it.
      if (!(error instanceof Psd2Error)) throw error;
    }
    return undefined;
  }

  /** Says that a flow is as far as the operator wanted it. */
  async #end(flow: string): Promise<void> {
    await this.#database.look(
      z.unknown(),
      'update psd2.flows set under_way = false where profile = $1 and flow = $2',
      [this.#profile, flow],
    );
  }

  /** A flow whose work throws stays under way, and is told of as left behind. */
  #worked<T>(flow: string, work: (claim: Claim) => Promise<T>): Promise<T> {
    return this.#claims.within('flow', flow, { what: flow, patienceMs: CLAIM_PATIENCE_MS }, async (claim) => {
      const result = await work(claim);
      // Where it can't be said, whoever looks next sees it by the flow itself.
      await this.#end(flow).catch(() => {});
      return result;
    });
  }

  /** The flow, its first event and its reference are one transaction. */
  async #create<K extends Kind>(
    kind: K,
    begin: Begin<K>,
  ): Promise<{ flow: string; known: Known<FlowOf<K>> }> {
    const { prefix, created, apply, referenceOf }: KnownKind<K> = KINDS[kind];
    const now = this.#world.now();
    const newest = await this.#database.lookOne(
      flowName,
      `select flow from psd2.flows where profile = $1 and kind = $2 order by flow collate "C" desc limit 1`,
      [this.#profile, kind],
    );
    const flow = newFlowId({ prefix }, now, newest?.flow, this.#world.random);
    const event = created(flow, begin);
    const current = apply(undefined, event, now.toISOString());
    const reference = referenceOf?.(current) ?? null;
    const compared = reference === null ? null : comparableReference(reference);
    try {
      await this.#database.transaction(async (statements) => {
        await this.#assertMayBegin(statements);
        await statements.query(
          z.unknown(),
          `with durable as materialized (select set_config('synchronous_commit', 'on', true)),
           begun as (insert into psd2.flows (profile, flow, kind, state, standing, transaction_id, reference, under_way,
             created_at, updated_at) select $1, $2, $3, $4, $5, $6, $7, true, $8, clock_timestamp() from durable)
           insert into psd2.flow_events (profile, flow, n, writer, at, event) values ($1, $2, 1, $9, $8, $10)`,
          [
            ...[
              this.#profile,
              flow,
              kind,
              current.state,
              standingOf(current),
              current.transactionId,
              compared,
              now,
            ],
            ...[this.#writer, JSON.stringify(event)],
          ],
        );
      });
    } catch (error) {
      if (error instanceof Taken && error.constraint === 'flows_reference')
        throw await this.#inUse(reference ?? '');
      if (!(error instanceof LostAnswer)) throw error;
      if (!(await this.#isWritten(flow, 1))) throw this.#notWritten(flow, error);
    }
    return { flow, known: { current, events: 1 } };
  }

  /** Waits for who keeps flows from beginning, and keeps who is about to from doing so until the end of the transaction. */
  async #assertMayBegin(statements: Statements): Promise<void> {
    await statements.query(
      z.unknown(),
      `select pg_advisory_xact_lock_shared(hashtext('psd2.begin ' || $1))`,
      [this.#profile],
    );
    const [closed] = await statements.query(
      z.object({ worker: z.string() }),
      `select coalesce(worker, '') as worker from psd2.claims
       where profile = $1 and kind = 'begin' and until > clock_timestamp()`,
      [this.#profile],
    );
    if (!closed) return;
    throw new Psd2Error('config', `The journal of the profile is in use by ${closed.worker}`, {
      hint: 'Wait until it has ended, then run this again.',
    });
  }

  /** The error of a reference that another transfer has which has not plainly failed. */
  async #inUse(reference: string): Promise<Psd2Error> {
    const holder = await this.#database.lookOne(
      flowName,
      `select flow from psd2.flows where profile = $1 and reference = $2 and standing <> 'refused'`,
      [this.#profile, comparableReference(reference)],
    );
    // It has plainly failed in the meantime.
    if (!holder)
      return new Psd2Error('config', 'The reference was free again a moment later', {
        hint: 'Run this again.',
      });
    const { flow } = holder;
    try {
      return referenceIsUsed(reference, { flow, transfer: (await this.#read('transfer', flow)).current });
    } catch (damage) {
      if (!(damage instanceof Psd2Error)) throw damage;
      return referenceIsUsed(reference, { flow, damage });
    }
  }

  #writable<K extends Kind>(kind: K, flow: string, read: Known<FlowOf<K>>, claim: Claim): Open<K> {
    let known = read;
    /** Whether the claim is demanded: not of a worker that was overtaken, and has read what the other made of the flow. */
    let isClaimed = true;
    this.#world.onFlow?.(known.current.transactionId, flow);
    return {
      get current() {
        return known.current;
      },
      record: async (event) => {
        known = await this.#append(kind, flow, known, event, isClaimed ? claim.number : null);
        return known.current;
      },
      assertOurs: async () => {
        const isOurs = await this.#database.lookOne(
          z.object({ ours: z.boolean() }),
          `select (select max(n) from psd2.flow_events where profile = $1 and flow = $2) = $3
             and exists (select from psd2.claims where profile = $1 and kind = 'flow' and name = $2
               and number = $4) as ours`,
          [this.#profile, flow, known.events, claim.number],
        );
        if (!isOurs?.ours) throw overtaken(flow);
      },
      reread: async () => {
        known = await this.#read(kind, flow);
        isClaimed = false;
        return known.current;
      },
    };
  }

  /**
   * Commits the next event of a flow, durably.
   *
   * @param claim the number of the claim that has to hold; null where none has to
   */
  async #append<K extends Kind>(
    kind: K,
    flow: string,
    { current, events }: Known<FlowOf<K>>,
    event: EventOf<K>,
    claim: string | null,
  ): Promise<Known<FlowOf<K>>> {
    const { apply, resourceIdOf }: KnownKind<K> = KINDS[kind];
    const n = events + 1;
    const at = this.#world.now();
    const next = apply(current, event, at.toISOString());
    const values = [
      ...[this.#profile, flow, n, this.#writer, at, JSON.stringify(event)],
      ...[next.state, standingOf(next), resourceIdOf(next), claim],
    ];
    try {
      // The claim's row is held until the end of the statement: nobody takes it over in between.
      const [written] = await this.#database.query(
        z.object({ events: z.number() }),
        `with durable as materialized (select set_config('synchronous_commit', 'on', true)),
         mine as materialized (select from psd2.claims where profile = $1 and kind = 'flow' and name = $2
           and ($10::bigint is null or number = $10::bigint) for share),
         written as (insert into psd2.flow_events (profile, flow, n, writer, at, event)
           select $1, $2, $3, $4, $5, $6 from durable, mine returning n),
         changed as (update psd2.flows set state = $7, standing = $8, resource_id = $9, updated_at = clock_timestamp()
           where profile = $1 and flow = $2 and exists (select from written))
         select count(*)::int as events from written`,
        values,
      );
      if (written?.events !== 1) throw overtaken(flow);
    } catch (error) {
      if (error instanceof Taken) throw overtaken(flow);
      if (!(error instanceof LostAnswer)) throw error;
      // Over a new connection: what is there is there. What is not may still come: it counts as not happened.
      if (!(await this.#isWritten(flow, n))) throw this.#notWritten(flow, error);
    }
    return { current: next, events: n };
  }

  /** Whether an event stands in the database, by this worker. @throws Psd2Error `config` when that can't be told */
  async #isWritten(flow: string, n: number): Promise<boolean> {
    const found = await this.#database.lookOne(
      z.object({ writer: z.string() }),
      'select writer from psd2.flow_events where profile = $1 and flow = $2 and n = $3',
      [this.#profile, flow, n],
    );
    return found?.writer === this.#writer;
  }

  async #find<K extends Kind>(kind: K, reference: string): Promise<string> {
    const found = await this.#database.look(
      z.object({ flow: z.string(), resource_id: z.nullable(z.string()) }),
      `select flow, resource_id from psd2.flows
       where profile = $1 and kind = $2 and (starts_with(flow, $3) or starts_with(resource_id, $3))
       order by flow collate "C" desc limit 50`,
      [this.#profile, kind, reference],
    );
    return findFlow(reference, {
      prefix: KINDS[kind].prefix,
      flows: () => found.map(({ flow }) => flow),
      resources: () =>
        found.flatMap(({ flow, resource_id }) =>
          resource_id === null ? [] : [{ flow, resourceId: resource_id }],
        ),
    });
  }

  async #read<K extends Kind>(kind: K, flow: string): Promise<Known<FlowOf<K>>> {
    return this.#fold(kind, flow, await this.#events(flow));
  }

  async #events(flow: string): Promise<EventRow[]> {
    if (createdAt(flow) === undefined) return [];
    return this.#database.look(
      eventRow,
      'select flow, n, writer, at, event from psd2.flow_events where profile = $1 and flow = $2 order by n',
      [this.#profile, flow],
    );
  }

  #fold<K extends Kind>(kind: K, flow: string, events: readonly EventRow[]): Known<FlowOf<K>> {
    const { schema, apply }: KnownKind<K> = KINDS[kind];
    let current: FlowOf<K> | undefined;
    for (const [index, { n, at, event }] of events.entries()) {
      const { data } = schema.safeParse(event);
      if (data === undefined || n !== index + 1) throw this.#damaged(flow, index + 1);
      try {
        current = apply(current, data, at.toISOString());
      } catch (cause) {
        throw this.#damaged(flow, n, cause);
      }
    }
    if (current === undefined) throw this.#damaged(flow, 1);
    return { current, events: events.length };
  }

  #damaged(flow: string, n: number, cause?: unknown): Psd2Error {
    return new Psd2Error(
      'config',
      `The journal of ${flow} at ${this.#database.shown} is damaged at event ${n}`,
      {
        hint: 'It is the record of a flow: restore it from a backup, or update psd2 if a newer one wrote it.',
        cause,
      },
    );
  }

  #notWritten(flow: string, cause: unknown): Psd2Error {
    return new Psd2Error('config', `The journal of ${flow} cannot be written: the connection was lost`, {
      hint: `What the journal would not know of is not begun. Check PostgreSQL at ${this.#database.shown}, then resume.`,
      cause,
    });
  }
}

function byFlow(events: readonly EventRow[]): Map<string, EventRow[]> {
  const flows = new Map<string, EventRow[]>();
  for (const event of events) flows.set(event.flow, [...(flows.get(event.flow) ?? []), event]);
  return flows;
}
