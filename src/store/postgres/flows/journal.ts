import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { isOpen, standingOf } from '../../../domain/flow-states.ts';
import { comparableReference } from '../../../domain/order/sepa-text.ts';
import type { TransferOrder } from '../../../domain/transfer.ts';
import { Psd2Error } from '../../../errors.ts';
import { refuseForgotten } from '../../flow/history.ts';
import { createdAt, newFlowId } from '../../flow/ids.ts';
import { KINDS, type KnownKind } from '../../flow/kinds.ts';
import {
  journalIsMissing,
  journalIsOlder,
  overtaken,
  referenceIsUsed,
  resourceIsUsed,
} from '../../flow/refusals.ts';
import { stepsOf, withoutStep, withSteps } from '../../flow/steps.ts';
import type { Actor } from '../../ports/audit.ts';
import type { Begin, EventOf, FlowOf, Kind } from '../../ports/flows.ts';
import type { IsForgotten } from '../../ports/personal.ts';
import { type Database, KeyTaken, LostAnswer, ProfileRows, type Statements } from '../database.ts';
import { StepRows } from './steps.ts';

export const eventRow = z.object({
  flow: z.string(),
  n: z.number(),
  writer: z.string(),
  at: z.date(),
  event: z.unknown(),
});
export type EventRow = z.infer<typeof eventRow>;
const flowName = z.object({ flow: z.string() });

/** Time, randomness, and a function that is called with each flow that begins or is read. */
export interface FlowWorld {
  now: () => Date;
  random: () => number;
  /** Who works. Each event names them. */
  actor?: Actor | undefined;
  isForgotten?: IsForgotten;
  onFlow?: ((transactionId: string, flow: string) => void) | undefined;
}

/** What the row of a flow says about its events. They may be older, because an old backup of them was restored. */
export const flowRow = z.object({
  events: z.number(),
  standing: z.string(),
  resource_id: z.nullable(z.string()),
});
type FlowRow = z.infer<typeof flowRow>;

/** A flow as this worker knows it. */
export interface Known<Flow> {
  current: Flow;
  events: number;
}

/**
 * The rows of one profile's flows: one for each flow and one for each event. The number of the event is in the primary key,
 * so if two workers write the next event of a flow, only one succeeds.
 */
export class FlowJournal extends ProfileRows {
  readonly #world: FlowWorld;
  readonly #steps: StepRows;
  /** The name of this writer. After a lost answer, psd2 uses it to look whether its event was written. */
  readonly #writer = randomUUID();

  constructor(database: Database, profile: string, world: FlowWorld) {
    super(database, profile);
    this.#world = world;
    this.#steps = new StepRows(database, profile);
  }

