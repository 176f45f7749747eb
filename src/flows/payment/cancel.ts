import type { Bank } from '../../bank/ports/bank.ts';
import type { BeforeSend } from '../../bank/ports/call.ts';
import type { Decides, Sca, ScaLinks } from '../../bank/ports/customer.ts';
import type { CancellationAnswer, PaymentCalls } from '../../bank/ports/payment-calls.ts';
import { entriesOfPersons, hasAuthorised, isAuthorised, isUnderWay } from '../../domain/authorisations.ts';
import { standingOf } from '../../domain/flow-states.ts';
import { endsUnpaid, type StepEvent } from '../../domain/operation.ts';
import { decidesOutcome, type ResourceStatus, type ScaProgress } from '../../domain/payment-answers.ts';
import { endSentence, Psd2Error } from '../../errors.ts';
import { announcingGift, type GiftRecord, recordLoggedGifts } from '../gifts.ts';
import {
  authoriseByLinks,
  type LinkedRecord,
  type LinkedSubject,
  lacksReturn,
  returnAddress,
} from '../linked-sca.ts';
import { isNotKnown, notKnownThere } from '../not-known.ts';
import { announcing, recordFound } from '../once.ts';
import type { FlowPorts, OpenPayment, Payment, ReturnPorts } from '../ports.ts';
import { findOut, isInterruption, isOvertaken, isRefusal, isTrouble, isUnsaidOf } from '../refusals.ts';
import { askUntil, timedOut } from '../sca.ts';
import {
  isOnlyAStop,
  namingNext,
  namingPerson,
  onlyAsking,
  othersIn,
  stillOpen,
  unlessOpen,
  whoDid,
} from '../still-open.ts';
import { cancellationLinkUntil, laterOf, paidByLink, recordSigned, withLinkOut } from './link-out.ts';
import { askBank, askProgress, resourceOf } from './status.ts';

/** Without SCA the bank cancels a payment within a moment. */
const SHORTLY_MS = 10_000;

/** The SCA of a cancellation. The journal has who authorises it, and no links. */
interface CancellationSca {
  links: ScaLinks | null;
  sentCode: boolean;
  /** Since when the bank says that this person has authorised it, in milliseconds since 1970. Null: it does not. */
  doneAt: number | null;
  /** The customer has it, and has not decided, when psd2 asked last. */
  isGoingOn: boolean;
  /** How often the bank has said, one time after the other, that others must authorise it, too. */
  looksPartly: number;
  /** The bank has said that the customer has nothing more to do. */
  isOver?: boolean;
  /** The customer has given psd2 something for it. */
  hasGiven?: boolean;
}

/**
 * Cancels a payment at a bank where the customer commits (the standard, section 2, `DELETE`). If the bank wants it, the customer
 * authorises the cancellation. Only the bank's status ends the payment: an answer to the request alone does not.
 *
 * @returns the operation, which the bank has cancelled or rejected
 * @throws Psd2Error `usage` if the bank does not cancel it, `payment_failed`… as the bank refuses; `not_authorised` if the
 *   customer does not authorise the cancellation of what they have authorised; `bank_refused` if the bank has executed it;
 *   `still_open` if somebody can still authorise the cancellation, or the payment; `outcome_unknown` if the bank does not say that
 *   it is cancelled; this or `certificate` if it does not know the payment, and has not taken the cancellation
 */
export async function cancelAtBank(
  open: OpenPayment,
  calls: PaymentCalls,
  ports: FlowPorts,
  returns: ReturnPorts,
): Promise<Payment> {
  const authorisation: CancellationSca = {
    links: null,
    sentCode: false,
    doneAt: null,
    isGoingOn: false,
    looksPartly: 0,
  };
  try {
    return await askToCancel(open, calls, ports, returns, authorisation);
  } catch (error) {
    throw authorisation.links === null && !authorisation.hasGiven
      ? error
      : leftOpen(open.current, calls.name, error, returns);
  }
}

