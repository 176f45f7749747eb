import type { Decides, Sca } from '../../bank/ports/customer.ts';
import { isAuthorised } from '../../domain/authorisations.ts';
import { isLogin } from '../../domain/given-links.ts';
import { endsUnpaid, type Verification } from '../../domain/operation.ts';
import {
  asksForOther,
  isOnlyChecked,
  type PaymentAnswers,
  type PaymentReading,
  type ResourceStatus,
  readPayment,
  type ScaProgress,
  unlessKnownBetter,
} from '../../domain/payment-answers.ts';
import { Psd2Error } from '../../errors.ts';
import type { Payment, PaymentQuestion } from '../ports.ts';
import { isBanksRefusal, isInterruption, isRefusal, isTurningAway } from '../refusals.ts';
import { withLinkOut } from './link-out.ts';

// The questions about a payment. Nothing here changes the journal or anything at the bank. What the answers mean is in the domain.

/**
 * What the bank says of a payment. At a bank with links, it also says how far the authorisation is.
 *
 * @throws Psd2Error `config` at once if the journal is damaged: callers take a refusal by the bank for no answer, and that is none. Else
 *   it rejects, as the bank's calls do
 */
export function askBank(
  sca: Sca,
  operation: Payment,
  question: PaymentQuestion = {},
): Promise<PaymentReading> {
  return readTwice(sca, operation, question, resourceOf(operation));
}

async function readTwice(
  sca: Sca,
  operation: Payment,
  question: PaymentQuestion,
  resource: Pick<Verification, 'resourceId'>,
): Promise<PaymentReading> {
  const first = readAnswers(operation, await askOnce(sca, operation, question, resource));
  // What ends a payment frees its reference. A gateway may have given the answer to another request.
  const reading = endsUnpaid(first.event)
    ? readAnswers(operation, await askOnce(sca, operation, { ...question, decides: 'an end' }, resource))
    : first;
  const mayHaveLink = operation.authorises === 'by links' && !operation.isPaidByLink;
  if (reading.event.type !== 'cancelled' || !mayHaveLink) return unlessKnownBetter(operation, reading);
  const event = await withLinkOut(sca, operation, reading.event, reading);
  if (!operation.isDuplicate || event.type !== 'cancelled') return { ...reading, event };
  return unlessKnownBetter(operation, reading);
}

/** What a bank answered to the questions about a payment, and what it failed to say. */
interface Answers extends PaymentAnswers {
  /** Why the bank does not say how far the authorisation is. Null: it says so, or has nothing to say. */
  failure: Psd2Error | null;
}

/** @throws what the bank failed with, if nothing else says what became of the payment */
function readAnswers(operation: Payment, { failure, ...answers }: Answers): PaymentReading {
  const reading = readPayment(operation, answers);
  // The bank may say what became of the payment, although it does not say how far the authorisation is.
  if (failure && (reading.event.type === 'authorization' || answers.status.became === 'ordered'))
    throw failure;
  return reading;
}

/** Asks the bank's questions, once each. */
async function askOnce(
  sca: Sca,
  operation: Payment,
  question: PaymentQuestion,
  { resourceId }: Pick<Verification, 'resourceId'>,
): Promise<Answers> {
  const { transactionId, authorises, kind, flow } = operation;
  const { decides, isInAuthorisedBasket = false } = question;
  const advised = (error: unknown) => {
    if (!needsLoginAgain(error, operation)) throw error;
    throw error.with({ hint: 'The customer logs in for it again with:', next: [[kind, 'resume', flow]] });
  };
  const failed = (error: unknown) =>
    needsLoginAgain(error, operation) ? advised(error) : bankFailure(error);
  const askedByLink =
    authorises === 'by links' ? await askProgress(sca, resourceId, operation, decides).catch(failed) : null;
  const byLink = askedByLink ?? doneWithPsd2(operation);
  const status = await sca.status(resourceId, transactionId, decides).catch(advised);
  const answer = byLink ?? (await progressWithoutLink(sca, operation, status).catch(failed));
  const failure = answer instanceof Psd2Error ? answer : null;
  const progress = answer instanceof Psd2Error ? null : answer;
  const progressFrom = failure ? 'unanswered' : byLink === null ? 'the list' : 'our link';
  const answers = { status, progress, progressFrom, isInAuthorisedBasket } as const;
  const mayHaveOther =
    asksForOther(operation, answers) && (await hasOtherAuthorisation(sca, operation, resourceId));
  return { ...answers, mayHaveOther, failure };
}

