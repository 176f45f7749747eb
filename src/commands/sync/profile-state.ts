import { needsAttention } from '../../domain/flow-states.ts';
import { needsSettlement } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import type { FlowOf, Kind } from '../../store/ports/flows.ts';
import { allEndings, endingWithin, SOON_DAYS } from '../checks/endings.ts';
import type { Context } from '../context.ts';

/** What a monitor wants to know of a profile, besides its calls. */
export interface ProfileState {
  /** Payments that need a person, by state. An executed payment that is not settled is `unsettled`. */
  payments: ReadonlyMap<string, number>;
  /** When the oldest data was read; null if nothing was read yet. */
  oldestReadAt: Date | null;
  /** What ends within two weeks or has ended, by kind. */
  endings: ReadonlyMap<string, number>;
}

/** To count all flows and logins may take a store some seconds. */
const AGE_MS = 5 * 60_000;
const DAY_MS = 24 * 60 * 60_000;
const PAYMENTS = ['transfer', 'operation'] as const;

/**
 * Reads the state of the profile at most every five minutes.
 *
 * @param contextNow gives the context with the certificates that are in use now
 * @returns a function that gives the last state. It keeps the state before if the store cannot be read now
 */
export function profileStateOf(contextNow: () => Context): () => Promise<ProfileState | undefined> {
  let last: { state: ProfileState; at: number } | undefined;
  let reading: Promise<void> | undefined;
  const read = async () => {
    try {
      const context = contextNow();
      last = { state: await readProfileState(context), at: context.world.now().getTime() };
    } catch (error) {
      // A monitor still gets the other metrics.
      if (!(error instanceof Psd2Error)) throw error;
    }
  };
  return async () => {
    const now = contextNow().world.now().getTime();
    if (last === undefined || now - last.at >= AGE_MS || now < last.at) {
      reading ??= read().finally(() => {
        reading = undefined;
      });
      await reading;
    }
    return last?.state;
  };
}

async function readProfileState(context: Context): Promise<ProfileState> {
  const { flows, results } = await context.store();
  const now = context.world.now();
  const payments = new Map([
    ['unknown', 0],
    ['unsettled', 0],
  ]);
  for (const kind of PAYMENTS)
    for await (const flow of flows.list(kind, { attention: true, onDamaged: () => {} })) {
      const state = stateOfFlow(flow);
      if (state !== undefined) payments.set(state, (payments.get(state) ?? 0) + 1);
    }
  const read = await results.outdated(new Date(now.getTime() + DAY_MS));
  const oldest = read.map(({ since }) => since).toSorted()[0];
  const endings = new Map([
    ['certificate', 0],
    ['login', 0],
    ['consent', 0],
  ]);
  const soon = endingWithin(await allEndings(context, () => {}), now, SOON_DAYS);
  for (const { kind } of soon) endings.set(kind, (endings.get(kind) ?? 0) + 1);
  return { payments, oldestReadAt: oldest === undefined ? null : new Date(oldest), endings };
}

/** Undefined if the payment needs no person. */
function stateOfFlow(flow: FlowOf<Exclude<Kind, 'consent'>>): string | undefined {
  const settles = 'instant' in flow.order && needsSettlement(flow.order);
  if (!needsAttention(flow, settles)) return undefined;
  if (flow.state === 'executing') return 'unknown';
  return flow.state === 'executed' ? 'unsettled' : flow.state;
}
