import type { Sca, ScaLinks } from '../../bank/ports/customer.ts';
import { hasAuthorised, isAuthorised, type PersonsAuthorisation } from '../../domain/authorisations.ts';
import { isLogin } from '../../domain/given-links.ts';
import {
  type Cost,
  endsUnpaid,
  hasFees,
  type Initiation,
  isPending,
  type StepEvent,
} from '../../domain/operation.ts';
import { decisionIn, type PaymentReading, whatHappened } from '../../domain/payment-answers.ts';
import { Psd2Error } from '../../errors.ts';
import { type GiftRecord, recordedGifts } from '../gifts.ts';
import { authoriseByLinks, type LinkedSubject, lacksReturn } from '../linked-sca.ts';
import { announcing, recordOutcome } from '../once.ts';
import type { Payment, ReturnPorts, Run } from '../ports.ts';
import { isRefusal, isTrouble, isUnsaidOf, NobodyKnows, type Told } from '../refusals.ts';
import { askUntil, awaitDecision, type ScaSubject, sendCustomerToSca, timedOut } from '../sca.ts';
import { namingPerson, onlyAsking, othersIn, stillOpen, whoDid } from '../still-open.ts';
import { needsLoginAgain } from './status.ts';

/** Sends the customer to the bank. */
export async function authorise(run: Run, operation: Payment): Promise<void> {
  const { open, ports } = run;
  const { returns } = ports;
  run.goesAgain = false;
  const subject = paymentSubject(run, operation);
  try {
    if (operation.initiation && returns) {
      run.sentCode = await authorisePayment(run, operation, operation.initiation, returns);
    } else {
      await sendCustomerToSca(ports, subject, {
        beforeSend: announcing<StepEvent>(open, (intent) => ({ type: 'approach-sent', ...intent })),
        started: async () => {
          await open.record({ type: 'sca-started' });
        },
        returned: async () => {
          await open.record({ type: 'sca-returned' });
        },
      });
    }
    run.customerSent = true;
  } catch (error) {
    if (error instanceof Psd2Error && error.isDeadEnd) return giveUpPayment(run, error);
    // The customer may have decided in the meantime, on a page that an earlier run opened.
    const decision = isRefusal(error) ? decisionIn(await run.askIfAnswered(operation)) : null;
    if (!decision) throw isUnsaid(run, error) ? unsaid(run, error) : error;
    await open.record(decision);
    run.authorizedNow = true;
  }
}

/**
 * Ends an operation before the customer has a link to it, because they must not get one. What others have authorised, or have a link to,
 * psd2 does not cancel by itself.
 *
 * @throws Psd2Error `why`, unless the bank has executed it meanwhile
 */
export async function giveUpPayment({ open, calls, ports }: Run, why: Psd2Error): Promise<void> {
  if (isOfOthers(open.current)) throw toCancelByHand(open.current, why);
  const { giveUpUnauthorised } = await import('./cancel.ts');
  await giveUpUnauthorised(open, calls, ports, why);
  ports.returns?.say(`The bank has executed the ${calls.name} at once. ${why.message}.`);
}

/** Whether the bank refuses to say what became of a payment. Another login brings the answer, or another try. */
function isRefusedAnswer(payment: Payment, error: unknown): boolean {
  if (!(error instanceof Psd2Error) || error.refusal === undefined) return false;
  return !isTrouble(error) && !needsLoginAgain(error, payment);
}

/** Writes down what the bank said last, if psd2 stops while the customer is at the bank. */
export async function noteLastWord({ open, lastWord }: Run): Promise<void> {
  if (!lastWord || !isPending(lastWord) || !('bank' in lastWord) || !lastWord.bank) return;
  const { transactionStatus, scaStatus, state } = open.current;
  const { bank } = lastWord;
  const isKnown = bank.transactionStatus === transactionStatus && bank.scaStatus === scaStatus;
  if (state !== 'authorizing' || isKnown) return;
  try {
    await open.record(lastWord);
  } catch (error) {
    // What stopped psd2 counts. It may be that nothing can be written.
    if (!(error instanceof Psd2Error)) throw error;
  }
}

/** The error if the bank has refused to begin another authorisation: the payment is as open as before, and to ask again leads to the same. */
export async function noOtherAuthorisation({ open }: Run, why: Psd2Error): Promise<Psd2Error> {
  await open.record({ type: 'approach-refused' });
  return stillOpen(open.current, why, { who: 'somebody', ask: [onlyAsking(open.current)] });
}

