import type { Bank } from '../bank/ports/bank.ts';
import type { PaymentCalls } from '../bank/ports/payment-calls.ts';
import type { Consent, ConsentEvent } from '../domain/consent.ts';
import type { ResolvedEvent, ResolvedOutcome } from '../domain/flow.ts';
import { standingOf } from '../domain/flow-states.ts';
import { isPending, type Operation, type OrderTarget, type StepEvent } from '../domain/operation.ts';
import { decidesOutcome, isNews, whatHappened } from '../domain/payment-answers.ts';
import { Psd2Error } from '../errors.ts';
import type { OpenFlow } from '../store/ports/flows.ts';
import { bankFor } from './consent/by-links.ts';
import { PAID_BY_LINK } from './payment/link-out.ts';
import { settlementEvent, settlementIn } from './payment/outcome.ts';
import { askBank } from './payment/status.ts';

/** What the bank says about a flow that a person is about to resolve. */
export interface BankWord<Event> {
  /** Sentences with the bank's own values, or why psd2 could not ask. */
  sentences: string[];
  /** The events for the journal. */
  events: Event[];
  /** The outcome that follows. Null if none does. */
  outcome: ResolvedOutcome | null;
  /** The customer has not decided about it. */
  isOpen?: true;
  /**
   * Records what the person says, unless what the flow is a part of has the bank's word by now: that is returned. Absent: it is no part.
   *
   * @throws Psd2Error `usage` if something else is known of it by now
   */
  unlessSaid?(record: () => Promise<unknown>): Promise<BankWord<Event> | undefined>;
}

export interface ResolvePorts<Flow, Event> {
  /** Asks the bank, and changes nothing there. */
  askBank(flow: Flow): Promise<BankWord<Event>>;
  /** Shows the operator what the bank says. */
  tell(sentences: string[]): void;
  /** Whether the outcome is still open, so that a person may give it. */
  isOpen(flow: Flow): boolean;
  /** Shows the operator the flow and asks for confirmation. False means no. */
  confirm(flow: Flow): Promise<boolean>;
  /** The word for the outcome `executed` in this kind of flow. */
  executedMeans: 'executed' | 'confirmed';
}

/**
 * Ends a flow with an unknown outcome, with the outcome that a person gives (command contract, `resolve`). psd2 first asks
 * the bank again. If the bank's answer decides, psd2 records that answer and not the person's.
 *
 * @param resolution the outcome, the person, and the reason
 * @throws Psd2Error `usage` if the bank says the opposite, `cancelled` if the operator does not confirm
 */
export async function resolveFlow<
  Flow extends { kind: string; flow: string; transactionId: string },
  Event extends { type: string },
>(
  open: OpenFlow<Flow, Event | ResolvedEvent>,
  resolution: Omit<ResolvedEvent, 'type'>,
  ports: ResolvePorts<Flow, Event>,
): Promise<void> {
  const { kind, flow, transactionId } = open.current;
  const take = async ({ events, outcome }: BankWord<Event>) => {
    for (const event of events) await open.record(event);
    if (outcome === null || outcome === resolution.outcome) return;
    const was = outcome === 'executed' ? 'was' : 'was not';
    throw new Psd2Error('usage', `The bank says that the ${kind} ${flow} ${was} ${ports.executedMeans}`, {
      hint: `The bank's answer counts, not --${resolution.outcome}. See it with:`,
      next: [[kind, 'show', flow]],
      flow,
      transactionId,
    });
  };
  const word = await ports.askBank(open.current);
  const { sentences } = word;
  ports.tell(
    word.outcome === null
      ? [...sentences, `This does not show whether it was ${ports.executedMeans}.`]
      : sentences,
  );
  await take(word);
  if (!ports.isOpen(open.current)) return;
  if (!(await ports.confirm(open.current)))
    throw new Psd2Error('cancelled', `The outcome of the ${kind} ${flow} was not recorded`, {
      hint: 'Ask the bank again with:',
      next: [[kind, 'resume', flow]],
      flow,
      transactionId,
    });
  const record = () => open.record({ type: 'resolved', ...resolution });
  if (!word.unlessSaid) return void (await record());
  const late = await word.unlessSaid(record);
  if (late) await take(late);
}

/**
 * Asks the bank once for the outcome of an operation: its execution status, if it has one, and its operation status.
 *
 * @param openBank opens the bank. If this fails, the result has no outcome
 * @throws Psd2Error `interrupted`
 */
