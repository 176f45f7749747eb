import type { Announced, BeforeSend, Intent } from '../bank/ports/call.ts';
import { refusedBecause } from '../domain/bank-reason.ts';
import type { AnyFlow } from '../domain/flow.ts';
import { type FlowState, isUntouched } from '../domain/flow-states.ts';
import { endSentence, Psd2Error } from '../errors.ts';
import type { OpenFlow } from '../store/ports/flows.ts';
import {
  hasBegunNothing,
  isAboutContent,
  isBanksRefusal,
  isInterruption,
  isOvertaken,
  isTurningAway,
  NobodyKnows,
  type Told,
  unconfirmedRefusal,
} from './refusals.ts';

// The promise: what cannot be undone is done at most once (command contract, "Money moves at most once"). Three calls are like
// this: `execute`, `confirm` of a consent, and the initiation of a payment that the customer commits. Each goes this way:
//
// 1. The journal announces it. The line is durable before the first byte leaves, and the flow is still this process's own.
// 2. It is sent. If no byte left, the journal says so, and it may be sent again.
// 3. The answer becomes durable. Without a usable one, nobody knows what became of it.
// 4. A refusal is about one delivery of it only: a gateway may have delivered another one. So psd2 asks the bank, and the
//    status decides. It also asks before it sends a call again that the bank turned away unread.

/** The events that revoke an announcement. */
export interface Revoking<Event> {
  /** No byte of the attempt left. */
  notBegun: Event;
  /** The bank says that it refused the attempt unread. Absent if the attempt may have moved money all the same. */
  turnedAway?: Event;
}

/** The error if an announced request never left, and the journal cannot record this: it still has the announcement. */
export class NeverLeft extends Psd2Error {}

/**
 * Announces each attempt of a request in the journal of a flow. The announcement is durable before the request leaves.
 *
 * @param sent makes the event that announces the attempt
 * @param revoking the events that revoke the announcement. If they cannot be recorded, the call throws {@link NeverLeft}
 */
export function announcing<Event>(
  open: Pick<OpenFlow<unknown, Event>, 'record' | 'assertOurs'>,
  sent: (intent: Intent) => Event,
  revoking?: Revoking<Event>,
): BeforeSend {
  return async (intent): Promise<Announced> => {
    await open.record(sent(intent));
    // Another psd2 may have taken over the flow while psd2 opened the connection, or while this process was stopped.
    const beforeFirstByte = () => open.assertOurs();
    if (!revoking) return { beforeFirstByte };
    const { notBegun, turnedAway } = revoking;
    return {
      beforeFirstByte,
      notBegun: () => revoke(open, notBegun),
      ...(turnedAway !== undefined && {
        turnedAway: async () => {
          await open.record(turnedAway);
        },
      }),
    };
  };
}

async function revoke<Event>(open: Pick<OpenFlow<unknown, Event>, 'record'>, notBegun: Event): Promise<void> {
  try {
    await open.record(notBegun);
  } catch (error) {
    if (!(error instanceof Psd2Error) || error.code !== 'config') throw error;
    throw new NeverLeft(
      'config',
      `psd2 has sent nothing, but could not write that down: ${error.message}`,
      error.context,
    );
  }
}

/** A flow with a call that is made once. */
export type OnceFlow = AnyFlow<string> & Told & { commits?: 'on execute' | 'by the customer' };

type Typed = { type: string };

/** Why the bank refused a call, as an event has it. */
export type Why = ReturnType<typeof refusedBecause>;

/** A call that is made at most once, in the words and events of its flow. */
export interface Once<Event, Answer = unknown> {
  open: OpenFlow<OnceFlow, Event>;
  /** In messages: the call, what it is about, and what the bank has done with that if it took the call. */
  words: { call: string; did: string; what: string };
  events: {
    sent(intent: Intent): Event;
    revoking: Revoking<Event>;
    /** Nobody knows what became of it. */
    unanswered(why?: Why): Event;
    /** Nothing but a refusal says that nothing came of it. */
    refused(why: Why): Event;
    /** The bank refused it, and has certainly begun nothing. Null: it may have. */
    begunNothing?(error: unknown): Event | null;
  };
  send(beforeSend: BeforeSend): Promise<Answer>;
  /** Writes the answer down. */
  answered(answer: Answer): Promise<void>;
  /** How psd2 asks what became of it. Null: only the answer says what the bank calls it. */
  asking: Asking<Event> | null;
  /** What a refusal does not prove to have begun nothing cannot run either: nobody has its link. So a new token is worth a try. */
  mayRepeat?: boolean;
}

