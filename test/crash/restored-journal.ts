import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { standingOf } from '../../src/domain/flow-states.ts';
import { KINDS } from '../../src/store/flow/kinds.ts';
import type { Kind } from '../../src/store/ports/flows.ts';
import { doneBut, nameOf, refused } from '../scenarios/row.ts';
import type { Backend, Lodging } from './backends.ts';
import type { Place } from './bank.ts';
import {
  between,
  CONSENT_REQUEST,
  INSTANTLY,
  type Means,
  newFlows,
  resumeOf,
  type StatusKind,
  transferOrder,
} from './gateway.ts';
import type { Point } from './matrix.ts';
import { type Flow, flowsAt, judgeEnd, newTry, type Tried } from './tried.ts';

/** A flow whose journal is restored. */
export interface Story {
  name: string;
  kind: 'transfer' | 'consent';
  begin(place: Place): string[];
  resume?: string[];
  /** What stops it before its end. */
  stop?: 'the answer to execute is lost' | 'the customer does not come';
  /** The state in which its journal is found. */
  state: string;
  /** The state of a flow that succeeded. */
  end: string;
}

const FURTHER = ['--verify-data', '{"payeeAccepted":true}'];
const paid = { kind: 'transfer', state: 'executed', end: 'executed' } as const;
export const STORIES: Story[] = [
  { ...paid, name: 'transfer, finished', begin: (place) => transferOrder(place) },
  {
    ...{ ...paid, name: 'transfer with a further step, finished', resume: FURTHER },
    begin: (place) => transferOrder(place, FURTHER, 'VERIFY SECOND STEP'),
  },
  {
    ...{ ...paid, name: 'instant transfer, finished', state: 'settled', end: 'settled' },
    begin: (place) => transferOrder(place, INSTANTLY),
    resume: ['--payee-verified'],
  },
  {
    ...{ ...paid, name: 'transfer, unknown', state: 'unknown', stop: 'the answer to execute is lost' },
    begin: (place) => transferOrder(place),
  },
  {
    ...{ ...paid, name: 'transfer, at SCA', state: 'authorizing', stop: 'the customer does not come' },
    begin: (place) => transferOrder(place),
  },
  {
    ...{ name: 'consent, finished', kind: 'consent', state: 'confirmed', end: 'confirmed' },
    begin: () => CONSENT_REQUEST,
  },
];

/** A restored journal: the bank and the rest of the store are of today. */
export interface Restored {
  backend: Backend;
  statusKind: StatusKind;
}

const EVENT = { at: z.string(), event: z.unknown() };
const eventShape = z.looseObject({ type: z.string() });

/** Lives through a story. @returns its flow, and what the calls of the place go through from now on */
async function live(
  { relay, followers }: Means,
  { place, env: ofHome }: Lodging,
  { name, kind, begin, state, stop }: Story,
): Promise<{ flow: Flow; before: Flow[] }> {
  const nobody = stop === 'the customer does not come';
  const statusKind =
    stop === 'the answer to execute is lost' ? 'status is inconclusive' : 'status is conclusive';
  const env = between(
    relay,
    place,
    statusKind,
    (call, toBank) =>
      stop === 'the answer to execute is lost' && nameOf(call) === 'execute'
        ? doneBut(refused(504))(call, toBank)
        : toBank(),
    nobody ? 'no customer' : 'the customer comes',
  );
  const all = { ...env, ...ofHome };
  const before = await flowsAt(followers, place, kind, all);
  const { stderr } = await followers.psd2(place, begin(place), all);
  const [flow] = await newFlows(followers, place, kind, all, before);
  if (flow?.state !== state)
    throw new Error(`${name}: it is ${flow?.state} before it is restored: ${stderr}`);
  return { flow, before };
}

/** The events of a flow's journal, in their order. */
export function eventsOf(
  { place, sql }: Lodging,
  backend: Backend,
  { flow }: Flow,
): { at: string; event: unknown }[] {
  if (backend === 'PostgreSQL') {
    const rows = sql(`select json_agg(json_build_object('at', at, 'event', event) order by n)
      from psd2.flow_events where flow = '${flow}'`);
    return z.array(z.object(EVENT)).parse(JSON.parse(rows));
  }
  return linesOf(journalOf(place, flow)).map((line) => z.object(EVENT).parse(JSON.parse(line)));
}

function journalOf({ config }: Place, flow: string): string {
  const journal = readdirSync(config, { recursive: true, encoding: 'utf8' }).find((file) =>
    file.endsWith(`${flow}.ndjson`),
  );
  if (journal === undefined) throw new Error(`${flow} has no journal`);
  return join(config, journal);
}

function linesOf(journal: string): string[] {
  return readFileSync(journal, 'utf8').split('\n').slice(0, -1);
}

