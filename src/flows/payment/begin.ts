import { refusedBecause } from '../../domain/bank-reason.ts';
import { nextFurtherData, type StepEvent } from '../../domain/operation.ts';
import { decisionIn } from '../../domain/payment-answers.ts';
import { Psd2Error } from '../../errors.ts';
import { announcing, refused, sendOnce } from '../once.ts';
import type { Payment, Run } from '../ports.ts';
import { hasBegunNothing, isBanksRefusal, isRefusal } from '../refusals.ts';
import { initiation, mayExecuteUnseen, NOT_BEGUN, readClock, recordVerified } from './initiation.ts';

/** Why the outcome of an operation is unknown although its journal has no `execute`. */
const SENT_BEFORE = 'The journal is older than what the bank or the log of calls knows';

/** If nothing can have moved, the verification may be sent again. */
const NOTHING_MOVED = { ...NOT_BEGUN, turnedAway: { type: 'verify-not-begun' } } as const;

/** Verifies the order, as a new resource at the bank. If the customer commits, this initiates the payment. */
export async function verify(run: Run, operation: Payment): Promise<void> {
  if (await wasSentBefore(run, operation)) {
    await run.open.record({ type: 'execute-unanswered', description: SENT_BEFORE });
  } else if (operation.commits === 'by the customer') {
    const clock = await readClock(run.ports, operation);
    await sendOnce(initiation(run, operation, clock));
  } else {
    await orRefused(run, async () => {
      const verified = await run.calls.verify(
        announcing<StepEvent>(run.open, (intent) => ({ type: 'verify-sent', ...intent }), NOTHING_MOVED),
      );
      await recordVerified(run, verified, (event) => run.open.record(event));
    });
  }
}

/** Whether psd2 has sent it, although a store that was restored from an older state has lost the lines about it. */
async function wasSentBefore(
  { ports }: Run,
  { commits, reached, transactionId, isBegunAgain }: Payment,
): Promise<boolean> {
  if (commits === 'on execute') return reached && ((await ports.hasSent?.(transactionId)) ?? false);
  const answer = (await ports.initiated?.(transactionId))?.answer ?? 'no';
  return answer === 'answered' || (answer === 'lost' && !isBegunAgain);
}

/** Runs the further step that the bank asks for. @throws Psd2Error `further_data_needed` */
export async function verifyFurther(run: Run, operation: Payment): Promise<void> {
  if (operation.furtherStepOpen) {
    if (await isPastVerification(run, operation)) return;
    // The bank accepts a step only once, and does not say whether it has. A new resource has no steps yet, but if the
    // customer commits, it would be a second payment.
    const isCustomers = operation.commits === 'by the customer';
    await run.open.record({ type: isCustomers ? 'execute-unanswered' : 'verify-again' });
    return;
  }
  const { kind, flow, transactionId } = operation;
  const { resourceId, nextStep } = run.resource(operation);
  const data = nextFurtherData(operation);
  if (data === undefined)
    throw new Psd2Error(
      'further_data_needed',
      `The bank requires further data before SCA, in the step ${nextStep}`,
      {
        hint: 'Give it as JSON: as text, as @file, or as - for standard input. Continue with:',
        next: [[kind, 'resume', flow, '--verify-data', '-']],
        flow,
        transactionId,
      },
    );
  const verifying = async () => {
    const sent = announcing<StepEvent>(run.open, (intent) => ({ type: 'further-verify-sent', ...intent }));
    const verification = await run.calls.verifyFurther(resourceId, nextStep, data, sent);
    await run.open.record({ type: 'further-verified', ...verification });
  };
  await orRefused(run, verifying, () => isPastVerification(run, operation));
}

/**
 * Asks for the status of an operation before its last step of verification, if the bank refused that step or did not answer
 * it. If the customer has decided, which they can do only afterwards, the journal was restored from an older state.
 *
 * @returns whether something was recorded
 */
async function isPastVerification(run: Run, operation: Payment): Promise<boolean> {
  const decides = operation.refusedUnconfirmed;
  const reading = await run.ask(operation, { decides }).catch((error: unknown) => {
    // The bank may have no status before SCA.
    if (isRefusal(error)) return null;
    throw error;
  });
  const event = decisionIn(reading);
  if (event === null) return false;
  const isAuthorized = event.type === 'authorization' && event.status === 'AUTHORIZED';
  await run.open.record(isAuthorized ? { type: 'execute-unanswered', description: SENT_BEFORE } : event);
  return true;
}

/**
 * Runs a step of the verification. A refusal by the bank ends the operation.
 *
 * @param isPast records it if the operation is further than its journal says
 */
async function orRefused(run: Run, step: () => Promise<void>, isPast = async () => false): Promise<void> {
  try {
    await step();
  } catch (error) {
    const isNothing = hasBegunNothing(error);
    if (!isNothing && !isBanksRefusal(error)) throw error;
    if (await isPast()) return;
    if (!isNothing && mayExecuteUnseen(run.open.current))
      return refused(initiation(run, run.open.current, null), error);
    await run.open.record({ type: 'verify-refused', ...refusedBecause(error) });
    throw error;
  }
}