/** The error if psd2 stopped after a customer had the link to a cancellation. */
function leftOpen(payment: Payment, name: string, error: unknown, returns: ReturnPorts): unknown {
  if (!isOnlyAStop(error) || error.isDeadEnd) return error;
  // They have refused the cancellation, so the payment is as it was.
  if (error.code === 'not_authorised') return unlessOpen(payment, error, whoCanPay(payment));
  const isPasted = error.next?.some((words) => words.includes('--paste'));
  if (isTrouble(error)) return notSaid(payment, name, error);
  return stillOpen(payment, error, {
    what: 'cancellation',
    ...(returns.psuId !== undefined && { who: returns.psuId }),
    ...(!isPasted && {
      ask: [onlyAsking(payment), ...(returns.person ? [cancelling(payment, returns)] : [])],
    }),
  });
}

/** Who can still authorise a payment, if psd2 knows more than the customer. */
function whoCanPay({ authorisations }: Payment): string | undefined {
  return entriesOfPersons(authorisations).some(isAuthorised) ? othersIn(authorisations).who : undefined;
}

/** The error if the bank has refused to begin an authorisation of a cancellation: that, and the payment, are as open as before. */
function notBegun(payment: Payment, why: Psd2Error): unknown {
  const { kind, flow, cancellation } = payment;
  if (!isUnderWay(cancellation)) return unlessOpen(payment, why, 'somebody');
  const ask = [onlyAsking(payment), [kind, 'cancel', flow, ...namingNext(cancellation)]];
  return stillOpen(payment, why, { what: 'cancellation', who: 'somebody', ask });
}

/** The command that goes on with a cancellation, for the same person. */
function cancelling({ kind, flow }: Payment, returns: ReturnPorts): [string, string, string, ...string[]] {
  return [kind, 'cancel', flow, ...namingPerson(returns)];
}

async function askToCancel(
  open: OpenPayment,
  calls: PaymentCalls,
  ports: FlowPorts,
  returns: ReturnPorts,
  authorisation: CancellationSca,
): Promise<Payment> {
  const { sca, cancellation } = calls;
  const { initiation, flow } = open.current;
  if (!sca || !cancellation || !initiation) throw new TypeError(`The bank has no cancellation for ${flow}`);
  const { customer, world } = ports;
  await recordLoggedGifts(open, ports);
  const { resourceId } = resourceOf(open.current);
  const redirectUri = returnAddress(customer.redirectUri, initiation.returnState);
  if (hasAuthorised(open.current.cancellation ?? [], returns.psuId)) return askOnly(open, sca, calls.name);
  await recordSigned(open, sca);
  authorisation.links = linksToGoOn(open.current, returns);
  const unlinked = { sca, cancellation: cancellation.sca, returns };
  if (authorisation.links === null && (await askAboutCode(open, ports, unlinked))) return open.current;
  // Another person authorises what was asked for before, and what a customer has given something for goes on.
  const isAsked =
    authorisation.links !== null || (returns.person !== undefined && open.current.cancellation !== null);
  const answer = isAsked
    ? null
    : await requested(open, calls, ports.bank, (beforeSend, wasTaken) =>
        cancellation.request({ resourceId, redirectUri, beforeSend, wasTaken }),
      );
  if (answer === 'ended') return open.current;
  const isToBeAuthorised = answer === null || answer.verdict === 'to be authorised';
  const mayWantCustomer = answer?.verdict === 'taken' && answer.mayWantCustomer === true;
  if (mayWantCustomer && (await hasEnded(open, { sca }))) return open.current;
  const subject = cancellationSubject(open.current, initiation.returnState, returns);
  const isCancelled = async () => {
    if (await hasEnded(open, { sca }, () => linkOf(open.current, cancellation.sca, authorisation))) {
      await noteLastPerson(open, cancellation.sca, authorisation);
      return true;
    }
    await assertAuthorisable(open, cancellation.sca, { ...subject, name: calls.name }, authorisation, world);
    await assertNobodyElse(open, sca, calls.name, authorisation, world);
    return null;
  };
  const links =
    answer?.verdict === 'to be authorised' ? linksFor(answer.links, returns) : authorisation.links;
  const authorised =
    isToBeAuthorised || mayWantCustomer
      ? await authoriseCancellation(open, ports, unlinked, { subject, links, authorisation, mayWantCustomer })
      : 'nothing to authorise';
  if (authorised === 'over') return open.current;
  const isAuthorised = authorised === 'authorised';
  const patience = isAuthorised ? customer.scaTimeoutMs : Math.min(customer.scaTimeoutMs, SHORTLY_MS);
  const ended = askUntil(world, patience, isCancelled);
  if (await customer.whileWaiting('Waiting for the bank to cancel it', ended, patience)) return open.current;
  await refuseExecuted(open, { sca }, calls.name);
  throw authorisation.isGoingOn ? timedOut(customer, subject) : notSaid(open.current, calls.name);
}

