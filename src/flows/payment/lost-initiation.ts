import { because, refusedBecause } from '../../domain/bank-reason.ts';
import type { StepEvent } from '../../domain/operation.ts';
import { announcing, recordFound, recordOutcome } from '../once.ts';
import type { FlowPorts, Payment, Run } from '../ports.ts';
import { hasBegunNothing, isInterruption, isOvertaken, NobodyKnows } from '../refusals.ts';
import { mayExecuteUnseen, recordInitiated } from './begin.ts';
import { type BankClock, initiating, isRepeatable, readClock } from './repeatable.ts';

/**
 * What to do about a payment whose initiation has no usable answer. psd2 does not know what the bank calls it, so it cannot ask.
 *
 * @returns false if it is not such a payment
 * @throws Psd2Error `outcome_unknown` if nothing can tell: a person must
 */
export async function isRecovered(run: Run, operation: Payment): Promise<boolean> {
  const { open, calls, ports } = run;
  const { state, commits, flow, executeRequestId, transactionId } = operation;
  const isSent = state === 'unknown' || (state === 'executing' && commits === 'by the customer');
  if (operation.verification || !isSent) return false;
  if (await wasRefused(operation, ports)) {
    await open.record({ type: 'verify-refused', description: REFUSED_BY_THE_LOG });
    return true;
  }
  const clock = await readClock(ports, operation);
  const way = await recoveryOf(operation, ports, clock);
  if (way === 'repeat' && executeRequestId !== null) {
    await repeatInitiation(run, operation, executeRequestId, clock);
    return true;
  }
  if (way === 'begin again') {
    ports.returns?.say(
      `The answer to the initiation was lost. Nobody has the link to authorise that ${calls.name}, so psd2 initiates it again under the same reference.`,
    );
    await open.record({ type: 'initiate-again' });
    return true;
  }
  if (await recordsLogged(run, operation)) return true;
  if (state !== 'unknown' && !(await recordFound(open, { type: 'execute-unanswered' }))) return true;
  const isAnswered = (await ports.initiated?.(transactionId))?.answer === 'answered';
  throw new NobodyKnows(
    isAnswered
      ? `The bank has answered the initiation, but the journal of ${flow} does not have the answer. It may be older than a link that the customer has, so psd2 initiates nothing`
      : `The journal of ${flow} does not say which resource of the bank it has, so psd2 cannot ask whether the ${calls.name} was executed`,
  );
}

const REFUSED_BY_THE_LOG = 'the log of calls has a refusal that proves that the bank has begun nothing';

/** Whether psd2 was killed between a refusal that proves that nothing began, and its record. */
async function wasRefused(
  { executeRequestId, isRepeated, transactionId }: Payment,
  { initiated }: Pick<FlowPorts, 'initiated'>,
): Promise<boolean> {
  // A refusal of a repetition may be about the repetition alone.
  if (executeRequestId === null || isRepeated) return false;
  const logged = await initiated?.(transactionId);
  return logged?.answer !== 'answered' && (logged?.refused ?? []).includes(executeRequestId);
}

/**
 * What psd2 does about an initiation whose answer was lost, by what the bank file said when the flow began (the standard,
 * section 4, "Nothing twice"):
 *
 * - `repeat`: the same bytes with the same id give the same payment
 * - `begin again`: the bank runs nothing without SCA, and nobody holds the link that the customer would need
 *
 * @returns null if nothing can tell: a person must
 */
export async function recoveryOf(
  operation: Payment,
  { world, initiated }: Pick<FlowPorts, 'world' | 'initiated'>,
  clock: BankClock | null,
): Promise<'repeat' | 'begin again' | null> {
  const { commits, initiation, executeRequestId, verification, transactionId } = operation;
  if (commits === 'on execute' || !initiation || executeRequestId === null || verification) return null;
  if (isRepeatable(operation, clock, world.now())) return 'repeat';
  if (mayExecuteUnseen(operation)) return null;
  const logged = await initiated?.(transactionId);
  // If there was an answer, the journal is older than it, and the customer may hold the link. Only the machine that was about to send
  // it knows whether there was.
  if (logged?.answer === 'answered' || !logged?.announced?.includes(executeRequestId)) return null;
  return 'begin again';
}

/**
 * Repeats an initiation whose answer was lost: the same bytes with the same id. Whatever goes wrong, and whatever the bank
 * refuses now, says nothing of the first attempt.
 *
 * @throws Psd2Error `outcome_unknown` without a usable answer
 */
export async function repeatInitiation(
  run: Run,
  operation: Payment,
  requestId: string,
  clock: BankClock | null,
): Promise<void> {
  const announce = announcing<StepEvent>(run.open, (intent) => ({ type: 'verify-sent', ...intent }));
  try {
    // Whether the bank has rejected the first attempt, its status says.
    const {
      isRejected: _,
      isDuplicate,
      reasons,
      ...verification
    } = await run.calls.verify(initiating(run, announce, clock), requestId);
    await recordInitiated(run, { type: 'verified', ...verification } as const);
    // The other one is the first attempt.
    if (isDuplicate) await run.open.record({ type: 'execute-unanswered', isDuplicate, ...because(reasons) });
  } catch (error) {
    if (isInterruption(error) || isOvertaken(error)) throw error;
    // The payments of a basket are at the bank already, so that none of them can run twice.
    if (operation.initiation?.service === 'signing-baskets' && hasBegunNothing(error)) {
      await run.open.record({ type: 'verify-refused', ...refusedBecause(error) });
      throw error;
    }
    await recordOutcome(run.open, { type: 'execute-unanswered' });
    throw new NobodyKnows(
      `psd2 has repeated the initiation, but the bank gave no usable answer to it`,
      error,
    );
  }
}

/**
 * The journal does not have the answer to an initiation, because psd2 was killed or the journal was restored. If the log of
 * calls has what the bank called the payment, the bank can be asked about it. Somebody may have its link, so psd2 asks before
 * it sends the customer anywhere.
 *
 * @returns whether it has
 * @throws Psd2Error `outcome_unknown` if another flow has this payment
 */
export async function recordsLogged(run: Run, { transactionId }: Payment): Promise<boolean> {
  const logged = await run.ports.initiated?.(transactionId);
  if (logged?.answer !== 'answered' || logged.resourceId === null) return false;
  const { resourceId } = logged;
  const unsaid = { totalAmount: null, commissions: null, bankName: null };
  await recordInitiated(run, { type: 'verified', resourceId, ...unsaid, nextStep: 'authorisation' });
  await run.open.record({ type: 'sca-started' });
  return true;
}
