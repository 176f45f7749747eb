import type { BeforeSend } from '../../bank/ports/call.ts';
import type { PaymentCalls, Verified } from '../../bank/ports/payment-calls.ts';
import { because, refusedBecause } from '../../domain/bank-reason.ts';
import {
  isPending,
  nextFurtherData,
  type Operation,
  type OperationEvent,
  type OrderTarget,
  type StepEvent,
} from '../../domain/operation.ts';
import { Psd2Error } from '../../errors.ts';
import type { OpenFlow } from '../../store/ports/flows.ts';
import { type Once, type Revoking, recordFound, recordOutcome, refused, sendOnce } from '../once.ts';
import type { FlowPorts } from '../ports.ts';
import { hasBegunNothing, isBanksRefusal, isInterruption, isOvertaken, isRefusal } from '../refusals.ts';
import { outcomeUnknown } from '../unknown.ts';
import { assertRepeatable, type BankClock, mayExecuteUnseen, readClock } from './lost-initiation.ts';
import { resourceOf } from './status.ts';

/** The run of an operation, as its verification needs it. */
export interface Verifying<Order extends OrderTarget> {
  open: OpenFlow<Operation<Order>, OperationEvent<Order>>;
  calls: PaymentCalls;
  ports: FlowPorts;
  announcing(
    type: Extract<StepEvent, { digest: string | null }>['type'],
    revoking?: Revoking<StepEvent>,
    more?: { bankTime?: string; psuId?: string },
  ): BeforeSend;
  /** What the bank's status says of it. */
  statusOf(operation: Operation<Order>): Promise<StepEvent>;
}

/** Why the outcome of an operation is unknown although its journal has no `execute`. */
const SENT_BEFORE = 'The journal is older than what the bank or the log of calls knows';

/** If no byte left, or nothing can have moved, the verification may be sent again. */
const NOT_BEGUN = { notBegun: { type: 'verify-not-begun' } } as const;
const NOTHING_MOVED = { ...NOT_BEGUN, turnedAway: { type: 'verify-not-begun' } } as const;

/** Verifies the order, as a new resource at the bank. If the customer commits, this initiates the payment. */
export async function verify<Order extends OrderTarget>(
  run: Verifying<Order>,
  operation: Operation<Order>,
): Promise<void> {
  if (await wasSentBefore(run, operation)) {
    await run.open.record({ type: 'execute-unanswered', description: SENT_BEFORE });
  } else if (operation.commits === 'by the customer') {
    const clock = await readClock(run.ports, operation);
    await sendOnce(initiation(run, operation, clock));
  } else {
    await orRefused(run, async () => {
      const verified = await run.calls.verify(run.announcing('verify-sent', NOTHING_MOVED));
      await recordVerified(run, verified, (event) => run.open.record(event));
    });
  }
}

/** The initiation of a payment, as what cannot be undone: the bank may execute it from now on. */
function initiation<Order extends OrderTarget>(
  run: Verifying<Order>,
  operation: Operation<Order>,
  clock: BankClock | null,
): Once<Operation<Order>, OperationEvent<Order>, Verified> {
  const mayExecute = mayExecuteUnseen(operation);
  const more = clock ? { bankTime: clock.bank.toISOString() } : {};
  return {
    ...{ open: run.open, asking: null },
    words: { call: 'the initiation', did: 'taken', what: `the ${run.calls.name}` },
    events: {
      sent: (intent) => ({ type: 'verify-sent', ...intent, ...more }),
      // The bank may have carried out another delivery of what it turned away, and nobody can ask it.
      revoking: mayExecute ? NOT_BEGUN : NOTHING_MOVED,
      unanswered: (why) => ({ type: 'execute-unanswered', ...why }),
      refused: (why) => ({ type: 'execute-refused', ...why }),
      begunNothing: (error) =>
        hasBegunNothing(error) || (isBanksRefusal(error) && !mayExecute)
          ? { type: 'verify-refused', ...refusedBecause(error) }
          : null,
    },
    send: (beforeSend) => run.calls.verify(beforeSend),
    answered: (verified) => recordVerified(run, verified, (event) => recordInitiated(run, event)),
  };
}

/** Records the answer to a verification. If the bank has rejected the payment in it, it may not have it afterwards, and cannot be asked. */
async function recordVerified<Order extends OrderTarget>(
  run: Verifying<Order>,
  { isRejected, reasons, ...verification }: Verified,
  record: (verified: Extract<StepEvent, { nextStep: string }>) => Promise<unknown>,
): Promise<void> {
  await record({ type: 'verified', ...verification });
  if (!isRejected) return;
  const { bank } = verification;
  const why = { description: null, ...because(reasons) };
  await recordFound<Operation<Order>, OperationEvent<Order>>(run.open, {
    ...{ type: 'settlement', status: 'KO', ...why },
    ...(bank && { bank }),
  });
}