/** Takes the customer to authorise the cancellation. @param mayWantCustomer the bank may have nothing for them to authorise */
async function authoriseCancellation(
  open: OpenPayment,
  ports: FlowPorts,
  { sca, cancellation, returns }: { sca: Sca; cancellation: Sca; returns: ReturnPorts },
  {
    subject,
    links,
    authorisation,
    mayWantCustomer,
  }: {
    subject: LinkedSubject;
    links: ScaLinks | null;
    authorisation: CancellationSca;
    mayWantCustomer: boolean;
  },
): Promise<'authorised' | 'nothing to authorise' | 'over'> {
  const at = { ...ports, bank: { ...ports.bank, sca: cancellation } };
  const record = recordOf(
    open,
    authorisation,
    () => isOverForCustomer(cancellation, subject, authorisation),
    returns,
  );
  const gifts = giftsOf(open, ports, { sca, cancellation, authorisation, returns });
  try {
    authorisation.sentCode = await authoriseByLinks(subject, links, at, returns, { ...record, gifts });
    return 'authorised';
  } catch (error) {
    if (!isRefusal(error)) throw asOnlyAsking(open.current, error);
    // A bank that has nothing for the customer to authorise may have cancelled it at once, or is about to.
    if (await hasEnded(open, { sca })) return 'over';
    if (isNotKnown(error)) throw notKnownThere(open.current, ports.bank, error);
    if (!mayWantCustomer) throw notBegun(open.current, error);
    return 'nothing to authorise';
  }
}

/** A cancellation that nobody can authorise leaves the payment as it was: nothing leads there again. */
function asOnlyAsking(payment: Payment, error: unknown): unknown {
  if (!(error instanceof Psd2Error) || !error.isDeadEnd) return error;
  return unlessOpen(payment, error.with({ flow: payment.flow, next: [onlyAsking(payment)] }));
}

/** Asks the bank about a payment of which this person has authorised the cancellation. @throws Psd2Error `still_open` if others must */
async function askOnly(open: OpenPayment, sca: Sca, name: string): Promise<Payment> {
  if (await hasEnded(open, { sca })) return open.current;
  await refuseExecuted(open, { sca }, name);
  throw othersMustCancel(open.current, name);
}

/** The cancellation, as its SCA needs to know it. */
function cancellationSubject(payment: Payment, state: string, returns: ReturnPorts): LinkedSubject {
  const { kind, flow, transactionId } = payment;
  const again = cancelling(payment, returns);
  return {
    kind,
    flow,
    transactionId,
    state,
    resourceId: resourceOf(payment).resourceId,
    again,
    doing: 'authorise the cancellation',
    who: returns.psuId,
    whenLate: { hint: 'Ask for it again with:', next: [again], flow },
  };
}

/** The links that a person follows: another one than the customer begins an authorisation of their own. */
function linksFor(links: ScaLinks, { person }: ReturnPorts): ScaLinks | null {
  const isBegun = links.redirect !== undefined || links.oauth !== undefined || links.start === undefined;
  return person && isBegun ? null : links;
}