/** The lines of a story's journal: the journal is restored to what it was before each. */
export async function recordStory(
  means: Means,
  lodging: Lodging,
  backend: Backend,
  story: Story,
): Promise<Point[]> {
  const { flow } = await live(means, lodging, story);
  const events = eventsOf(lodging, backend, flow).map(({ event }) => eventShape.parse(event));
  return events.map(({ type }, index) => ({ at: `before line ${index + 1} (${type})`, phase: type }));
}

/** Puts a flow's journal back to its first lines. @returns whether it still has the bank's resource id */
export function restore(
  lodging: Lodging,
  backend: Backend,
  kind: Kind,
  { flow, resourceId }: Flow,
  lines: number,
): boolean {
  if (backend === 'files') {
    const journal = journalOf(lodging.place, flow);
    const kept = linesOf(journal).slice(0, lines);
    writeFileSync(journal, kept.map((line) => `${line}\n`).join(''));
    return kept.some((line) => resourceId !== null && line.includes(resourceId));
  }
  const all = eventsOf(lodging, backend, { flow, resourceId, state: '' });
  const { sql } = lodging;
  const then = lines === 0 ? undefined : foldOf(kind, all.slice(0, lines));
  const resource = then?.resourceId ? `'${then.resourceId}'` : 'null';
  sql(`delete from psd2.flow_events where flow = '${flow}' and n > ${lines};
    delete from psd2.flow_resources where flow = '${flow}' and resource_id is distinct from ${resource}`);
  if (!then) sql(`delete from psd2.flows where flow = '${flow}'`);
  else
    sql(`update psd2.flows set state = '${then.state}', standing = '${then.standing}', resource_id = ${resource}, events = ${lines}
      where flow = '${flow}'`);
  return then !== undefined && then.resourceId !== null;
}

/** What the database has of a flow with these events. */
function foldOf(
  kind: Kind,
  events: { at: string; event: unknown }[],
): { state: string; standing: string; resourceId: string | null } {
  const fold = <Event, Known extends Parameters<typeof standingOf>[0]>({
    schema,
    apply,
    resourceIdOf,
  }: {
    schema: { parse(event: unknown): Event };
    apply(flow: Known | undefined, event: Event, at: string): Known;
    resourceIdOf(flow: Known): string | null;
  }) => {
    let known: Known | undefined;
    for (const { at, event } of events) known = apply(known, schema.parse(event), at);
    if (!known) throw new Error('A flow has a first event');
    return { state: known.state, standing: standingOf(known), resourceId: resourceIdOf(known) };
  };
  return kind === 'consent' ? fold(KINDS.consent) : fold(KINDS.transfer);
}

/** Restores a journal to the time before one of its lines. What the bank has done must not be done again. */
export async function tryRestored(
  means: Means,
  lodging: Lodging,
  story: Story,
  { backend, statusKind }: Restored,
  { at }: { at: string },
): Promise<Tried> {
  const { relay, followers } = means;
  const { place, env: ofHome } = lodging;
  const { name, kind, begin, resume, end, stop } = story;
  const how = howOf({ backend, statusKind });
  const tried = newTry('restored journal', name, how, at, kind === 'transfer' ? place.amount : '');
  const { flow, before } = await live(means, lodging, story);
  const keepsResource = restore(lodging, backend, kind, flow, Number(/\d+/.exec(at)?.[0]) - 1);

  // A database that has lost the resource id knows of no payment, so psd2 begins another one. The bank does that only if the
  // customer authorises a second one.
  const customer = backend === 'PostgreSQL' && !keepsResource ? 'no customer' : 'the customer comes';
  const env = {
    ...between(relay, place, statusKind, (_, toBank) => toBank(), customer),
    ...ofHome,
  };
  const resumed = await followers.psd2(place, resumeOf(kind, flow, resume), env);
  judgeEnd('resume', resumed, tried.problems);
  if (kind === 'transfer')
    judgeEnd('the same again', await followers.psd2(place, begin(place), env), tried.problems);
  const flows = await flowsOrDamage();
  for (const left of flows) {
    judgeEnd(
      'the last resume',
      await followers.psd2(place, resumeOf(kind, left, resume), env),
      tried.problems,
    );
  }
  const ended = await flowsOrDamage();
  tried.ends = ended.map(({ state }) => state);
  const own = ended.find((each) => each.flow === flow.flow);
  // The bank has done it, unless the customer was not there.
  if (keepsResource && statusKind === 'status is conclusive' && stop !== 'the customer does not come') {
    if (own?.state !== end)
      tried.problems.push(`reported wrongly: psd2 shows ${own?.state}: ${resumed.stderr}`);
  }
  return tried;

  /** An empty journal is damaged, and the list says so. */
  async function flowsOrDamage(): Promise<Flow[]> {
    try {
      return await newFlows(followers, place, kind, env, before);
    } catch (error) {
      if (/ended with 1\b/.test(String(error))) tried.problems.push(String(error));
      return [flow];
    }
  }
}

export function howOf({ backend, statusKind }: Restored): string {
  return `${statusKind}, ${backend}`;
}
