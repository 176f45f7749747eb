import type { Bank } from '../bank/call/bank.ts';
import { fetchOperationStatus } from '../bank/endpoints/operations.ts';
import type { Consent, ConsentEvent } from '../domain/consent.ts';
import {
  isExecuted,
  isPending,
  type Operation,
  type OrderTarget,
  readAuthorization,
  type StepEvent,
} from '../domain/operation.ts';
import type { ResolvedEvent, ResolvedOutcome } from '../domain/resolution.ts';
import { Psd2Error } from '../errors.ts';
import type { OpenFlow } from '../store/ports/flows.ts';
import type { OperationCalls } from './operation.ts';
import { whatHappened } from './outcome/ask-operation.ts';
import { readSettlementStatus } from './outcome/settlement.ts';

/** What the bank says of a flow that a person is about to end. */
export interface BankWord<Event> {
  /** In its own words, or why it could not be asked: sentences. */
  sentences: string[];
  /** What the journal is to have of it. */
  events: Event[];
  /** What that decides; null where it decides nothing. */
  outcome: ResolvedOutcome | null;
}

export interface ResolvePorts<Flow, Event> {
  /** Asks the bank, and changes nothing there. */
  askBank(flow: Flow): Promise<BankWord<Event>>;
  /** Shows the operator what the bank says. */
  tell(sentences: string[]): void;
  /** The outcome is still open: a person may say it. */
  isOpen(flow: Flow): boolean;
  /** Shows the operator the flow and asks; false means no. */
  confirm(flow: Flow): Promise<boolean>;
  /** What the outcome `executed` is called of this kind of flow. */
  executedMeans: 'executed' | 'confirmed';
}

/**
 * Ends a flow whose outcome is unknown by what a person says (command contract, `resolve`). The bank is asked once more
 * first, and where its answer decides, that is written down and not what the person said.
 *
 * @param said the outcome, who says so, and why
 * @throws Psd2Error `usage` where the bank says the contrary, `cancelled` where the operator said no
 */
export async function resolveFlow<
  Flow extends { kind: string; flow: string; transactionId: string },
  Event extends { type: string },
>(
  open: OpenFlow<Flow, Event | ResolvedEvent>,
  said: Omit<ResolvedEvent, 'type'>,
  ports: ResolvePorts<Flow, Event>,
): Promise<void> {
  const { kind, flow, transactionId } = open.current;
  const { sentences, events, outcome } = await ports.askBank(open.current);
  ports.tell(
    outcome === null
      ? [...sentences, `That does not tell whether it was ${ports.executedMeans}.`]
      : sentences,
  );
  for (const event of events) await open.record(event);
  if (outcome !== null && outcome !== said.outcome) {
    const was = outcome === 'executed' ? 'was' : 'was not';
    throw new Psd2Error('usage', `The bank says that the ${kind} ${flow} ${was} ${ports.executedMeans}`, {
      hint: `That counts, and --${said.outcome} does not. See it with:`,
      next: [[kind, 'show', flow]],
      flow,
      transactionId,
    });
  }
  if (!ports.isOpen(open.current)) return;
  if (!(await ports.confirm(open.current))) {
    throw new Psd2Error('cancelled', `What became of the ${kind} ${flow} was not written down`, {
      hint: 'Ask the bank again with:',
      next: [[kind, 'resume', flow]],
      flow,
      transactionId,
    });
  }
  await open.record({ type: 'resolved', ...said });
}

/**
 * Asks the bank once what became of an operation: for its execution status, where it has one, and for its operation
 * status.
 *
 * @param openBank the way to the bank; where it can't be opened, the bank's word decides nothing
 * @throws Psd2Error `interrupted`
 */
export async function askOfOperation(
  openBank: () => Promise<Bank>,
  operation: Operation<OrderTarget>,
  executionStatusOf: (bank: Bank) => OperationCalls['executionStatus'],
): Promise<BankWord<StepEvent>> {
  const { verification, transactionId, state } = operation;
  if (!verification) return undecided(['The bank has no resource of it that could be asked about.']);
  const { resourceId } = verification;
  const opened = await attempt(openBank());
  if ('problem' in opened) return undecided([`The bank can't be asked: ${opened.problem}.`]);
  const bank = opened.answer;
  const sentences: string[] = [];
  // The bank's yes to `execute` is on disk already, with its reference code.
  const executed: StepEvent[] = state === 'executed' ? [] : [{ type: 'executed', cro: null }];

  const executionStatus = executionStatusOf(bank);
  if (executionStatus) {
    const asked = await attempt(executionStatus(resourceId));
    if ('problem' in asked) {
      sentences.push(`The bank does not tell its execution status: ${asked.problem}.`);
    } else {
      const { executionStatus: word, executionStatusDescription: description } = asked.answer;
      sentences.push(`The bank calls its execution ${word}${description ? ` (${description})` : ''}.`);
      const status = readSettlementStatus(word);
      if (status !== 'PENDING') {
        const settlement: StepEvent = { type: 'settlement', status, description };
        return {
          sentences,
          events: [...executed, settlement],
          outcome: status === 'OK' ? 'executed' : 'not-executed',
        };
      }
    }
  }

  const asked = await attempt(fetchOperationStatus(bank, resourceId, transactionId));
  if ('problem' in asked) {
    return undecided([...sentences, `The bank does not tell its status: ${asked.problem}.`]);
  }
  sentences.push(describeStatus(asked.answer));
  const found = whatHappened(asked.answer);
  if (found.type === 'executed') return { sentences, events: executed, outcome: 'executed' };
  const isRejected =
    found.type === 'authorization' && found.status === 'NOT_AUTHORIZED' && state !== 'executed';
  const isDecided = found.type === 'settlement' || isRejected;
  return isDecided ? { sentences, events: [found], outcome: 'not-executed' } : undecided(sentences);
}

/** Asks the bank once what became of a consent: as {@link askOfOperation}. */
export async function askOfConsent(
  openBank: () => Promise<Bank>,
  { resourceId, transactionId }: Consent,
): Promise<BankWord<ConsentEvent>> {
  if (resourceId === null) return undecided(['The bank has no resource of it that could be asked about.']);
  const opened = await attempt(openBank());
  if ('problem' in opened) return undecided([`The bank can't be asked: ${opened.problem}.`]);
  const asked = await attempt(fetchOperationStatus(opened.answer, resourceId, transactionId));
  if ('problem' in asked) return undecided([`The bank does not tell its status: ${asked.problem}.`]);
  const sentences = [describeStatus(asked.answer)];
  const { authorizationStatus, executionStatus } = asked.answer;
  if (isExecuted(executionStatus)) return { sentences, events: [{ type: 'confirmed' }], outcome: 'executed' };
  const decision = readAuthorization(authorizationStatus);
  // That the customer has authorised it does not say that it was confirmed.
  if (decision.status === 'AUTHORIZED' || isPending(decision)) return undecided(sentences);
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
  return `The bank calls its authorization ${authorizationStatus}, its execution ${executionStatus ?? 'nothing'}.`;
}

/** @returns the answer, or in a sentence without its full stop why there is none. @throws Psd2Error `interrupted` */
async function attempt<T>(work: Promise<T>): Promise<{ answer: T } | { problem: string }> {
  try {
    return { answer: await work };
  } catch (error) {
    if (!(error instanceof Psd2Error) || error.code === 'interrupted') throw error;
    return { problem: error.message };
  }
}