/** The links with which a cancellation goes on that was stopped after a person had given psd2 something. Null: it begins again. */
function linksToGoOn(payment: Payment, { psuId }: ReturnPorts): ScaLinks | null {
  const { cancellation, cancellationCredentials, cancellationLinks } = payment;
  const whose = psuId ?? null;
  const last = cancellation?.at(-1);
  const isTheirs = last?.psuId === whose && cancellationCredentials.some((each) => each.psuId === whose);
  const isOver = last?.scaStatus === 'failed' || last?.scaStatus === 'expired';
  return isTheirs && !isOver && cancellationLinks?.step ? cancellationLinks : null;
}

/**
 * Asks the bank about a TAN that has no answer, and of whose authorisation the journal has no links: it was restored. Nothing is sent as
 * long as nobody knows what became of it.
 *
 * @returns whether the payment has ended
 * @throws Psd2Error `still_open`
 */
async function askAboutCode(
  open: OpenPayment,
  ports: FlowPorts,
  of: { sca: Sca; cancellation: Sca; returns: ReturnPorts },
): Promise<boolean> {
  const whose = of.returns.psuId ?? null;
  const last = open.current.cancellationCredentials.findLast(
    ({ psuId, isAnyones }) => isAnyones || psuId === whose,
  );
  if (last?.what !== 'code' || last.isAnswered) return false;
  const authorisation = { links: null, sentCode: false, doneAt: null, isGoingOn: false, looksPartly: 0 };
  const gifts = giftsOf(open, ports, { ...of, authorisation });
  const { scaStatus, decided } = await gifts.look();
  const isOver = decided !== null || ['finalised', 'exempted', 'failed', 'expired'].includes(scaStatus ?? '');
  if (!isOver) throw gifts.stop('The bank does not say what became of the TAN');
  return decided !== null;
}

/** What is recorded while the customer authorises a cancellation: what is about to be sent. @param authorisation learns the links */
function recordOf(
  open: OpenPayment,
  authorisation: CancellationSca,
  isDecided: LinkedRecord['isDecided'],
  { psuId }: ReturnPorts,
): Omit<LinkedRecord, 'gifts'> {
  const announced = announcing<StepEvent>(open, (intent) => ({ type: 'cancel-sent', ...intent }));
  return {
    approach: announced,
    code: announced,
    async started(links) {
      authorisation.links = links;
      const { id } = links;
      await open.record({
        type: 'cancel-sca-started',
        ...(id !== undefined && { id }),
        ...(psuId !== undefined && { psuId }),
        ...(links.step && { links }),
      });
    },
    returned: async () => {},
    refusedLogin: (error) => Promise.reject(error),
    isDecided,
  };
}

/** What is recorded of what a customer gives psd2 for a cancellation. @param at `authorisation` learns the links */
function giftsOf(
  open: OpenPayment,
  ports: FlowPorts,
  {
    sca,
    cancellation,
    authorisation,
    returns,
  }: { sca: Sca; cancellation: Sca; authorisation: CancellationSca; returns: ReturnPorts },
): GiftRecord {
  const { psuId } = returns;
  const whose = psuId === undefined ? {} : { psuId };
  return {
    subject: { kind: 'cancellation', payment: open.current },
    sent: () => open.current.cancellationCredentials,
    announce(what, begins) {
      const announce = announcingGift(open, ports, {
        what,
        ofCancellation: true,
        ...whose,
        ...(begins && { begins }),
      });
      return async (intent) => {
        const announced = await announce(intent);
        authorisation.hasGiven = true;
        return announced;
      };
    },
    async answered({ links, scaStatus }) {
      authorisation.links = links;
      if (scaStatus !== null && isAuthorised({ scaStatus }))
        authorisation.doneAt ??= ports.world.now().getTime();
      const { id } = links;
      const whom = { ofCancellation: true, ...(id !== undefined && { id }) } as const;
      await open.record({ type: 'credential-answered', scaStatus, links, ...whom });
    },
    async kept(links) {
      authorisation.links = links;
    },
    async look() {
      if (await hasEnded(open, { sca })) return { scaStatus: null, decided: 'accepted' };
      const { transactionId } = open.current;
      const links = authorisation.links ?? lastBegun(open.current);
      const progress = await askProgress(cancellation, resourceOf(open.current).resourceId, {
        links,
        transactionId,
      });
      return { scaStatus: progress?.scaStatus ?? null, decided: null };
    },
    stop: (why) =>
      stillOpen(open.current, why, {
        what: 'cancellation',
        ask: [onlyAsking(open.current), cancelling(open.current, returns)],
        ...(psuId !== undefined && { who: psuId }),
      }),
  };
}