/** Whether the bank's trouble stopped a payment for which the customer had a link. */
function isUnsaid({ open, isBeginning = false }: Run, error: unknown): boolean {
  const { mayExecuteWithoutUs, state } = open.current;
  const isAtBank = state === 'authorizing' && !isBeginning;
  return mayExecuteWithoutUs && isTrouble(error) && (isAtBank || error.code !== 'bank_answer');
}

/** Waits for the customer's decision, or takes them to the bank again. */
export async function awaitAuthorisation(run: Run, operation: Payment): Promise<void> {
  const { open, ports } = run;
  const subject = paymentSubject(run, operation);
  if (run.customerSent && operation.authorises === 'by links') {
    const decided = awaitPayment(run, operation, subject, run.sentCode ?? false);
    await unknownIfUnsaid(run, decided);
  } else if (run.customerSent) {
    // The status shows an `execute` that an older journal has lost.
    await open.record(await awaitDecision(ports, subject, whatHappened));
  } else {
    const next = await unknownIfUnsaid(run, decisionOrAgain(run, operation));
    if (next === 'another person') return authoriseAnother(run, operation);
    if (next) await open.record(next);
    run.goesAgain = next?.type === 'sca-again';
    run.customerSent = next === null;
  }
  run.authorizedNow = true;
}

/** Another person authorises it, too. What they do or cannot do ends nothing of what others have authorised. */
async function authoriseAnother(run: Run, operation: Payment): Promise<void> {
  const { returns } = run.ports;
  if (!operation.initiation || !returns) throw new TypeError('Only links lead several persons to the bank');
  try {
    run.sentCode = await authorisePayment(run, operation, operation.initiation, returns);
  } catch (error) {
    const isUnasked = isTrouble(error) && !error.isDeadEnd;
    throw isUnasked ? unsaid(run, error) : error;
  }
  run.customerSent = true;
}

/**
 * The customer's decision, asked for once. Without one, they go to the bank again. Null: they have authorised it, so they do not,
 * and the bank has not said what becomes of it.
 */
async function decisionOrAgain(
  { open, calls, ports, ask }: Run,
  operation: Payment,
): Promise<StepEvent | null | 'another person'> {
  try {
    const { event, isSigned, partly, isOverHere } = await ask(operation, {
      decides: operation.refusedUnconfirmed,
    });
    if (!isPending(event)) return event;
    const person = ports.returns?.person;
    // Whose part is over is asked for nothing more.
    if (person && !(partly && hasAuthorised(operation.authorisations, person.id))) return 'another person';
    if (partly) {
      await open.record(event);
      throw othersMust(open.current, calls.name, open.current.transactionStatus);
    }
    // With psd2, the customer may have another try.
    if (isOverHere && mayTryAgain(operation, ports)) return { type: 'sca-again' };
    if (isOverHere) {
      await open.record(event);
      throw failedHere(open.current, calls.name);
    }
    return isSigned ? null : { type: 'sca-again' };
  } catch (error) {
    // The token of the customer's login with this payment is lost or has ended. Only another login gives one.
    if (!needsLoginAgain(error, operation)) throw error;
    return { type: 'sca-again' };
  }
}

/** Whether the customer has given psd2 something for it, and psd2 may take more. */
function mayTryAgain({ credentials, links }: Payment, { returns }: Run['ports']): boolean {
  return credentials.length > 0 && links?.step !== undefined && returns?.credentials.refusal() === null;
}

/** The command that goes on, for the same person. */
function resuming(
  { kind, flow }: Payment,
  returns: ReturnPorts | undefined,
): [string, string, string, ...string[]] {
  return [kind, 'resume', flow, ...namingPerson(returns)];
}

/** What the customer authorises, and the command that goes on. */
type PaymentSubject = ScaSubject & Pick<LinkedSubject, 'again'>;

function paymentSubject({ calls, ports: { returns }, resource }: Run, operation: Payment): PaymentSubject {
  const { flow, transactionId } = operation;
  const again = resuming(operation, returns);
  return {
    transactionId,
    doing: `authorise the ${calls.name}`,
    who: returns?.psuId,
    whenLate: { hint: 'Continue with:', next: [again], flow },
    resourceId: resource(operation).resourceId,
    again,
  };
}

/**
 * Takes the customer to a bank whose links lead them. The payment may run as soon as they have a link. What the flow keeps of the links is durable before the customer has one.
 *
 * @returns whether the bank has the confirmation code
 */