export interface Asking<Event> {
  /** The bank says that it refused the call unread. */
  turnedAway: Event;
  /** Asks the bank once, and records what it says. @returns false if that decides nothing */
  ask(after: 'refused' | 'turned away'): Promise<boolean>;
  /** Prepares to send it again: psd2 asks before. @returns false if it has sent it again in this run */
  again(): Promise<boolean>;
}

/**
 * Makes a call that cannot be undone, or throws before it has left. Afterwards the journal says what became of it, or that it is
 * unknown.
 *
 * @throws Psd2Error the refusal if nothing came of the call, as far as anybody can say; `outcome_unknown` if it may have; what
 *   prevented it from leaving
 */
export async function sendOnce<Event extends Typed, Answer>(once: Once<Event, Answer>): Promise<void> {
  const { open, events } = once;
  const send = () => once.send(announcing(open, events.sent, events.revoking));
  let answer: Answer;
  try {
    answer = await send().catch((error: unknown) => {
      if (!once.mayRepeat || !isTurningAway(error) || !error.hadToken || !hasBegunNothing(error)) throw error;
      // With a new token.
      return send();
    });
  } catch (error) {
    return withoutSuccess(once, error);
  }
  await once.answered(answer);
}

async function withoutSuccess<Event extends Typed>(once: Once<Event>, error: unknown): Promise<void> {
  const { open, events, asking } = once;
  if (isInterruption(error) || isOvertaken(error) || error instanceof NeverLeft) throw error;
  const nothing = events.begunNothing?.(error);
  if (nothing) {
    await open.record(nothing);
    throw error;
  }
  // Either the call was not announced, because there was no token or the journal could not be written, or the journal already has
  // that it did not begin.
  if (!isAwaited(open.current)) throw error;
  if (!asking) return unproven(once, error);
  if (isTurningAway(error)) return turnedAway(open, asking, error);
  if (isBanksRefusal(error)) return refused(once, error);
  await recordOutcome(open, events.unanswered());
}

/** Nobody can ask the bank, and its answer proves nothing. @throws Psd2Error `outcome_unknown` */
async function unproven<Event extends Typed>({ open, events, words }: Once<Event>, error: unknown) {
  const noProof = error instanceof Psd2Error ? error.noProof : undefined;
  if (noProof === undefined) {
    await recordOutcome(open, events.unanswered());
    const why = `The bank may have ${words.what}, but gave no usable answer to it`;
    throw new NobodyKnows(why, error);
  }
  await recordOutcome(
    open,
    events.unanswered(error instanceof Psd2Error ? refusedBecause(error) : undefined),
  );
  throw new NobodyKnows(`The bank may have ${words.did} ${words.what} in spite of its answer`, error, {
    hint: endSentence(noProof),
  });
}

/** @throws Psd2Error `error`, unless the status shows the outcome, or the call may be sent again now */
async function turnedAway<Event extends Typed>(
  open: Once<Event>['open'],
  asking: Asking<Event>,
  error: Psd2Error,
): Promise<void> {
  await recordOutcome(open, asking.turnedAway);
  if (error.code === 'not_logged_in' && (await asking.again())) return;
  if (!(await asking.ask('turned away'))) throw error;
}

/** @throws Psd2Error unless the bank's status shows the outcome */
export async function refused<Event extends Typed>(once: Once<Event>, error: Psd2Error): Promise<void> {
  const { open, events, asking } = once;
  if (await asking?.ask('refused')) return;
  const why = refusedBecause(error);
  if (isAboutContent(error)) {
    await recordOutcome(open, events.refused(why));
    throw unconfirmedRefusal(open.current, error);
  }
  await recordOutcome(open, events.unanswered(why));
  const { call, did, what } = once.words;
  const shows = asking ? 'its status' : 'this';
  const says = `The bank refused ${call}, but ${shows} does not show whether it had ${did} ${what} before`;
  throw new NobodyKnows(says, error);
}

