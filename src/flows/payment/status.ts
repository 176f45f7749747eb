import type { Decides, ResourceStatus, Sca, ScaProgress } from '../../bank/ports/customer.ts';
import { isAuthorised } from '../../domain/authorisations.ts';
import { because } from '../../domain/bank-reason.ts';
import { endsUnpaid, type OrderTarget, type StepEvent, type Verification } from '../../domain/operation.ts';
import { needsSettlement, type TransferOrder } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import { isLogin } from '../linked-sca.ts';
import type { FlowPorts, Payment } from '../ports.ts';
import { isBanksRefusal, isInterruption, isRefusal, isTurningAway } from '../refusals.ts';
import { withLinkOut } from './link-out.ts';

// What the bank's status says of an operation. Nothing here changes the journal or anything at the bank.

/**
 * What the bank's status says of an operation. At a bank with links, it also asks how far the authorisation is: if it has
 * failed, and after that the bank has not accepted the payment, the payment never runs. Nothing follows from it if the
 * customer may have another authorisation.
 *
 * @param decides whether it decides about a call that was sent
 */
export function statusOf(
  ports: { bank: Pick<FlowPorts['bank'], 'sca'> },
  operation: Payment,
  decides?: Decides,
): Promise<StepEvent> {
  // Callers take a refusal by the bank for no answer. A damaged journal is none.
  resourceOf(operation);
  return lookAt(ports, operation, decides).then(({ found }) => found);
}

/**
 * As {@link statusOf}.
 *
 * @param inBasket whether it is in a signing basket that the customer has authorised
 * @returns also whether nothing but the customer's authorisation seems to be missing
 */
export async function lookAt(
  { bank }: { bank: Pick<FlowPorts['bank'], 'sca'> },
  operation: Payment,
  decides?: Decides,
  inBasket = false,
): Promise<Looked> {
  const looked = await lookOnce(bank, operation, decides, inBasket);
  // What ends a payment frees its reference. A gateway may have given the answer to another request.
  const decided = endsUnpaid(looked.found) ? await lookOnce(bank, operation, 'an end', inBasket) : looked;
  if (decided.found.type === 'cancelled' && operation.authorises === 'by links' && !operation.isPaidByLink) {
    const found = await withLinkOut(bank.sca, operation, decided.found, {
      ...{ progress: decided.progress ?? null, saidAt: decided.saidAt },
    });
    if (!operation.isDuplicate || found.type !== 'cancelled') return { ...decided, found };
  }
  if ((!operation.isDuplicate && !operation.isPaidByLink) || !endsUnpaid(decided.found)) return decided;
  // The bank need not say again that there is another one like it, or that the customer has authorised it since.
  const bankWords = 'bank' in decided.found && decided.found.bank ? { bank: decided.found.bank } : {};
  return { ...decided, found: { type: 'execute-unanswered', ...bankWords } };
}

/** What the bank says of a payment. */
export interface Looked {
  found: StepEvent;
  awaitsCustomer: boolean;
  /** Nobody has authorised it so far. */
  isUnauthorised?: true;
  /** The customer has completed the authorisation that psd2 knows. */
  isSigned?: true;
  /** Somebody has authorised it, and others must. `ours`: the authorisation that psd2 began last. */
  partly?: 'ours is open' | 'ours is over';
  /** The authorisation that psd2 began last has failed, and the bank keeps the payment. */
  isOverHere?: true;
  /** How far the authorisation is that psd2 began last, if the bank says so. */
  progress?: ScaProgress;
  /** When the bank said so, by its own clock. */
  saidAt?: string | undefined;
}

async function lookOnce(
  { sca }: Pick<FlowPorts['bank'], 'sca'>,
  operation: Payment,
  decides: Decides,
  inBasket: boolean,
): Promise<Looked> {
  const { resourceId } = resourceOf(operation);
  const { transactionId, authorises, kind, flow } = operation;
  const advised = (error: unknown) => {
    if (!needsLoginAgain(error, operation)) throw error;
    throw error.with({ hint: 'The customer logs in for it again with:', next: [[kind, 'resume', flow]] });
  };
  const failed = (error: unknown) => (needsLoginAgain(error, operation) ? advised(error) : failureOf(error));
  const linked =
    authorises === 'by links' && (await progressOf(sca, resourceId, operation, decides).catch(failed));
  const status = await sca.status(resourceId, transactionId, decides).catch(advised);
  const progress = linked || (await progressWithoutLink(sca, operation, status).catch(failed));
  const unauthorised = status.isUnauthorised ? ({ isUnauthorised: true } as const) : {};
  if (authorises === 'by call') return { found: whatHappened(status), awaitsCustomer: false };
  if (progress instanceof Psd2Error) {
    // The bank says what became of the payment, although it does not say how far the authorisation is.
    const said = { status, progress: null, isNoNews: false, isOverHere: false };
    const found = await linkedStatus(sca, operation, resourceId, said);
    if (found.type === 'authorization' || status.became === 'ordered') throw progress;
    return { found, awaitsCustomer: false, ...unauthorised, saidAt: status.saidAt };
  }
  const own = linked && !(linked instanceof Psd2Error) && { progress: linked };
  const isNoNews = progress === null && !inBasket && saysWhatItSaid(operation, status);
  const isOverHere = progress !== null && failsAlone(operation, progress, status);
  const said = { status, progress, isNoNews, isOverHere };
  const found = await linkedStatus(sca, operation, resourceId, said);
  // What is in a basket never ends because of this: the basket is authorised, and not the payment.
  const awaits = progress ? isGoingOn(progress) : status.awaitsSca === true;
  const awaitsCustomer = isNoNews ? operation.bulk === null && !operation.returned : awaits;
  const signed = progress?.means === 'done' ? ({ isSigned: true } as const) : {};
  const isOver = progress
    ? progress.means === 'done' || progress.means === 'failed'
    : operation.authorisations.length <= 1;
  // As long as the code of this customer's page is missing, nobody has authorised it.
  const isPartly = status.isPartly && progress?.means !== 'needs code';
  const partly = isPartly && ({ partly: isOver ? 'ours is over' : 'ours is open' } as const);
  const over = isOverHere && ({ isOverHere: true } as const);
  const { saidAt } = status;
  return { found, awaitsCustomer, ...unauthorised, ...signed, ...partly, ...over, ...own, saidAt };
}