/** The authorisation of a cancellation that psd2 began last. The journal has no links of it. */
function lastBegun({ cancellation }: Payment): ScaLinks | null {
  const id = cancellation?.findLast((each) => each.id !== null)?.id;
  return id == null ? null : { approach: 'embedded', id, status: id };
}

/** The error if the bank does not say that a payment is cancelled. @param why it could not be authorisation */
function notSaid(operation: Payment, name: string, why?: Psd2Error): Psd2Error {
  const { kind, flow, transactionId } = operation;
  const isOrdered = standingOf(operation) === 'done';
  const message = why
    ? `${isUnsaidOf(name, why)}: ${why.message}`
    : `The bank does not say that the ${name} is cancelled`;
  return new Psd2Error('outcome_unknown', message, {
    ...why?.context,
    ...(isOrdered
      ? { flow, hint: 'Ask the bank again with:', next: [[kind, 'resume', flow]] }
      : findOut(kind, flow, 'First ask the bank again, which never pays twice.')),
    transactionId,
  });
}

/**
 * Asks the bank to cancel a payment. If its answer is a refusal, unusable or lost, its status may show that this request, or one
 * before, has done it all the same.
 *
 * @returns the bank's answer. `ended`: its status says so
 * @throws Psd2Error `bank_refused` if the bank has executed it; `outcome_unknown` or `certificate` if it does not know the payment;
 *   `still_open` if the customer has the link of the payment, whatever else stopped the request
 */
async function requested(
  open: OpenPayment,
  { name, sca }: PaymentCalls,
  bank: Pick<Bank, 'certificate'>,
  request: (announced: BeforeSend, wasTaken: boolean) => Promise<CancellationAnswer>,
): Promise<CancellationAnswer | 'ended'> {
  const { kind, flow, isCancellationTaken } = open.current;
  if (!sca) throw new TypeError(`The bank has no status for ${flow}`);
  const announce = announcing<StepEvent>(open, (intent) => ({
    type: 'cancel-sent',
    ...intent,
  }));
  let isSent = false;
  try {
    const announced: BeforeSend = async (intent) => {
      const announcement = await announce(intent);
      isSent = true;
      return announcement;
    };
    const answer = await request(announced, isCancellationTaken);
    if (answer.messages) await open.record({ type: 'cancel-told', messages: answer.messages });
    if (answer.verdict !== 'to be authorised') await recordTaken(open);
    else if (open.current.cancellation === null) await open.record({ type: 'cancel-begun' });
    return answer;
  } catch (error) {
    if (!isSent || !(error instanceof Psd2Error) || isInterruption(error)) throw error;
    if (error.code === 'overtaken') throw error;
    if (await hasEnded(open, { sca })) return 'ended';
    // A bank that does not cancel it will not do so the next time.
    const verb = error.code === 'bank_refused' || error.isDeadEnd ? 'status' : 'cancel';
    const { next = [[kind, verb, flow]] } = error.context;
    if (error.refusal !== undefined) await refuseExecuted(open, { sca }, name);
    if (isNotKnown(error)) throw notKnownThere(open.current, bank, error);
    throw unlessOpen(open.current, error.with({ flow, next }));
  }
}