/** Whether psd2 has sent it, although a store that was restored from an older state has lost the lines about it. */
async function wasSentBefore<Order extends OrderTarget>(
  { ports }: Verifying<Order>,
  { initiation, reached, transactionId, isBegunAgain }: Operation<Order>,
): Promise<boolean> {
  if (!initiation) return reached && ((await ports.hasSent?.(transactionId)) ?? false);
  const answer = (await ports.initiated?.(transactionId))?.answer ?? 'no';
  return answer === 'answered' || (answer === 'lost' && !isBegunAgain);
}

/**
 * Repeats an initiation whose answer was lost: the same bytes with the same id. Whatever goes wrong, and whatever the bank
 * refuses now, says nothing of the first attempt.
 *
 * @throws Psd2Error `outcome_unknown` without a usable answer
 */
export async function repeatInitiation<Order extends OrderTarget>(
  run: Verifying<Order>,
  operation: Operation<Order>,
  requestId: string,
  clock: BankClock | null,
): Promise<void> {
  const announce = run.announcing('verify-sent');
  try {
    // Whether the bank has rejected the first attempt, its status says.
    const {
      isRejected: _,
      reasons: _reasons,
      ...verification
    } = await run.calls.verify(async (intent) => {
      const announced = await announce(intent);
      return {
        ...announced,
        async beforeFirstByte() {
          await announced?.beforeFirstByte?.();
          assertRepeatable(operation, clock, run.ports.world.now());
        },
      };
    }, requestId);
    await recordInitiated(run, { type: 'verified', ...verification } as const);
  } catch (error) {
    if (isInterruption(error) || isOvertaken(error)) throw error;
    // The payments of a basket are at the bank already, so that none of them can run twice.
    if (operation.initiation?.service === 'signing-baskets' && hasBegunNothing(error)) {
      await run.open.record({ type: 'verify-refused', ...refusedBecause(error) });
      throw error;
    }
    await recordOutcome(run.open, { type: 'execute-unanswered' });
    throw outcomeUnknown(
      run.open.current,
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
export async function recordsLogged<Order extends OrderTarget>(
  run: Verifying<Order>,
  { transactionId }: Operation<Order>,
): Promise<boolean> {
  const known = await run.ports.initiated?.(transactionId);
  if (known?.answer !== 'answered' || known.resourceId === null) return false;
  const { resourceId } = known;
  const unsaid = { totalAmount: null, commissions: null, bankName: null };
  await recordInitiated(run, { type: 'verified', resourceId, ...unsaid, nextStep: 'authorisation' });
  await run.open.record({ type: 'sca-started' });
  return true;
}

/**
 * Records the answer to an initiation. If another psd2 has taken over the flow meanwhile, the answer is recorded only as long
 * as it is about the initiation that the flow waits for, and this psd2 does nothing more: the other one may send the customer.
 *
 * @throws Psd2Error `overtaken` then, `outcome_unknown` if the journal cannot be written
 */
async function recordInitiated<Order extends OrderTarget>(
  { open }: Verifying<Order>,
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
        throw outcomeUnknown(open.current, error.message);
      }
      if (!isOvertaken(error))
        throw outcomeUnknown(
          open.current,
          'The bank has the payment, but the journal could not be written',
          error,
        );
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
export async function verifyFurther<Order extends OrderTarget>(
  run: Verifying<Order>,
  operation: Operation<Order>,
): Promise<void> {
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
  if (data === undefined) {
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
  }
  const verifying = async () => {
    const sent = run.announcing('further-verify-sent');
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
async function isPastVerification<Order extends OrderTarget>(
  run: Verifying<Order>,
  operation: Operation<Order>,
): Promise<boolean> {
  const status = await run.statusOf(operation).catch((error: unknown) => {
    // The bank may have no status before SCA.
    if (isRefusal(error)) return null;
    throw error;
  });
  if (!status || isPending(status)) return false;
  const isAuthorized = status.type === 'authorization' && status.status === 'AUTHORIZED';
  await run.open.record(isAuthorized ? { type: 'execute-unanswered', description: SENT_BEFORE } : status);
  return true;
}

/**
 * Runs a step of the verification. A refusal by the bank ends the operation.
 *
 * @param isPast records it if the operation is further than its journal says
 */
async function orRefused<Order extends OrderTarget>(
  run: Verifying<Order>,
  step: () => Promise<void>,
  isPast = async () => false,
): Promise<void> {
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