/** Whether the authorisation has failed, and the bank keeps the payment. What others have authorised may be paid all the same. */
function failsAlone(operation: Payment, { means }: ScaProgress, status: ResourceStatus): boolean {
  if (means !== 'failed' || !status.isStanding || isDone(operation)) return false;
  return status.became !== 'executed' || !operation.authorisations.some(isAuthorised);
}

/**
 * Whether a bank says of a payment only what it said before the customer could authorise it: that it has checked it. The customer may
 * have authorised it since, or not. If they logged in for it, they have.
 */
function saysWhatItSaid(
  { state, transactionStatus, links, bulk, returned }: Payment,
  status: ResourceStatus,
): boolean {
  const isSame = status.authorizationStatus === transactionStatus && state !== 'authorized';
  if (!isSame || !isOnlyChecked(status)) return false;
  if (bulk !== null) return true;
  // Without a way for the customer, the bank has nothing left for them to authorise.
  const hasWay = links !== null && !links.isDone && (isWay(links) || links.start !== undefined);
  return hasWay && !(returned && isLogin(links));
}

function isWay({ redirect, oauth, approach, message }: NonNullable<Payment['links']>): boolean {
  return (redirect ?? oauth ?? message) !== undefined || approach === 'decoupled';
}

/** Whether the bank has checked a payment, and has not accepted it for execution. */
function isOnlyChecked({ authorization, became }: ResourceStatus): boolean {
  return authorization.status === 'AUTHORIZED' && (became === null || became === 'ordered');
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

async function linkedStatus(
  sca: Sca,
  operation: Payment,
  resourceId: string,
  {
    status,
    progress,
    isNoNews,
    isOverHere,
  }: { status: ResourceStatus; progress: ScaProgress | null; isNoNews: boolean; isOverHere: boolean },
): Promise<StepEvent> {
  const cost = status.cost ?? progress?.cost;
  const messages = [...(status.messages ?? []), ...(progress?.message ? [progress.message] : [])];
  const words = {
    ...{ transactionStatus: status.authorizationStatus, scaStatus: progress?.scaStatus ?? null },
    ...(cost && { cost }),
    ...(messages.length > 0 && { messages }),
  };
  // A bank may have checked a payment, for a later day too, before the customer has authorised it.
  const isOpen = isGoingOn(progress) || isNoNews;
  // An instant payment is over soon after the SCA, whatever the bank says of it.
  if (status.isUnauthorised && progress?.means === 'done' && isInstant(operation.order))
    return { ...status.authorization, status: 'AUTHORIZED', bank: words };
  const isOrdered = status.became === 'ordered';
  const isUndecided = isOverHere || (isOpen && isOrdered);
  const happened = { ...(isUndecided ? status.authorization : whatHappened(status)), bank: words };
  const hasFailed = progress?.means === 'failed';
  // The bank rejects what the customer has refused.
  if (hasFailed && status.became === 'failed' && !isDone(operation))
    return {
      ...status.authorization,
      status: 'NOT_AUTHORIZED',
      ...because(status.reasons),
      bank: words,
    };
  if (happened.type !== 'authorization') return happened;
  // What is in a signing basket is authorised with that.
  const isAlone = operation.bulk === null && operation.authorisations.length <= 1;
  if (status.isUnauthorised && hasFailed && isAlone) {
    const hasOther = await hasOtherAuthorisation(sca, operation, resourceId);
    return hasOther ? happened : { ...happened, status: 'NOT_AUTHORIZED' };
  }
  return isOpen && happened.status === 'AUTHORIZED' ? { ...happened, status: 'PENDING' } : happened;
}

function isInstant(order: OrderTarget & Partial<TransferOrder>): boolean {
  return needsSettlement({ instant: order.instant === true, futureDated: order.futureDated === true });
}

function isDone({ state }: Pick<Payment, 'state'>): boolean {
  return state === 'ordered' || state === 'executed' || state === 'settled';
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

function isGoingOn(progress: ScaProgress | null): boolean {
  return progress !== null && progress.means !== 'done';
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

/** The meaning of the bank's operation status: executed, failed, or the customer's decision. */
export function whatHappened({ authorization, became, isFinal, reasons }: ResourceStatus): StepEvent {
  if (became === 'ordered') return { type: 'ordered' };
  if (became === 'executed') return { type: 'executed', cro: null, ...(isFinal && { isFinal }) };
  const why = because(reasons);
  if (became === 'duplicate') return { type: 'execute-unanswered', isDuplicate: true, ...why };
  if (became === 'cancelled') return { type: 'cancelled', ...why };
  return became === 'failed'
    ? { type: 'settlement', status: 'KO', description: null, ...why }
    : authorization;
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
