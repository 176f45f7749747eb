import type { Verified } from '../../bank/ports/payment-calls.ts';
import { because, refusedBecause } from '../../domain/bank-reason.ts';
import { nextFurtherData, type StepEvent } from '../../domain/operation.ts';
import { decisionIn } from '../../domain/payment-answers.ts';
import { Psd2Error } from '../../errors.ts';
import { announcing, type Once, recordFound, recordOutcome, refused, sendOnce } from '../once.ts';
import type { Payment, Run } from '../ports.ts';
import { hasBegunNothing, isBanksRefusal, isOvertaken, isRefusal, NobodyKnows } from '../refusals.ts';
import { type BankClock, initiating, readClock } from './repeatable.ts';
import { resourceOf } from './status.ts';

/** Why the outcome of an operation is unknown although its journal has no `execute`. */
const SENT_BEFORE = 'The journal is older than what the bank or the log of calls knows';

/** If no byte left, or nothing can have moved, the verification may be sent again. */
const NOT_BEGUN = { notBegun: { type: 'verify-not-begun' } } as const;
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

/** The initiation of a payment, as what cannot be undone: the bank may execute it from now on. */
function initiation(run: Run, operation: Payment, clock: BankClock | null): Once<StepEvent, Verified> {
  const more = clock ? { bankTime: clock.bank.toISOString() } : {};
  return {
    open: run.open,
    asking: null,
    words: { call: 'the initiation', did: 'taken', what: `the ${run.calls.name}` },
    events: {
      sent: (intent) => ({ type: 'verify-sent', ...intent, ...more }),
      // The bank may have carried out another delivery of what it turned away, and nobody can ask it.
      revoking: NOT_BEGUN,
      unanswered: (why) => ({ type: 'execute-unanswered', ...why }),
      refused: (why) => ({ type: 'execute-refused', ...why }),
      begunNothing: (error) =>
        hasBegunNothing(error) || isRefusedBasket(operation, error)
          ? { type: 'verify-refused', ...refusedBecause(error) }
          : null,
    },
    mayRepeat: !mayExecuteUnseen(operation),
    send: (beforeSend) => run.calls.verify(initiating(run, beforeSend, clock)),
    answered: (verified) => recordVerified(run, verified, (event) => recordInitiated(run, event)),
  };
}

/** Whether the bank refuses a basket that nobody can have authorised: its payments are at the bank already, each with its own id. */
function isRefusedBasket(operation: Payment, error: unknown): error is Psd2Error {
  const isBasket = operation.initiation?.service === 'signing-baskets';
  return isBasket && isBanksRefusal(error) && !mayExecuteUnseen(operation);
}

/** Records the answer to a verification. If the bank has rejected the payment in it, it may not have it afterwards, and cannot be asked. */
async function recordVerified(
  run: Run,
  { isRejected, isDuplicate, reasons, ...verification }: Verified,
  record: (verified: Extract<StepEvent, { nextStep: string }>) => Promise<unknown>,
): Promise<void> {
  await record({ type: 'verified', ...verification });
  if (!isRejected) return;
  const words = verification.bank ? { bank: verification.bank } : {};
  const why = because(reasons);
  await recordFound(
    run.open,
    isDuplicate
      ? { type: 'execute-unanswered', isDuplicate, ...why, ...words }
      : { type: 'settlement', status: 'KO', description: null, ...why, ...words },
  );
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

/**
 * Records the answer to an initiation. If another psd2 has taken over the flow meanwhile, the answer is recorded only as long
 * as it is about the initiation that the flow waits for, and this psd2 does nothing more: the other one may send the customer.
 *
 * @throws Psd2Error `overtaken` then, `outcome_unknown` if the journal cannot be written
 */
export async function recordInitiated(
  { open }: Run,
  verified: Extract<StepEvent, { nextStep: string }>,
): Promise<void> {
  const { executeRequestId: sent } = open.current;
  for (let overtaken: unknown; ; ) {
    try {
      await open.record(verified);
      if (overtaken !== undefined) throw overtaken;
      return;
    } catch (error) {
      if (error === overtaken) throw error;
      if (isOthers(error)) {
        await recordOutcome(open, { type: 'execute-unanswered' });
        throw new NobodyKnows(error.message);
      }
      if (!isOvertaken(error))
        throw new NobodyKnows('The bank has the payment, but the journal could not be written', error);
      overtaken = error;
      const { executeRequestId, verification, resolution, state } = await open.reread();
      const isAwaited =
        ['executing', 'unknown'].includes(state) && verification === null && resolution === null;
      if (!isAwaited || executeRequestId !== sent) throw error;
    }
  }
}

/** Whether the bank gave a payment the id of another one. The store refuses it, so the payment has no id. */
function isOthers(error: unknown): error is Psd2Error {
  return error instanceof Psd2Error && error.code === 'bank_answer';
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
  const { resourceId, nextStep } = resourceOf(operation);
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

/**
 * Whether a payment whose initiation had no usable answer may run all the same: the bank executes it without SCA, or asks the
 * customer in its app. Elsewhere only a link starts SCA, and nobody has it.
 */
export function mayExecuteUnseen({ commits, initiation }: Pick<Payment, 'commits' | 'initiation'>): boolean {
  return (
    commits === 'by the customer' &&
    initiation !== null &&
    (!initiation.needsLink || initiation.executesWithoutSca !== 'never')
  );
}