/** Records once that the bank has taken the cancellation. What it does not know from now on is gone. */
async function recordTaken(open: OpenPayment): Promise<void> {
  if (!open.current.isCancellationTaken) await open.record({ type: 'cancel-taken' });
}

/** Whether the customer has nothing more to do. An error of the bank's says nothing. */
async function isOverForCustomer(
  sca: Sca,
  { resourceId, transactionId }: LinkedSubject,
  authorisation: CancellationSca,
): Promise<boolean> {
  try {
    const progress = await askProgress(sca, resourceId, { links: authorisation.links, transactionId });
    if (progress) {
      authorisation.isOver = progress.means === 'failed' || progress.means === 'done';
      return authorisation.isOver;
    }
    const { became } = await sca.status(resourceId, transactionId);
    return became === 'cancelled' || became === 'failed' || became === 'duplicate';
  } catch (error) {
    if (isInterruption(error)) throw error;
    return false;
  }
}

/** @throws Psd2Error `not_authorised` if the customer has refused the cancellation, `usage` if only their browser helps */
async function assertAuthorisable(
  open: OpenPayment,
  sca: Sca,
  subject: LinkedSubject & { name: string },
  authorisation: CancellationSca,
  world: Pick<FlowPorts['world'], 'now'>,
): Promise<void> {
  const { links, sentCode } = authorisation;
  const { resourceId, transactionId } = subject;
  const progress = await askProgress(sca, resourceId, { links, transactionId });
  if (progress) await noteProgress(open, progress, links);
  if (progress?.means === 'done') authorisation.doneAt ??= world.now().getTime();
  authorisation.isGoingOn = progress?.means === 'going on' || progress?.means === 'needs code';
  if (progress?.means === 'needs code' && !sentCode)
    throw lacksReturn(subject, "The bank waits for the code that only the customer's browser brings back");
  if (progress?.means !== 'failed') return;
  const { kind, flow, name, who = 'The customer' } = subject;
  throw new Psd2Error('not_authorised', `${who} did not authorise the cancellation of the ${name}`, {
    hint: 'The bank still has the payment, and may execute it. Ask for the cancellation again with:',
    next: [[kind, 'cancel', flow, ...namingNext(open.current.cancellation)]],
    flow,
    transactionId,
  });
}

/** Records what the last of several persons has done, if the bank says so. */
async function noteLastPerson(open: OpenPayment, sca: Sca, { links }: CancellationSca): Promise<void> {
  const { verification, transactionId, cancellation } = open.current;
  if (!links || !verification || (cancellation?.length ?? 0) < 2) return;
  const progress = await askProgress(sca, verification.resourceId, { links, transactionId }).catch(
    (error: unknown) => {
      if (isInterruption(error)) throw error;
      return null;
    },
  );
  if (progress) await noteProgress(open, progress, links);
}

/** Records how far an authorisation of the cancellation is, once it is over. */
async function noteProgress(open: OpenPayment, { means, scaStatus }: ScaProgress, links: ScaLinks | null) {
  if (means !== 'done' && means !== 'failed') return;
  const id = links?.id;
  const recorded = open.current.cancellation?.find((each) => each.id === (id ?? null));
  if (recorded?.scaStatus === scaStatus) return;
  await open.record({ type: 'cancel-noted', scaStatus, ...(id !== undefined && { id }) });
}

/**
 * @throws Psd2Error `still_open` if this person has authorised the cancellation, and the bank waits for another one, or has not
 *   cancelled the payment a moment later
 */