async function authorisePayment(
  run: Run,
  operation: Payment,
  { returnState: state }: Initiation,
  returns: ReturnPorts,
): Promise<boolean> {
  const { open, ports } = run;
  const { kind, flow } = operation;
  const whose: { psuId?: string } = returns.psuId === undefined ? {} : { psuId: returns.psuId };
  const subject: LinkedSubject = {
    ...paymentSubject(run, operation),
    kind,
    flow,
    state,
  };
  const links = linksFor(operation, ports.bank.sca, returns);
  const approach = announcing<StepEvent>(open, (intent) => ({ type: 'approach-sent', ...intent, ...whose }));
  return authoriseByLinks(subject, links, ports, returns, {
    async approach(intent) {
      const announced = await approach(intent);
      run.isBeginning = true;
      return announced;
    },
    code: announcing<StepEvent>(open, (intent) => ({ type: 'code-sent', ...intent })),
    cost: (cost) => takeCost(run, cost),
    async started(links) {
      run.isBeginning = false;
      await open.record({ type: 'sca-started', links, ...whose });
    },
    async returned() {
      await open.record({ type: 'sca-returned' });
    },
    async isDecided() {
      const reading = await run.ask(open.current).catch((error: unknown) => {
        throw isRefusedAnswer(open.current, error) ? unsaid(run, error) : error;
      });
      const { event, awaitsCustomer, isOverHere } = reading;
      run.lastWord = event;
      return !isPending(event) || !awaitsCustomer || isOverHere;
    },
    async refusedLogin(error) {
      if (decisionIn(await run.askIfAnswered(operation)) === null) throw error;
    },
    gifts: giftsOf(run, returns),
  });
}

/** The links that a person follows. Another one than the customer has an authorisation of their own, unless psd2 is in the midst of it. */
function linksFor(
  { links, authorisations }: Payment,
  sca: Sca,
  { person, isFirst = false }: ReturnPorts,
): ScaLinks | null {
  if (!person || isFirst) return links;
  const last = authorisations.at(-1);
  const isTheirs = links?.step !== undefined && last?.psuId === (person.id ?? null);
  return isTheirs && !isAuthorised(last) ? links : (sca.anew?.(links) ?? null);
}

/** What is recorded of what a customer gives psd2 for a payment. */
function giftsOf(run: Run, returns: ReturnPorts): GiftRecord {
  const { open, ports } = run;
  return {
    subject: { kind: 'payment', payment: open.current },
    ...recordedGifts(open, ports, returns),
    async look() {
      const { event, progress, isSigned } = await run.ask(open.current);
      run.lastWord = event;
      const decided = isPending(event) ? null : endsUnpaid(event) ? 'ended' : 'accepted';
      return { scaStatus: progress?.scaStatus ?? (isSigned ? 'finalised' : null), decided };
    },
  };
}

/**
 * Asks the bank until the customer has decided, and records what it says.
 *
 * @throws Psd2Error `still_open` if another person must authorise it, too; `authorisation_timeout` if their time is over; `usage` if
 *   only the return of their browser helps; `outcome_unknown` if they have authorised it, and the bank does not say what becomes of it
 */
async function awaitPayment(
  { open, ports: { bank, customer, world }, calls, ask }: Run,
  operation: Payment,
  subject: PaymentSubject,
  sentCode: boolean,
): Promise<void> {
  let last: PaymentReading | undefined;
  let looksPartly = 0;
  const decision = async () => {
    last = await ask(open.current);
    const { event } = last;
    if (!isPending(event) || last.isOverHere) return event;
    const mayNeedCode = operation.links?.confirmation !== undefined && !sentCode;
    if (mayNeedCode && last.progress?.means === 'needs code')
      throw lacksReturn(subject, "The bank waits for the code that only the customer's browser brings back");
    // The word for the payment can come a moment after that for the last authorisation.
    looksPartly = last.partly === 'ours is over' ? looksPartly + 1 : 0;
    return looksPartly > 1 ? event : null;
  };
  const pause = bank.sca.timing?.pollSeconds;
  const pauseMs = pause === undefined ? undefined : pause * 1000;
  const decided = await customer.whileWaiting(
    "Waiting for the customer's decision",
    askUntil(world, customer.scaTimeoutMs, decision, pauseMs),
    customer.scaTimeoutMs,
  );
  const words = decided ?? last?.event;
  if (words) await open.record(words);
  if (decided && isPending(decided))
    throw last?.partly
      ? othersMust(open.current, calls.name, open.current.transactionStatus)
      : failedHere(open.current, calls.name);
  if (decided) return;
  // Where psd2 commits, nothing was sent that could have had an effect.
  if (operation.commits === 'on execute' || (last?.awaitsCustomer ?? true)) throw timedOut(customer, subject);
  await recordOutcome(open, { type: 'execute-unanswered' });
  throw new NobodyKnows(`The bank does not say yet whether it executes the ${calls.name}`);
}

