import type { Decides } from '../../bank/ports/customer.ts';
import type { ExecutionStatus, PaymentCalls } from '../../bank/ports/payment-calls.ts';
import { because } from '../../domain/bank-reason.ts';
import { isAccepted, standingOf } from '../../domain/flow-states.ts';
import { nextOperationStep } from '../../domain/next-step.ts';
import type { SettlementStatus, StepEvent } from '../../domain/operation.ts';
import {
  decidesOutcome,
  decisionIn,
  isKnownDuplicate,
  isKnownPaidByLink,
  isNews,
  newsIn,
} from '../../domain/payment-answers.ts';
import type { BankReason, Psd2Error } from '../../errors.ts';
import { recordFound } from '../once.ts';
import type { FlowPorts, OpenPayment, Payment, Run, WorldPorts } from '../ports.ts';
import { isInterruption, NobodyKnows, outcomeUnknown } from '../refusals.ts';
import { askUntil } from '../sca.ts';
import { endLinkInTime, paidByLink } from './link-out.ts';
import { askBank } from './status.ts';

/** What a step has learnt of the bank. The loop records it. */
export interface Learnt {
  events: StepEvent[];
  /** Why psd2 stops once that is recorded. Null: it goes on. */
  stops: (after: Payment) => Psd2Error | null;
}

/** Asks what became of an operation whose outcome is open. */
export async function findOutcome(run: Run, operation: Payment): Promise<Learnt> {
  const { name } = run.calls;
  const outcome = await whatBecame(run, operation);
  return {
    events: newsIn(outcome, operation),
    stops: (after) => {
      const unknown = unknownByBanksWord(after, name);
      if (unknown) return unknown;
      return outcome ? null : new NobodyKnows(`The bank does not say yet whether the ${name} was executed`);
    },
  };
}

/**
 * Why nobody knows what became of a payment of which the bank has said the last word that it says by itself. Null: that is no such payment.
 *
 * @param name what it is in messages
 */
export function unknownByBanksWord(operation: Payment, name: string): Psd2Error | null {
  if (isKnownPaidByLink(operation)) return paidByLink(operation);
  return isKnownDuplicate(operation) ? rejectedAsDuplicate(operation, name) : null;
}

/** The outcome of an operation, or null. After the customer's yes, a payment that runs without psd2 gets their time for it. */
function whatBecame(run: Run, operation: Payment): Promise<StepEvent[] | null> {
  const { customer, world } = run.ports;
  // An instant payment is over soon after the SCA.
  const isRunning = operation.state === 'authorized' && run.calls.executionStatus === null;
  run.executeEnded ??= Date.parse(operation.updatedAt);
  const ask = () => askOutcome(run, operation, isRunning ? 'once' : 'to the end');
  return customer.whileWaiting(
    `Asking the bank for the outcome of the ${run.calls.name}`,
    isRunning ? askUntil(world, customer.scaTimeoutMs, ask) : ask(),
    isRunning ? customer.scaTimeoutMs : undefined,
  );
}

/** Asks the bank once for the outcome of an `execute` that it refused. @returns whether the status shows one */
export async function recordsOutcome(run: Run, operation: Payment): Promise<boolean> {
  const outcome = await run.ports.customer.whileWaiting(
    `Asking the bank what became of the ${run.calls.name}`,
    askOutcome(run, operation, 'once'),
  );
  if (outcome) await recordFound(run.open, ...outcome);
  return outcome !== null;
}

/**
 * Asks again about an operation that is resumed although it has ended: one that a refusal alone has ended may have been executed
 * all the same, and a bank where the customer commits may still reject or cancel what it has accepted.
 */
export async function askAfterEnd(run: Run): Promise<void> {
  const { open, calls, ports } = run;
  const isDone = nextOperationStep(open.current, calls.executionStatus !== null) === 'done';
  if (!open.current.verification || !isDone) return;
  if (open.current.refusedUnconfirmed) await recordsOutcome(run, open.current);
  await askIfFinal(open, ports);
  await askWhileKept(open, ports);
}

/**
 * Asks the bank about a payment that it has cancelled while a customer had a link that may work, and records what is new: the customer has
 * authorised it since, the link is over by the bank's word, or its time is over.
 */
export async function askWhileKept(
  open: OpenPayment,
  { bank }: { bank: Pick<FlowPorts['bank'], 'sca' | 'clock'> },
): Promise<void> {
  const { state, linkUntil, verification } = open.current;
  if (state !== 'cancelled' || linkUntil === null || !verification) return;
  const decision = decisionIn(await ifAnswered(askBank(bank.sca, open.current)));
  if (decision === null) return;
  if (decision.type !== 'cancelled') await recordFound(open, decision);
  else if (decision.linkUntil === undefined) await recordFound(open, { type: 'link-over' });
  else await endLinkInTime(open, bank);
}

