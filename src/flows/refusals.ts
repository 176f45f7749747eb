import type { AnyFlow } from '../domain/flow.ts';
import { type ErrorCode, type ErrorContext, Psd2Error } from '../errors.ts';

// What a refusal means, and what psd2 says if it means nothing: nobody knows what became of what was sent.

/** Whether the bank, or a gateway before it, definitely refused a call, so that it had no effect. */
export function isRefusal(error: unknown): error is Psd2Error {
  return error instanceof Psd2Error && (error.refusal === 'content' || error.refusal === 'other');
}

/**
 * Whether a refusal certainly comes from the bank itself (command contract, "Money moves at most once"). Any other answer, with
 * any status, may come from a gateway that does not know what the bank has done.
 */
export function isBanksRefusal(error: unknown): error is Psd2Error {
  return isRefusal(error) && error.isBanks === true;
}

/**
 * Whether the bank says that it refused a call unread: the token was not valid, or there were too many calls. As
 * {@link isBanksRefusal}, this is about one delivery only.
 */
export function isTurningAway(error: unknown): error is Psd2Error {
  return error instanceof Psd2Error && error.refusal === 'unread' && error.isBanks === true;
}

/**
 * Whether the bank refused what the request contains. Any other refusal may also mean that the bank has done it already
 * (command contract, "Money moves at most once").
 */
export function isAboutContent({ refusal }: Psd2Error): boolean {
  return refusal === 'content';
}

/** Whether the bank refused an initiation, and has certainly begun no payment (the standard, "A refused initiation is refused"). */
export function hasBegunNothing(error: unknown): error is Psd2Error {
  return error instanceof Psd2Error && error.beganNothing === true;
}

/** Whether another psd2 has taken over the flow. This one must not send anything more for it. */
export function isOvertaken(error: unknown): error is Psd2Error {
  return error instanceof Psd2Error && error.code === 'overtaken';
}

/** Whether the operator pressed Ctrl-C. The error then says nothing about the bank. */
export function isInterruption(error: unknown): boolean {
  return !(error instanceof Psd2Error) || error.code === 'interrupted';
}

/**
 * Whether a question may have an answer a moment later: the bank cannot be reached, it is failing, or something else answers for it, as
 * while a gateway starts.
 */
export function isTrouble(error: unknown): error is Psd2Error {
  return (
    error instanceof Psd2Error && (TROUBLES.includes(error.code) || (isRefusal(error) && !error.isBanks))
  );
}
const TROUBLES: readonly ErrorCode[] = ['bank_unreachable', 'bank_failing', 'bank_answer', 'too_many_calls'];

/** What these errors need of a flow. */
export type Told = Pick<AnyFlow<string>, 'flow' | 'transactionId'> & { kind: string };

/**
 * Nobody knows whether the money has moved, or the consent is confirmed. What a step of a flow throws: the loop of the flow adds how to
 * find out ({@link withWayOut}).
 */
export class NobodyKnows extends Psd2Error {
  /** @param cause its words follow @param own what a person does before they look at the usual way out */
  constructor(message: string, cause?: unknown, own: Pick<ErrorContext, 'hint' | 'next'> = {}) {
    const bankWords = cause instanceof Psd2Error ? saidBy(cause) : {};
    const says = cause instanceof Error ? `${message}: ${cause.message}` : message;
    super('outcome_unknown', says, { ...bankWords, ...own, cause });
  }
}

/** The error with how to find out what became of the flow, if it says that nobody knows. Any other error as it is. */
export function withWayOut({ kind, flow, transactionId }: Told, error: unknown): unknown {
  return error instanceof NobodyKnows ? sayingHowToFindOut({ kind, flow, transactionId }, error) : error;
}

/** The error if it is not known whether the money has moved, or the consent is confirmed. It says how to find out. */
export function outcomeUnknown(flow: Told, message: string, cause?: unknown): Psd2Error {
  return sayingHowToFindOut(flow, new NobodyKnows(message, cause));
}

function sayingHowToFindOut({ kind, flow, transactionId }: Told, error: NobodyKnows): Psd2Error {
  const what = kind === 'consent' ? OF_A_CONSENT : 'First ask the bank again, which never pays twice.';
  const { hint, next = [] } = findOut(kind, flow, what);
  return error.with({
    flow,
    hint: error.hint === undefined ? hint : `${error.hint} ${hint}`,
    next: [...(error.next ?? []), ...next],
    transactionId,
  });
}

/** The error for a refusal that nothing confirms: the bank's status does not show what became of the flow. */
export function unconfirmedRefusal({ kind, flow, transactionId }: Told, error: Psd2Error): Psd2Error {
  const what = kind === 'consent' ? OF_A_CONSENT : OF_ONE_DELIVERY;
  return error.with({ ...findOut(kind, flow, what), transactionId });
}

const OF_A_CONSENT = 'First ask the bank again. Also check whether you can read the accounts.';
const OF_ONE_DELIVERY =
  'The bank may have received the request twice, so the reference stays reserved. First ask the bank again, which never pays twice.';

/** The sentence if the bank has not said what became of something. @param name what it is in messages @param why psd2 does not know */
export function isUnsaidOf(name: string, why: unknown): string {
  const since = why instanceof Psd2Error ? why.unaskedSince : undefined;
  const could = since === undefined ? 'does not say' : `could not be asked since ${since}`;
  return `The bank ${could} what became of the ${name}`;
}

/** What the bank said with an error, and what its support asks for. */
export function saidBy({ httpStatus, bankCode, requestId, tppRequestId, reasons }: Psd2Error): ErrorContext {
  return {
    ...(reasons !== undefined && { reasons }),
    ...(httpStatus !== undefined && { httpStatus }),
    ...(bankCode !== undefined && { bankCode }),
    ...(requestId !== undefined && { requestId }),
    ...(tppRequestId !== undefined && { tppRequestId }),
  };
}

/** The commands that find out the outcome of a flow, and those with which a person resolves it if the bank does not say. */
export function findOut(
  kind: string,
  flow: string,
  what: string,
): { flow: string; hint: string; next: string[][] } {
  return {
    flow,
    hint: `${what} If the outcome stays unknown, ask the bank's support or look at the account statement, then record what they say:`,
    next: [
      [kind, 'resume', flow],
      [kind, 'resolve', flow, '--executed'],
      [kind, 'resolve', flow, '--not-executed'],
    ],
  };
}