/** The error if the last authorisation has failed, and the bank keeps the payment. */
function failedHere(payment: Payment, name: string): Psd2Error {
  const why = `The authorisation of the ${name} has failed, but the bank keeps it (${payment.transactionStatus})`;
  const { kind, flow } = payment;
  return stillOpen(payment, why, {
    who: 'somebody',
    ask: [
      [kind, 'resume', flow],
      [kind, 'resume', flow, '--psu-id', 'ID'],
    ],
  });
}

/** The error if others must authorise it, too. @param name what it is in messages @param bankStatus the bank's word */
export function othersMust(
  flow: Told & { authorisations: readonly PersonsAuthorisation[] },
  name: string,
  bankStatus: string | null,
): Psd2Error {
  const resume = [flow.kind, 'resume', flow.flow];
  const { who, named } = othersIn(flow.authorisations);
  const why = `${whoDid(flow.authorisations, name)}, and the bank waits for ${who} (${bankStatus})`;
  // They authorise it at the bank, or with their id here.
  return stillOpen(flow, why, { who, ask: [resume, [...resume, ...named]] });
}

/**
 * The answer to a question about an operation. If the customer commits, the payment may run as soon as they have the link. What the
 * bank refused then is the question, or could not be asked.
 *
 * @throws Psd2Error `outcome_unknown` if the bank does not say, and the customer commits
 */
async function unknownIfUnsaid<Answer>({ open, calls }: Run, answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    const isUnread = error instanceof Psd2Error && error.refusal === 'unread';
    const isUnanswered = isRefusal(error) || isTrouble(error) || isUnread;
    const { commits } = open.current;
    // Another login brings the answer.
    if (commits === 'on execute' || needsLoginAgain(error, open.current) || !isUnanswered) throw error;
    throw unsaid({ open, calls }, error);
  }
}

/** The error for a payment that may run, if psd2 cannot find out. */
export function unsaid({ open, calls }: Pick<Run, 'open' | 'calls'>, why: unknown): Psd2Error {
  const { links } = open.current;
  const logsIn = why instanceof Psd2Error && why.hadToken && !(links && isLogin(links));
  return new NobodyKnows(isUnsaidOf(calls.name, why), why, logsIn ? { next: why.next ?? [] } : {});
}

/**
 * Records what a payment costs, as the bank tells with an authorisation that has begun. The limit and the operator decide before the
 * customer has its link.
 *
 * @throws Psd2Error if one of them does not want it
 */
async function takeCost(run: Run, cost: Cost): Promise<void> {
  const { open, ports } = run;
  await open.record({ type: 'cost-told', ...cost });
  const refusal = ports.refusesCost?.(open.current);
  if (refusal) throw refusal.with({ isDeadEnd: true });
  if (hasFees(open.current.verification) && !open.current.feesAccepted) await acceptFees(run, open.current);
}

/** Whether somebody has authorised a payment, or a person before the last one has a link: whom psd2 asked for PIN and TAN has none. */
function isOfOthers({ credentials, authorisations }: Payment): boolean {
  const last = authorisations.at(-1)?.psuId;
  const hasLink = ({ psuId }: PersonsAuthorisation) =>
    psuId !== last && !credentials.some((sent) => sent.psuId === psuId && !sent.isAnyones);
  return authorisations.some((each) => isAuthorised(each) || hasLink(each));
}

/** The error if nobody gets a link any more to a payment that others may have authorised. */
function toCancelByHand({ kind, flow }: Payment, why: Psd2Error): Psd2Error {
  return why.with({
    hint: `${why.hint ?? ''} Nobody else gets a link from psd2. Cancel the payment at the bank with:`.trim(),
    next: [[kind, 'cancel', flow]],
    flow,
    isDeadEnd: true,
  });
}

/** Asks the operator whether they want the fees. @throws Psd2Error `cancelled` if not, and the bank may execute it all the same */
export async function acceptFees({ open, calls, ports }: Run, operation: Payment): Promise<void> {
  if ((await ports.acceptFees?.(operation)) ?? true) await open.record({ type: 'fees-accepted' });
  else if (operation.mayExecuteWithoutUs) throw feesRefused(operation, calls.name);
  else await open.record({ type: 'cancelled' });
}

/** The operator does not want the fees, but the bank may execute the payment all the same. */
function feesRefused({ kind, flow, transactionId }: Payment, name: string): Psd2Error {
  return new Psd2Error(
    'cancelled',
    `The customer was not asked to authorise the ${name}, but the bank has it`,
    {
      hint: 'Cancel it at the bank with:',
      next: [[kind, 'cancel', flow]],
      flow,
      transactionId,
    },
  );
}