/** What these questions need of the run. */
type Asked = Pick<Run, 'askIfAnswered' | 'resource' | 'calls' | 'executeEnded'> & {
  ports: Pick<FlowPorts, 'world'>;
};

/**
 * Asks for the outcome of an `execute` without an answer, or with a refusal, or of a payment that runs without psd2. Null if the bank's answers do not decide it.
 *
 * @param polls `once`: does not wait for the settlement of an instant transfer
 */
export async function askOutcome(
  run: Asked,
  operation: Payment,
  polls: 'once' | 'to the end' = 'to the end',
): Promise<StepEvent[] | null> {
  const settled = await askIfSettled(run, operation, polls);
  if (settled) return settled;
  const reading = await run.askIfAnswered(operation, { decides: true });
  return reading && decidesOutcome(reading.event, operation) ? [reading.event] : null;
}

/** Asks whether an instant transfer is settled. Null if not, and for operations that have no execution status. */
export async function askIfSettled(
  { ports: { world }, calls: { executionStatus }, resource, executeEnded }: Omit<Asked, 'askIfAnswered'>,
  operation: Payment,
  polls: 'once' | 'to the end',
): Promise<StepEvent[] | null> {
  if (!executionStatus) return null;
  const ask = (decides?: Decides) => executionStatus(resource(operation).resourceId, decides);
  const poll = polls === 'once' ? askSettlementOnce : pollSettlement;
  const settlement = await ifAnswered(poll(world, ask, executeEnded ?? Date.parse(operation.updatedAt)));
  // PENDING does not confirm execution: the bank may report it for a transfer that it never began to execute.
  if (!settlement || settlement.status === 'PENDING') return null;
  // Its authorisation says whether the customer has refused it.
  if (settlement.status === 'KO' && operation.commits === 'by the customer') return null;
  return [{ type: 'executed', cro: null }, settlementEvent(settlement, operation)];
}

/**
 * Asks the bank about a payment that it has accepted, and records what has changed: it has executed or settled it, or has rejected or
 * cancelled it all the same (the standard, section 4, "What a status means").
 */
export async function askIfFinal(
  open: OpenPayment,
  { bank }: { bank: Pick<FlowPorts['bank'], 'sca'> },
): Promise<void> {
  if (!isAccepted(open.current) || !open.current.verification) return;
  const reading = await ifAnswered(askBank(bank.sca, open.current));
  if (reading && isNews(open.current, reading.event)) await recordFound(open, reading.event);
}

/** Whether the bank has accepted a payment, and nobody knows which account it debits. */
export function lacksDebtor(operation: Payment): boolean {
  return operation.order.from === null && operation.debtor === null && standingOf(operation) === 'done';
}

/**
 * Asks once which account the customer has chosen at the bank, if the order names none, and records it. Whatever the bank says,
 * nothing else follows from it.
 */
export async function askDebtor({
  open,
  calls,
}: {
  open: OpenPayment;
  calls: Pick<PaymentCalls, 'debtor'>;
}): Promise<void> {
  const { verification } = open.current;
  if (!lacksDebtor(open.current) || !verification || !calls.debtor) return;
  const account = await ifAnswered(calls.debtor(verification.resourceId));
  if (account !== null) await recordFound(open, { type: 'debtor-named', account });
}

/** The answer, or null after an error. An error decides nothing: the resource may be removed, or the bank may be failing. */
export async function ifAnswered<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (isInterruption(error)) throw error;
    return null;
  }
}

/** Waits for the settlement. @throws Psd2Error `outcome_unknown` if the bank does not answer */
export async function awaitSettlement(run: Run, operation: Payment): Promise<Learnt> {
  const ended = run.executeEnded ?? Date.parse(operation.updatedAt);
  const settlement = await run.ports.customer.whileWaiting(
    'Waiting for the instant transfer to settle',
    askSettlement(run, operation, ended),
  );
  const isStill = `The instant transfer is executed, but its status at the bank is still ${settlement.said ?? 'PENDING'}`;
  return {
    events: [settlementEvent(settlement, operation)],
    stops: () => (settlement.status === 'PENDING' ? new NobodyKnows(isStill) : null),
  };
}

/** The event of a settlement, with the bank's own word if it is a transaction status. */
export function settlementEvent(
  { status, description, said: transactionStatus, reasons, isDuplicate, messages }: Settlement,
  { authorises }: Pick<Payment, 'authorises'>,
): StepEvent {
  const words = { transactionStatus, scaStatus: null, ...(messages && { messages }) };
  const bank = authorises === 'by links' ? { bank: words } : {};
  if (isDuplicate) return { type: 'execute-unanswered', isDuplicate, ...because(reasons), ...bank };
  return { type: 'settlement', status, description, ...(reasons && { reasons }), ...bank };
}

