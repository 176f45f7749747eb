import type { Decides, Sca } from '../../bank/ports/customer.ts';
import { isAuthorised } from '../../domain/authorisations.ts';
import { isLogin } from '../../domain/given-links.ts';
import { endsUnpaid, type StepEvent, type Verification } from '../../domain/operation.ts';
import {
  asksForOther,
  isOnlyChecked,
  type PaymentReading,
  type ResourceStatus,
  readPayment,
  type ScaProgress,
} from '../../domain/payment-answers.ts';
import { Psd2Error } from '../../errors.ts';
import type { FlowPorts, Payment } from '../ports.ts';
import { isBanksRefusal, isInterruption, isRefusal, isTurningAway } from '../refusals.ts';
import { withLinkOut } from './link-out.ts';

// The questions about a payment. Nothing here changes the journal or anything at the bank. What the answers mean is in the domain.

/** How the bank is asked. */
export interface Question {
  /** What the answer decides about a call that was sent. */
  decides?: Decides | undefined;
  /** The payment is in a signing basket that the customer has authorised. */
  isInAuthorisedBasket?: boolean;
}

/**
 * What the bank says of a payment. At a bank with links, it also says how far the authorisation is.
 *
 * @throws Psd2Error `config` at once if the journal is damaged: callers take a refusal by the bank for no answer, and that is none. Else
 *   it rejects, as the bank's calls do
 */
export function lookAt(
  { bank }: { bank: Pick<FlowPorts['bank'], 'sca'> },
  operation: Payment,
  question: Question = {},
): Promise<PaymentReading> {
  resourceOf(operation);
  return look(bank.sca, operation, question);
}

async function look(sca: Sca, operation: Payment, question: Question): Promise<PaymentReading> {
  const first = await lookOnce(sca, operation, question);
  // What ends a payment frees its reference. A gateway may have given the answer to another request.
  const decided = endsUnpaid(first.found)
    ? await lookOnce(sca, operation, { ...question, decides: 'an end' })
    : first;
  if (decided.found.type === 'cancelled' && operation.authorises === 'by links' && !operation.isPaidByLink) {
    const found = await withLinkOut(sca, operation, decided.found, decided);
    if (!operation.isDuplicate || found.type !== 'cancelled') return { ...decided, found };
  }
  if ((!operation.isDuplicate && !operation.isPaidByLink) || !endsUnpaid(decided.found)) return decided;
  // The bank need not say again that there is another one like it, or that the customer has authorised it since.
  const bankWords = 'bank' in decided.found && decided.found.bank ? { bank: decided.found.bank } : {};
  return { ...decided, found: { type: 'execute-unanswered', ...bankWords } };
}

/** Asks the bank's questions once each, and reads the answers. */
async function lookOnce(sca: Sca, operation: Payment, question: Question): Promise<PaymentReading> {
  const { resourceId } = resourceOf(operation);
  const { transactionId, authorises, kind, flow } = operation;
  const { decides, isInAuthorisedBasket = false } = question;
  const advised = (error: unknown) => {
    if (!needsLoginAgain(error, operation)) throw error;
    throw error.with({ hint: 'The customer logs in for it again with:', next: [[kind, 'resume', flow]] });
  };
  const failed = (error: unknown) => (needsLoginAgain(error, operation) ? advised(error) : failureOf(error));
  const askedByLink =
    authorises === 'by links' ? await progressOf(sca, resourceId, operation, decides).catch(failed) : null;
  const byLink = askedByLink ?? doneWithPsd2(operation);
  const status = await sca.status(resourceId, transactionId, decides).catch(advised);
  const said = byLink ?? (await progressWithoutLink(sca, operation, status).catch(failed));
  const failure = said instanceof Psd2Error ? said : null;
  const progress = said instanceof Psd2Error ? null : said;
  const progressFrom = failure ? 'unanswered' : byLink === null ? 'the list' : 'our link';
  const answers = { status, progress, progressFrom, isInAuthorisedBasket } as const;
  const mayHaveOther =
    asksForOther(operation, answers) && (await hasOtherAuthorisation(sca, operation, resourceId));
  const reading = readPayment(operation, { ...answers, mayHaveOther });
  // The bank may say what became of the payment, although it does not say how far the authorisation is.
  if (failure && (reading.found.type === 'authorization' || status.became === 'ordered')) throw failure;
  return reading;
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

/** Whether the bank's word says something new of a payment that it has accepted. */
export function isNews(operation: Payment, found: StepEvent): boolean {
  if (found.type === 'execute-unanswered')
    return !isKnownDuplicate(operation) && !isKnownPaidByLink(operation);
  if (found.type === 'executed')
    return operation.state === 'ordered' || (found.isFinal === true && !operation.isFinal);
  return found.type === 'settlement' || found.type === 'cancelled';
}

/** Whether the journal has it that the bank has rejected a payment because of another one like it. */
export function isKnownDuplicate({ state, isDuplicate }: Pick<Payment, 'state' | 'isDuplicate'>): boolean {
  return state === 'unknown' && isDuplicate;
}

/** Whether the journal has it that the customer has authorised a payment after the bank had cancelled it. */
export function isKnownPaidByLink({ state, isPaidByLink }: Pick<Payment, 'state' | 'isPaidByLink'>): boolean {
  return state === 'unknown' && isPaidByLink;
}

/** Whether the customer may have another authorisation. So it is while the bank itself does not say, whatever another says for it. */
async function hasOtherAuthorisation(
  sca: Sca,
  { transactionId }: Pick<Payment, 'transactionId'>,
  resourceId: string,
): Promise<boolean> {
  const count = (await sca.count?.(resourceId, transactionId).catch(failureOf)) ?? 1;
  return count instanceof Psd2Error ? !isBanksRefusal(count) : count > 1;
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
export async function progressOf(
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
function failureOf(error: unknown): Psd2Error {
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
