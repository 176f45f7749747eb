import type { BeforeSend } from '../../bank/ports/call.ts';
import type { Verified } from '../../bank/ports/payment-calls.ts';
import { because, refusedBecause } from '../../domain/bank-reason.ts';
import type { StepEvent } from '../../domain/operation.ts';
import { Psd2Error } from '../../errors.ts';
import { announcing, type Once, recordFound, recordOutcome } from '../once.ts';
import type { FlowPorts, Payment, Run } from '../ports.ts';
import { hasBegunNothing, isBanksRefusal, isInterruption, isOvertaken, NobodyKnows } from '../refusals.ts';

// The initiation of a payment that the customer commits, of which the answer may be lost: what is written down before it leaves and after
// its answer, and what psd2 does if there is none.

/** If no byte left, it may be sent again. */
export const NOT_BEGUN = { notBegun: { type: 'verify-not-begun' } } as const;

/** The initiation of a payment, as what cannot be undone: the bank may execute it from now on. */
export function initiation(run: Run, operation: Payment, clock: BankClock | null): Once<StepEvent, Verified> {
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
export async function recordVerified(
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

// Some banks promise, for some minutes, the same answer to the same request. Whether that time is over, two clocks must say.

/** The bank's time, and when this machine asked for it. */
export interface BankClock {
  bank: Date;
  askedAt: Date;
}

/**
 * The bank's time, if it matters: for a bank that gives the same answer again for some minutes. Null if it does not, or the bank
 * does not say.
 */
export async function readClock(
  { bank, world }: Pick<FlowPorts, 'bank' | 'world'>,
  { initiation }: Payment,
): Promise<BankClock | null> {
  if (!initiation || initiation.repeatMinutes === null) return null;
  const askedAt = world.now();
  try {
    const time = await bank.clock?.();
    return time ? { bank: time, askedAt } : null;
  } catch (error) {
    if (isInterruption(error)) throw error;
    return null;
  }
}

/** The computers of a bank may differ by so much. */
const MARGIN_MS = 30_000;

/**
 * Whether the bank still gives the same answer. The bank's clock says so, and that of this machine must agree: the initiation may
 * have left another machine, and either clock may have been set since.
 */
export function isRepeatable(
  { initiation, initiatedAt, initiatedAtBank }: Payment,
  clock: BankClock | null,
  now: Date,
): boolean {
  if (!initiation || initiation.repeatMinutes === null || initiatedAt === null) return false;
  if (initiatedAtBank === null || clock === null) return false;
  const sinceAsked = now.getTime() - clock.askedAt.getTime();
  const there = clock.bank.getTime() - Date.parse(initiatedAtBank) + sinceAsked;
  const here = now.getTime() - Date.parse(initiatedAt);
  const passed = Math.max(there, here);
  if (sinceAsked < 0 || here < 0 || Math.abs(there - here) > MARGIN_MS) return false;
  return passed + MARGIN_MS <= initiation.repeatMinutes * 60_000;
}

/** @throws Psd2Error `outcome_unknown` if the time of a repetition is over: the process may have stood still */
export function assertRepeatable(operation: Payment, clock: BankClock | null, now: Date): void {
  if (isRepeatable(operation, clock, now)) return;
  throw new Psd2Error(
    'outcome_unknown',
    'The time in which the bank gives the same answer again may be over, so psd2 has not repeated the initiation',
    { flow: operation.flow, transactionId: operation.transactionId },
  );
}

/**
 * Announces an initiation, last in the log of calls of this machine. A repetition may leave only as long as the bank gives the same
 * answer.
 */
export function initiating(
  { open, ports }: Run,
  beforeSend: BeforeSend,
  clock: BankClock | null,
): BeforeSend {
  return async (intent) => {
    const isRepetition = open.current.executeRequestId === intent.requestId;
    const announced = await beforeSend(intent);
    const { transactionId } = open.current;
    return {
      ...announced,
      async beforeFirstByte() {
        await announced?.beforeFirstByte?.();
        if (isRepetition) assertRepeatable(open.current, clock, ports.world.now());
        else await ports.announces?.({ requestId: intent.requestId, transactionId });
      },
    };
  };
}

/**
 * What to do about a call without a usable answer, before the bank is asked what became of the payment: it may never have left. Of an
 * initiation psd2 does not know what the bank calls the payment, so it cannot ask.
 *
 * @returns false if the bank can be asked
 * @throws Psd2Error `outcome_unknown` if nothing can tell: a person must
 */
export async function isRecovered(run: Run, operation: Payment): Promise<boolean> {
  const { open, calls, ports } = run;
  const { state, commits, flow, executeRequestId, transactionId, isRepeated } = operation;
  if (executeRequestId !== null && !isRepeated && (await ports.neverLeft?.(executeRequestId))) {
    await open.record({ type: commits === 'on execute' ? 'execute-not-begun' : 'verify-not-begun' });
    return true;
  }
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