/**
 * Asks the bank before a call is sent, or sent again.
 *
 * @throws Psd2Error `outcome_unknown` if the call was turned away before, and the bank refuses its status: it may have removed the
 *   resource because it has done what was asked; what `ask` throws
 */
export async function askBefore<Event extends Typed, Found>(
  { open, events, words: { call, did, what } }: Pick<Once<Event>, 'open' | 'events' | 'words'>,
  ask: () => Promise<Found>,
): Promise<Found> {
  try {
    return await ask();
  } catch (error) {
    if (!open.current.refusedUnconfirmed || !isBanksRefusal(error)) throw error;
    await recordOutcome(open, events.unanswered());
    const why = `The bank turned ${call} away, and does not say whether it had ${did} ${what} before`;
    throw new NobodyKnows(why, error);
  }
}

/** The states of a flow whose call was sent, and has no outcome yet. */
function isAwaited({ state }: { state: string }): boolean {
  return state === 'executing' || state === 'confirming';
}

/**
 * Records the outcome of a call that is made once. This also works if this process was stopped before the answer arrived, and
 * another process has taken over the flow without learning the outcome.
 *
 * @throws Psd2Error `outcome_unknown` if the journal of a payment cannot be written
 */
export async function recordOutcome<Event extends Typed>(
  open: OpenFlow<OnceFlow, Event>,
  outcome: Event,
): Promise<void> {
  const { type } = outcome;
  const isDone = type === 'executed' || type === 'confirmed';
  try {
    await open.record(outcome);
  } catch (error) {
    if (!isOvertaken(error)) throw unwritten(open.current, isDone, error);
    // Another psd2 asks the bank now, and decides whether the call may be sent again.
    if (type.endsWith('-turned-away')) throw error;
    const { state, resolution } = await open.reread();
    const isUnknown = state === 'unknown' && !type.endsWith('-unanswered');
    // A person resolved the flow wrongly or too early.
    const isContrary = resolution?.outcome === 'not-executed' && isDone;
    if (isAwaited({ state }) || isUnknown || isContrary) await recordOutcome(open, outcome);
  }
}

/** The error if the outcome could not be written down. */
function unwritten(flow: OnceFlow, isDone: boolean, error: unknown): unknown {
  if (flow.kind === 'consent') return error;
  const sent = flow.commits === 'on execute' ? 'execute' : 'the payment';
  const fact = isDone ? 'The bank has executed it' : `psd2 has sent ${sent}`;
  return new NobodyKnows(`${fact}, but the journal could not be written`, error);
}

/**
 * Records what the bank said afterwards. If another process has taken over the flow, this one continues from what that process
 * wrote. This is safe, because nothing that cannot be undone is sent any more.
 *
 * @returns whether it was recorded
 */
export async function recordFound<Event>(
  open: OpenFlow<unknown, Event>,
  ...events: Event[]
): Promise<boolean> {
  try {
    for (const event of events) await open.record(event);
    return true;
  } catch (error) {
    if (!isOvertaken(error)) throw error;
    await open.reread();
    return false;
  }
}

/** After these errors a flow can continue: nothing is wrong with it. */
const PASSING = ['interrupted', 'overtaken', 'too_many_calls', 'config'];

/** Ends a flow whose command failed before anything reached the bank: there is nothing to continue. */
export async function endIfUntouched(
  open: OpenFlow<{ state: FlowState; reached: boolean }, { type: 'cancelled' }>,
  error: unknown,
): Promise<void> {
  if (!(error instanceof Psd2Error) || !isUntouched(open.current)) return;
  if (PASSING.includes(error.code) && !error.isDeadEnd) return;
  try {
    await open.record({ type: 'cancelled' });
  } catch (problem) {
    // The command has already failed with its own error.
    if (!(problem instanceof Psd2Error)) throw problem;
  }
}