async function assertNobodyElse(
  open: OpenPayment,
  sca: Sca,
  name: string,
  authorisation: CancellationSca,
  world: Pick<FlowPorts['world'], 'now'>,
): Promise<void> {
  if (authorisation.links === null || authorisation.doneAt === null) return;
  const payment = open.current;
  const status = await sca
    .status(resourceOf(payment).resourceId, payment.transactionId)
    .catch((error: unknown) => {
      if (isInterruption(error)) throw error;
      return isNotKnown(error) ? null : undefined;
    });
  if (status === undefined) return;
  const isOfSeveral = needsSeveral(payment, status);
  if (!isOfSeveral) await recordTaken(open);
  // The word for the payment can come a moment after that for the last authorisation.
  authorisation.looksPartly = isOfSeveral ? authorisation.looksPartly + 1 : 0;
  const isLate = world.now().getTime() - authorisation.doneAt >= SHORTLY_MS;
  if (authorisation.looksPartly > 1 || isLate)
    throw othersMustCancel(payment, name, status?.authorizationStatus);
}

/** Whether nobody can cancel a payment alone: several have authorised it, or must. @param status null: the bank does not know it */
function needsSeveral({ state, authorisations }: Payment, status: ResourceStatus | null): boolean {
  const signed = entriesOfPersons(authorisations).filter(isAuthorised).length;
  if (status) return status.isPartly === true || signed > 1;
  return signed > (state === 'authorizing' ? 0 : 1);
}

/** The error if others must authorise a cancellation, too. @param bankStatus the bank's word for the payment */
function othersMustCancel(payment: Payment, name: string, bankStatus = payment.transactionStatus): Psd2Error {
  const word = bankStatus === null ? '' : ` (${bankStatus})`;
  const { who, named } = othersIn(payment.cancellation ?? []);
  const why = `${whoDid(payment.cancellation ?? [], `cancellation of the ${name}`)}, and the bank waits for ${who}${word}`;
  const cancel = [payment.kind, 'cancel', payment.flow, ...named];
  return stillOpen(payment, why, { what: 'cancellation', who, ask: [onlyAsking(payment), cancel] });
}

/** Until when the customer's link of the cancellation itself may work, if nothing says that it is over. */
async function linkOf(
  operation: Payment,
  sca: Sca,
  { links, sentCode, doneAt, isOver: hasNothingToDo = false }: CancellationSca,
): Promise<string | null> {
  return doneAt !== null || sentCode || hasNothingToDo ? null : cancellationLinkUntil(sca, operation, links);
}

/**
 * Records what the bank says, if it has ended the payment. Once it has taken the cancellation, what it does not know is cancelled.
 *
 * @param linkUntil asks until when the link of the cancellation itself may work
 * @returns whether it has ended. Any other error says nothing of it
 * @throws Psd2Error `outcome_unknown` if the customer has authorised it after the bank had cancelled it
 */
async function hasEnded(
  open: OpenPayment,
  bank: { sca: NonNullable<PaymentCalls['sca']> },
  linkUntil: () => Promise<string | null> = async () => null,
): Promise<boolean> {
  const event = await askAfterCancelling(open.current, bank.sca);
  if (event?.type === 'execute-unanswered' && event.isPaidByLink) {
    await recordFound(open, event);
    throw paidByLink(open.current);
  }
  const until = event?.type === 'cancelled' ? await linkUntil() : null;
  if (event?.type === 'cancelled' && until !== null)
    return recordFound(open, { ...event, linkUntil: laterOf(event.linkUntil ?? null, until) });
  // Whoever refuses the payment itself, or lets its time pass, ends it without a cancellation.
  const isEnd = event !== null && endsUnpaid(event) && decidesOutcome(event, open.current);
  return isEnd && recordFound(open, event);
}

/** The bank does not know the payment any more, so it says nothing of an authorisation, nor when. */
const UNSAID = { progress: null, saidAt: undefined };