export async function askOfOperation(
  openBank: () => Promise<Bank>,
  operation: Operation<OrderTarget>,
  callsOf: (bank: Bank) => Pick<PaymentCalls, 'executionStatus' | 'sca'>,
): Promise<BankWord<StepEvent>> {
  const { verification, transactionId, state } = operation;
  if (!verification) return undecided(['The bank has no resource for it, so psd2 cannot ask.']);
  const { resourceId } = verification;
  const opened = await tryAsking(openBank());
  if ('problem' in opened) return undecided([`psd2 cannot ask the bank: ${opened.problem}.`]);
  const bank = opened.answer;
  const sentences: string[] = [];
  // In the state `executed`, the journal already has the bank's answer to `execute`, with its CRO.
  const executed: StepEvent[] = state === 'executed' ? [] : [{ type: 'executed', cro: null }];

  const { executionStatus, sca = bank.sca } = callsOf(bank);
  if (executionStatus) {
    const first = await tryAsking(executionStatus(resourceId));
    // It frees the reference, and a gateway may have given the answer to another request.
    const isEnd = 'answer' in first && first.answer.status === 'KO';
    const outcomeAnswer = isEnd ? await tryAsking(executionStatus(resourceId, 'an end')) : first;
    if ('problem' in outcomeAnswer) {
      sentences.push(`The bank gave no execution status: ${outcomeAnswer.problem}.`);
    } else {
      const { status, description, said: word, isDuplicate } = settlementIn(outcomeAnswer.answer);
      sentences.push(`Its execution status at the bank is ${word}${description ? ` (${description})` : ''}.`);
      if (status !== 'PENDING' && !isDuplicate) {
        const settlement = settlementEvent(settlementIn(outcomeAnswer.answer), operation);
        return {
          sentences,
          events: [...executed, settlement],
          outcome: status === 'OK' ? 'executed' : 'not-executed',
        };
      }
    }
  }

  const statusAnswer = await tryAsking(sca.status(resourceId, transactionId, true));
  if ('problem' in statusAnswer)
    return undecided([...sentences, `The bank gave no status: ${statusAnswer.problem}.`]);
  sentences.push(describeStatus(statusAnswer.answer));
  const looked =
    operation.authorises === 'by links'
      ? await tryAsking(askBank(sca, operation, { decides: true }))
      : { answer: { event: whatHappened(statusAnswer.answer) } };
  if ('problem' in looked)
    return undecided([
      ...sentences,
      `The bank does not say how far the authorisation is: ${looked.problem}.`,
    ]);
  return wordOf(looked.answer.event, operation, sentences);
}

/** What the bank's status says about the outcome of an operation. */
function wordOf(
  event: StepEvent,
  operation: Operation<OrderTarget>,
  sentences: string[],
): BankWord<StepEvent> {
  const { state } = operation;
  if (event.type === 'executed' || event.type === 'ordered')
    return {
      sentences,
      events: state === 'executed' && !isNews(operation, event) ? [] : [event],
      outcome: 'executed',
    };
  if (event.type === 'execute-unanswered' && (event.isPaidByLink || operation.isPaidByLink))
    return {
      ...undecided([...sentences, `${PAID_BY_LINK}.`]),
      events: isNews(operation, event) ? [event] : [],
    };
  if (event.type === 'execute-unanswered')
    return undecided([...sentences, 'The bank says that it has another one like it.']);
  // What was paid before it ended, or can be paid by a link, only the account shows.
  if (standingOf(operation) === 'kept' || (event.type === 'cancelled' && event.linkUntil !== undefined))
    return undecided(sentences);
  const isDecided = decidesOutcome(event, operation) && (event.type === 'settlement' || state !== 'executed');
  return isDecided ? { sentences, events: [event], outcome: 'not-executed' } : undecided(sentences);
}

/** Asks the bank once for the outcome of a consent, as {@link askOfOperation} does for an operation. */
export async function askOfConsent(
  openBank: () => Promise<Bank>,
  consent: Consent,
): Promise<BankWord<ConsentEvent>> {
  const { resourceId, transactionId } = consent;
  if (resourceId === null) return undecided(['The bank has no resource for it, so psd2 cannot ask.']);
  const opened = await tryAsking(openBank());
  if ('problem' in opened) return undecided([`psd2 cannot ask the bank: ${opened.problem}.`]);
  const statusAnswer = await tryAsking(
    bankFor(opened.answer, consent).sca.status(resourceId, transactionId, true),
  );
  if ('problem' in statusAnswer) return undecided([`The bank gave no status: ${statusAnswer.problem}.`]);
  const sentences = [describeStatus(statusAnswer.answer)];
  const { authorization: decision, became } = statusAnswer.answer;
  if (became === 'executed') return { sentences, events: [{ type: 'confirmed' }], outcome: 'executed' };
  // AUTHORIZED does not show that the consent was confirmed.
  if (isPending(decision)) return { ...undecided(sentences), isOpen: true };
  if (decision.status === 'AUTHORIZED') return undecided(sentences);
  return { sentences, events: [decision], outcome: 'not-executed' };
}

function undecided(sentences: string[]): BankWord<never> {
  return { sentences, events: [], outcome: null };
}

function describeStatus({
  authorizationStatus,
  executionStatus,
}: {
  authorizationStatus: string;
  executionStatus: string | null;
}): string {
  return `At the bank its authorization is ${authorizationStatus}, and its execution is ${executionStatus ?? 'not given'}.`;
}

/** @returns the answer, or the problem as a sentence without its full stop. @throws Psd2Error `interrupted` */
async function tryAsking<T>(work: Promise<T>): Promise<{ answer: T } | { problem: string }> {
  try {
    return { answer: await work };
  } catch (error) {
    if (!(error instanceof Psd2Error) || error.code === 'interrupted') throw error;
    return { problem: error.message };
  }
}