/**
 * Whether the bank wants the token of the customer's login with a payment that they may not have authorised yet, and does not
 * accept what psd2 has. Only another login gives one.
 */
export function needsLoginAgain(
  error: unknown,
  { state, links }: Pick<Payment, 'state' | 'links'>,
): error is Psd2Error {
  const logsIn = state === 'authorizing' && links !== null && isLogin(links);
  return logsIn && isTurningAway(error) && error.code === 'not_logged_in';
}

/** Whether the customer may have another authorisation. So it is while the bank itself does not say, whatever another says for it. */
async function hasOtherAuthorisation(
  sca: Sca,
  { links, transactionId }: Pick<Payment, 'links' | 'transactionId'>,
  resourceId: string,
): Promise<boolean> {
  const listed = (await sca.authorisations?.(resourceId, transactionId).catch(bankFailure)) ?? [];
  if (listed instanceof Psd2Error) return !isBanksRefusal(listed);
  const ours = links?.id;
  return ours === undefined ? listed.length > 1 : listed.some((id) => id !== ours);
}

/**
 * The authorisation that the bank has called done in its answer to the customer's TAN: some banks know it no more from then on. Null: it has
 * not.
 */
function doneWithPsd2({ authorisations, credentials, links }: Payment): ScaProgress | null {
  const ours = authorisations.find(({ id }) => id === (links?.id ?? null));
  if (credentials.length === 0 || !ours || !isAuthorised(ours) || ours.scaStatus === null) return null;
  return { scaStatus: ours.scaStatus, means: 'done', message: null };
}

/** How far the authorisation is. Null if the bank does not say. */
export async function askProgress(
  sca: Sca,
  resourceId: string,
  { links, transactionId }: Pick<Payment, 'links' | 'transactionId'>,
  decides?: Decides,
): Promise<ScaProgress | null> {
  if (!links || !sca.progress) return null;
  return sca.progress(resourceId, links, transactionId, decides).catch(noneIfRefused);
}

/**
 * How far the authorisation is, by the bank's list of them, of a payment that the bank has only checked: a bank may have checked it before the
 * customer has authorised it. Null if the bank does not say.
 */
async function progressWithoutLink(
  sca: Sca,
  { authorises, bulk, links, transactionId, verification }: Payment,
  status: ResourceStatus,
): Promise<ScaProgress | null> {
  const isAlone = authorises === 'by links' && bulk === null && !links?.isDone;
  if (!isOnlyChecked(status) || !isAlone || !verification || !sca.progressWithoutLink) return null;
  try {
    return await sca.progressWithoutLink(verification.resourceId, transactionId);
  } catch (error) {
    // Not every bank has these calls.
    if (isRefusal(error) || (error instanceof Psd2Error && error.code === 'bank_answer')) return null;
    throw error;
  }
}

/** The bank's failure. @throws what is none */
function bankFailure(error: unknown): Psd2Error {
  if (error instanceof Psd2Error && !isInterruption(error)) return error;
  throw error;
}

function noneIfRefused(error: unknown): null {
  if (isRefusal(error)) return null;
  throw error;
}

/** The operation's resource at the bank. @throws Psd2Error `config` if the journal has none */
export function resourceOf({ flow, verification }: Pick<Payment, 'flow' | 'verification'>): Verification {
  if (!verification) throw lackingResource(flow);
  return verification;
}

/** The error for a flow whose state requires a resource at the bank, but whose journal has none. */
export function lackingResource(flow: string): Psd2Error {
  return new Psd2Error(
    'config',
    `The journal of ${flow} does not have the line with its resource at the bank`,
    { hint: 'The journal is the record of a flow. Restore it from a backup.' },
  );
}