/** What an execution status says. */
export function settlementIn(answer: ExecutionStatus): Settlement {
  const { status, executionStatusDescription: description, reasons, isDuplicate, messages } = answer;
  return {
    status,
    description,
    said: answer.executionStatus,
    ...(reasons && { reasons }),
    ...(isDuplicate && { isDuplicate }),
    ...(messages && { messages }),
  };
}

/** Waits for the settlement of an executed instant transfer. @throws Psd2Error `outcome_unknown` if the bank does not answer */
export async function askSettlement(
  { ports: { world }, calls: { executionStatus }, resource }: Asked,
  operation: Payment,
  executeEnded: number,
): Promise<Settlement> {
  const { resourceId } = resource(operation);
  if (!executionStatus) throw new TypeError(`The bank has no execution status for ${operation.flow}`);
  try {
    return await pollSettlement(world, (decides) => executionStatus(resourceId, decides), executeEnded);
  } catch (error) {
    if (isInterruption(error)) throw error;
    throw new NobodyKnows('The instant transfer is executed, but psd2 could not get its status', error);
  }
}

/** The meaning of an execution status. */
export interface Settlement {
  status: SettlementStatus;
  description: string | null;
  reasons?: BankReason[];
  /** The bank has rejected it because it has another one like it. */
  isDuplicate?: true;
  /** As {@link ExecutionStatus.messages}. */
  messages?: string[];
  /** The bank's own word. Null: it was not asked. */
  said: string | null;
}

/**
 * When psd2 asks for an instant transfer's status, in milliseconds after `execute` ended: first after 1 s, then every 3 to
 * 5 s, last at 15 s (interface specification, "Limits"). The pauses are equal, so a call that starts late on a busy machine
 * is not too close to the next one.
 */
const POLLS_MS = [1_000, 4_500, 8_000, 11_500, 15_000];

/**
 * Asks for the status of an instant transfer until it is final or the time is over. If a transfer is resumed after that
 * time, psd2 asks once, immediately.
 *
 * @param executeEnded milliseconds since 1970
 * @returns the last answer. `PENDING` is not final
 * @throws what `ask` throws, and Psd2Error `interrupted`
 */
export function pollSettlement(
  world: Pick<WorldPorts, 'now' | 'sleep'>,
  ask: (decides?: Decides) => Promise<ExecutionStatus>,
  executeEnded: number,
): Promise<Settlement> {
  return poll(world, ask, executeEnded, POLLS_MS);
}

/** As {@link pollSettlement}, but asks only once, not earlier than at the first poll. */
export function askSettlementOnce(
  world: Pick<WorldPorts, 'now' | 'sleep'>,
  ask: (decides?: Decides) => Promise<ExecutionStatus>,
  executeEnded: number,
): Promise<Settlement> {
  return poll(world, ask, executeEnded, POLLS_MS.slice(0, 1));
}

async function poll(
  world: Pick<WorldPorts, 'now' | 'sleep'>,
  ask: (decides?: Decides) => Promise<ExecutionStatus>,
  executeEnded: number,
  times: readonly number[],
): Promise<Settlement> {
  // The clock may have been set back in the meantime.
  const begun = Math.min(executeEnded, world.now().getTime());
  const late = world.now().getTime() - begun;
  const polls = times.filter((after) => after > late);
  let last: Omit<Settlement, 'status'> = { description: null, said: null };
  for (const [index, after] of (polls.length > 0 ? polls : [late]).entries()) {
    const wait = Math.min(begun + after - world.now().getTime(), after);
    // Skip a call if the previous answer took so long that its time has passed.
    if (wait < 0 && index > 0) continue;
    await world.sleep(Math.max(0, wait));
    const first = await ask();
    // It frees the reference, and a gateway may have given the answer to another request.
    const answer = first.status === 'KO' ? await ask('an end') : first;
    const { status, ...settlement } = settlementIn(answer);
    if (status !== 'PENDING') return { status, ...settlement };
    last = settlement;
  }
  return { status: 'PENDING', ...last };
}

/** The error for a payment that the bank has rejected because it has another one like it. */
function rejectedAsDuplicate(operation: Payment, name: string): Psd2Error {
  const { executionStatusDescription } = operation;
  const why = executionStatusDescription ? `: ${executionStatusDescription}` : '';
  return outcomeUnknown(
    operation,
    `The bank rejected the ${name} because it has another one like it, which may be this ${name} itself${why}`,
  );
}