  /**
   * Creates a flow, with its first event and its reference, in one transaction.
   *
   * @throws Psd2Error `duplicate_reference`, `config`
   */
  async create<K extends Kind>(kind: K, begin: Begin<K>): Promise<{ flow: string; known: Known<FlowOf<K>> }> {
    await this.database.remember(this.profile);
    const { prefix, created, apply, orderOf }: KnownKind<K> = KINDS[kind];
    const now = this.#world.now();
    const newest = await this.lookOne(
      flowName,
      `select flow from psd2.flows where profile = $1 and kind = $2 order by flow collate "C" desc limit 1`,
      [kind],
    );
    const flow = newFlowId({ prefix }, now, newest?.flow, this.#world.random);
    const event = created(flow, begin);
    const current = apply(undefined, event, now.toISOString());
    const order = orderOf?.(current);
    const compared = order?.reference ? comparableReference(order.reference) : null;
    try {
      await this.database.transaction(async (statements) => {
        await this.#assertMayBegin(statements);
        refuseForgotten(this.profile, event, this.#world.isForgotten);
        await statements.execute(
          `with durable as materialized (select set_config('synchronous_commit', 'on', true)),
           begun as (insert into psd2.flows (profile, flow, kind, state, standing, transaction_id, reference, under_way,
             created_at, updated_at) select $1, $2, $3, $4, $5, $6, $7, true, $8, clock_timestamp() from durable)
           insert into psd2.flow_events (profile, flow, n, writer, at, event) values ($1, $2, 1, $9, $8, $10)`,
          [
            this.profile,
            flow,
            kind,
            current.state,
            standingOf(current),
            current.transactionId,
            compared,
            now,
            this.#writer,
            this.#named(event),
          ],
        );
      });
    } catch (error) {
      if (order && error instanceof KeyTaken && error.constraint === 'flows_reference')
        throw await this.#inUse(order);
      if (!(error instanceof LostAnswer)) throw error;
      if (!(await this.#isWritten(flow, 1))) throw this.#notWritten(flow, error);
    }
    return { flow, known: { current, events: 1 } };
  }

  /** Checks that no worker prevents new flows (`exclusively`). Until the transaction ends, none can begin to. */
  async #assertMayBegin(statements: Statements): Promise<void> {
    await statements.execute(`select pg_advisory_xact_lock_shared(hashtext('psd2.begin ' || $1))`, [
      this.profile,
    ]);
    const [closed] = await statements.query(
      z.object({ worker: z.string() }),
      `select coalesce(worker, '') as worker from psd2.claims
       where profile = $1 and kind = 'begin' and until > clock_timestamp()`,
      [this.profile],
    );
    if (!closed) return;
    throw new Psd2Error('config', `The journal of the profile is in use by ${closed.worker}`, {
      hint: 'Wait until it has ended, then run this again.',
    });
  }

  /** The error for a reference that another transfer holds, unless that one has definitely failed. */
  async #inUse(order: TransferOrder): Promise<Psd2Error> {
    const holder = await this.lookOne(
      flowName,
      `select flow from psd2.flows where profile = $1 and reference = $2 and standing <> 'refused'`,
      [comparableReference(order.reference ?? '')],
    );
    // The other transfer has definitely failed in the meantime.
    if (!holder)
      return new Psd2Error('config', 'The reference was free again a moment later', {
        hint: 'Run this again.',
      });
    const { flow } = holder;
    const events = await this.events(flow);
    if (events.length === 0)
      return journalIsMissing(order.reference ?? '', flow, `of ${flow} at ${this.database.shown}`);
    try {
      return referenceIsUsed(order, { flow, transfer: this.fold('transfer', flow, events).current });
    } catch (damage) {
      if (!(damage instanceof Psd2Error)) throw damage;
      return referenceIsUsed(order, { flow, damage });
    }
  }

  /**
   * Commits the next event of a flow, durably. If the event brings a resource of the bank, the flow takes it.
   *
   * @param claim the number of the claim that must still be held; null to write without a claim
   * @throws Psd2Error `bank_answer` if another flow has the resource or ever had it; `overtaken`, `config`
   */
  async append<K extends Kind>(
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
    const resourceId = resourceIdOf(next);
    const newResourceId = resourceId === resourceIdOf(current) ? null : resourceId;
    const values = [
      flow,
      n,
      this.#writer,
      at,
      this.#named(event),
      next.state,
      standingOf(next),
      resourceId,
      claim,
      newResourceId?.toLowerCase() ?? null,
    ];
    try {
      // The statement locks the claim's row until it ends, so no other worker can take the claim over in between.
      const [written] = await this.query(
        z.object({ events: z.number(), owner: z.nullable(z.string()) }),
        `with durable as materialized (select set_config('synchronous_commit', 'on', true)),
         mine as materialized (select from psd2.claims where profile = $1 and kind = 'flow' and name = $2
           and ($10::bigint is null or number = $10::bigint) for share),
         owner as (insert into psd2.flow_resources (profile, resource_id, flow)
           select $1, $11::text, $2 from durable, mine where $11::text is not null
           on conflict (profile, resource_id) do update set flow = psd2.flow_resources.flow returning flow),
         written as (insert into psd2.flow_events (profile, flow, n, writer, at, event)
           select $1, $2, $3, $4, $5, $6 from durable, mine
           where $11::text is null or exists (select from owner where flow = $2) returning n),
         changed as (update psd2.flows f set state = $7, standing = $8, resource_id = $9, events = $3,
           updated_at = clock_timestamp(),
           -- Another flow may have taken the reference while this one counted as failed.
           reference = case when $8 <> 'refused' and f.standing = 'refused' and exists (select from psd2.flows o
             where o.profile = $1 and o.reference = f.reference and o.flow <> $2 and o.standing <> 'refused')
             then null else f.reference end
           where profile = $1 and flow = $2 and exists (select from written))
         select (select count(*) from written)::int as events, (select flow from owner) as owner`,
        values,
      );
      const owner = written?.owner ?? flow;
      if (newResourceId !== null && owner !== flow) throw resourceIsUsed(flow, newResourceId, owner);
      if (written?.events !== 1) throw overtaken(flow);
    } catch (error) {
      if (error instanceof KeyTaken) throw overtaken(flow);
      if (!(error instanceof LostAnswer)) throw error;
      // Look over a new connection. If the event is not there, it may still arrive, but counts as not written.
      if (!(await this.#isWritten(flow, n))) throw this.#notWritten(flow, error);
    }
    return { current: next, events: n };
  }

  /** A flow with what the bank has said for its customer's next step. */
  async stepping<K extends Kind>(read: Known<FlowOf<K>>): Promise<Known<FlowOf<K>>> {
    const { current } = read;
    const held = stepsOf(current) && (await this.#steps.of(current.flow));
    return held ? { ...read, current: withSteps(current, held) } : read;
  }

  /** Holds before an event what the journal does not have of it, and drops it before the event with which it is over. */
  async holdSteps<K extends Kind>(kind: K, { current }: Known<FlowOf<K>>, event: EventOf<K>): Promise<void> {
    const { apply }: KnownKind<K> = KINDS[kind];
    const next = stepsOf(apply(current, event, current.updatedAt));
    if (!isDeepStrictEqual(next, stepsOf(current))) await this.#steps.hold(current.flow, next);
  }

  /** Whether this worker's event is in the database. @throws Psd2Error `config` if that is unclear */
  async #isWritten(flow: string, n: number): Promise<boolean> {
    const row = await this.lookOne(
      z.object({ writer: z.string() }),
      'select writer from psd2.flow_events where profile = $1 and flow = $2 and n = $3',
      [flow, n],
    );
    return row?.writer === this.#writer;
  }

  /** @throws Psd2Error `config` if the flow does not exist or is damaged */
  async read<K extends Kind>(kind: K, flow: string): Promise<Known<FlowOf<K>>> {
    return this.fold(kind, flow, await this.events(flow));
  }

  /**
   * Whether `execute` (for a consent, `confirm`) was announced, and the events do not say so, because an old backup of them
   * was restored. psd2 must then ask the bank for the outcome. No crash causes this: the row and its event are committed together.
   *
   * @throws Psd2Error `config` if the events are older, and do not show what to ask for
   */
  isSentUnnoticed<K extends Kind>(kind: K, row: FlowRow, { current, events }: Known<FlowOf<K>>): boolean {
    const { resourceIdOf }: KnownKind<K> = KINDS[kind];
    if (!isOpen(current) || row.events <= events) return false;
    const isSent = ['sent', 'done', 'kept'].includes(row.standing);
    if (isSent && row.resource_id === resourceIdOf(current)) return true;
    throw journalIsOlder(current.flow, `of ${current.flow} at ${this.database.shown}`);
  }

  /** The events in their order. Empty if the flow does not exist. */
  async events(flow: string): Promise<EventRow[]> {
    if (createdAt(flow) === undefined) return [];
    return this.look(
      eventRow,
      'select flow, n, writer, at, event from psd2.flow_events where profile = $1 and flow = $2 order by n',
      [flow],
    );
  }

  /** @throws Psd2Error `config` if an event is missing or cannot follow the one before it */
  fold<K extends Kind>(kind: K, flow: string, events: readonly EventRow[]): Known<FlowOf<K>> {
    return foldEvents(kind, events, (n, cause) => this.damaged(flow, n, cause));
  }

  /** @param n number of the damaged event */
  damaged(flow: string, n: number, cause?: unknown): Psd2Error {
    return damagedAt(flow, this.database, n, cause);
  }

  /** The event as the journal has it, with who causes it, as JSON. */
  #named(event: object): string {
    return JSON.stringify({ ...withoutStep(event), ...this.#world.actor });
  }

  #notWritten(flow: string, cause: unknown): Psd2Error {
    return new Psd2Error('config', `The journal of ${flow} cannot be written: the connection was lost`, {
      hint: `psd2 does nothing that it cannot record first. Check PostgreSQL at ${this.database.shown}, then resume.`,
      cause,
    });
  }
}

/** @param damaged the error for the event with this number, which is missing or cannot follow the one before it */
export function foldEvents<K extends Kind>(
  kind: K,
  events: readonly Pick<EventRow, 'n' | 'at' | 'event'>[],
  damaged: (n: number, cause?: unknown) => Psd2Error,
): Known<FlowOf<K>> {
  const { schema, apply }: KnownKind<K> = KINDS[kind];
  let current: FlowOf<K> | undefined;
  for (const [index, { n, at, event }] of events.entries()) {
    const { data } = schema.safeParse(event);
    if (data === undefined || n !== index + 1) throw damaged(index + 1);
    try {
      current = apply(current, data, at.toISOString());
    } catch (cause) {
      throw damaged(n, cause);
    }
  }
  if (current === undefined) throw damaged(1);
  return { current, events: events.length };
}

/** @param n number of the damaged event */
export function damagedAt(
  flow: string,
  { shown }: Pick<Database, 'shown'>,
  n: number,
  cause?: unknown,
): Psd2Error {
  return new Psd2Error('config', `The journal of ${flow} at ${shown} is damaged at event ${n}`, {
    hint: 'It is the record of a flow. Restore it from a backup, or update psd2 if a newer version wrote it.',
    cause,
  });
}