/** What the bank says of a payment that psd2 cancels, or may have cancelled. Null: it does not say. */
async function askAfterCancelling(payment: Payment, sca: Sca): Promise<StepEvent | null> {
  const ask = (decides?: Decides) =>
    askBank(sca, payment, { decides }).catch((error: unknown) => {
      if (isInterruption(error)) throw error;
      return payment.isCancellationTaken && isNotKnown(error) ? ('gone' as const) : null;
    });
  const first = await ask();
  // It frees a reference, and a gateway may have given the answer to another request.
  const reading = first === 'gone' ? await ask('an end') : first;
  if (reading === 'gone') return withLinkOut(sca, payment, { type: 'cancelled' }, UNSAID);
  return reading?.event ?? null;
}

/**
 * Ends an operation of which no customer has a link. At a bank where the customer commits, the bank has it, so psd2 asks the bank to
 * cancel it. A customer is asked for nothing.
 *
 * @param why psd2 does not go on with it
 * @throws Psd2Error `why`, with what became of it, unless the bank has executed it all the same: this returns then
 */
export async function giveUpUnauthorised(
  open: OpenPayment,
  calls: PaymentCalls,
  ports: FlowPorts,
  why: Psd2Error,
): Promise<void> {
  const description = why.message;
  const { commits, kind, flow } = open.current;
  if (commits === 'on execute') {
    await open.record({ type: 'cancelled', description });
    throw why.with({ flow });
  }
  const problem = await cancelUnasked(open, calls, ports).catch((error: unknown) => {
    if (isInterruption(error) || isOvertaken(error) || !(error instanceof Psd2Error)) throw error;
    return error.message;
  });
  if (standingOf(open.current) === 'done') return;
  const hint = why.hint ?? '';
  if (problem === null) {
    await recordFound(open, { type: 'cancelled', description });
    throw why.with({ flow, hint: `${hint} The bank has cancelled the ${calls.name}.`.trim() });
  }
  throw why.with({
    flow,
    isDeadEnd: true,
    hint: `${hint} No customer has the link, but the bank has the ${calls.name}, and has not cancelled it: ${endSentence(problem)}${kind === 'transfer' ? ' Cancel it with:' : ''}`.trim(),
    ...(kind === 'transfer' && { next: [[kind, 'cancel', flow]] }),
  });
}

/** Asks the bank to cancel a payment that no customer can authorise. @returns why it is not cancelled. Null: it is */
async function cancelUnasked(
  open: OpenPayment,
  calls: PaymentCalls,
  { bank, customer, world }: FlowPorts,
): Promise<string | null> {
  const { sca, cancellation, name } = calls;
  const { initiation } = open.current;
  if (!sca || !cancellation || !initiation) throw new TypeError(`The bank has no cancellation`);
  const { resourceId } = resourceOf(open.current);
  const redirectUri = returnAddress(customer.redirectUri, initiation.returnState);
  const answer = await requested(open, calls, bank, (beforeSend, wasTaken) =>
    cancellation.request({ resourceId, redirectUri, beforeSend, wasTaken }),
  );
  if (answer === 'ended') return null;
  if (answer.verdict === 'to be authorised') return 'the customer must authorise the cancellation';
  const ended = askUntil(world, SHORTLY_MS, async () => (await hasEnded(open, { sca })) || null);
  if (await customer.whileWaiting('Waiting for the bank to cancel it', ended, SHORTLY_MS)) return null;
  await refuseExecuted(open, { sca }, name);
  return 'its status does not say so';
}

/** Records that the bank has executed a payment meanwhile. @throws Psd2Error `bank_refused` if it has */
async function refuseExecuted(
  open: OpenPayment,
  bank: { sca: NonNullable<PaymentCalls['sca']> },
  name: string,
): Promise<void> {
  const { state, kind, flow, transactionId } = open.current;
  if (state === 'executed') return;
  const event = await askAfterCancelling(open.current, bank.sca);
  if (event?.type !== 'executed' || !(await recordFound(open, event))) return;
  throw new Psd2Error('bank_refused', `It is too late: the bank has executed the ${name}`, {
    hint: 'See it with:',
    next: [[kind, 'show', flow]],
    isDeadEnd: true,
    flow,
    transactionId,
  });
}
