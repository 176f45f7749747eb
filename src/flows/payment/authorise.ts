import { type PersonsAuthorisation, whoAuthorised } from '../../domain/authorisations.ts';
import type { AnyFlow } from '../../domain/flow.ts';
import { type Initiation, isPending, type StepEvent } from '../../domain/operation.ts';
import { Psd2Error } from '../../errors.ts';
import { authoriseByLinks, isLogin, type LinkedSubject, lacksReturn } from '../linked-sca.ts';
import { announcing, recordOutcome } from '../once.ts';
import type { Payment, ReturnPorts, Run } from '../ports.ts';
import { isRefusal, isTrouble, outcomeUnknown } from '../refusals.ts';
import { askUntil, awaitDecision, type ScaSubject, sendCustomerToSca, timedOut } from '../sca.ts';
import { askDecision } from './outcome.ts';
import { lookAt, needsLoginAgain, progressOf, resourceOf, whatHappened } from './status.ts';

/** Sends the customer to the bank. */
export async function authorise(run: Run, operation: Payment): Promise<void> {
  const { open, ports } = run;
  const { returns } = ports;
  try {
    if (operation.initiation && returns) {
      run.sentCode = await authorisePayment(run, operation, operation.initiation, returns);
    } else {
      await sendCustomerToSca(ports, subjectOf(run, operation), {
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
    if (error instanceof Psd2Error && error.isDeadEnd) return giveUp(run, error);
    // The customer may have decided in the meantime, on a page that an earlier run opened.
    const decision = isRefusal(error) && (await askDecision(ports, operation));
    if (!decision) throw isUnsaid(open.current, error) ? unsaid(run, error) : error;
    await open.record(decision);
    run.authorizedNow = true;
  }
}

/**
 * Ends an operation before the customer has a link to it, because they must not get one.
 *
 * @throws Psd2Error `why`, unless the bank has executed it meanwhile
 */
export async function giveUp({ open, calls, ports }: Run, why: Psd2Error): Promise<void> {
  const { giveUpUnauthorised } = await import('./cancel.ts');
  await giveUpUnauthorised(open, calls, ports, why);
  ports.returns?.say(`The bank has executed the ${calls.name} at once. ${why.message}.`);
}

/** Whether the bank's trouble stopped a payment for which the customer had a link. */
function isUnsaid({ mayExecuteWithoutUs, state }: Payment, error: unknown): boolean {
  return mayExecuteWithoutUs && isTrouble(error) && (state === 'authorizing' || error.code !== 'bank_answer');
}

/** Waits for the customer's decision, or takes them to the bank again. */
export async function awaitAuthorisation(run: Run, operation: Payment): Promise<void> {
  const { open, ports } = run;
  if (run.customerSent && operation.authorises === 'by links') {
    const decided = awaitPayment(run, operation, subjectOf(run, operation), run.sentCode ?? false);
    await unknownIfUnsaid(run, decided);
  } else if (run.customerSent) {
    // The status shows an `execute` that an older journal has lost.
    await open.record(await awaitDecision(ports, subjectOf(run, operation), whatHappened));
  } else {
    const found = await unknownIfUnsaid(run, decisionOrAgain(run, operation));
    if (found === 'another person') return authoriseAnother(run, operation);
    if (found) await open.record(found);
    run.customerSent = found === null;
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
    throw isTrouble(error) ? unsaid(run, error) : error;
  }
  run.customerSent = true;
}

/**
 * The customer's decision, asked for once. Without one, they go to the bank again. Null: they have authorised it, so they do not,
 * and the bank has not said what becomes of it.
 */
async function decisionOrAgain(
  { open, calls, ports }: Run,
  operation: Payment,
): Promise<StepEvent | null | 'another person'> {
  try {
    const { found, isSigned, partly } = await lookAt(ports, operation, operation.refusedUnconfirmed);
    if (!isPending(found)) return found;
    if (ports.returns?.person) return 'another person';
    if (partly) {
      await open.record(found);
      throw othersMust(open.current, calls.name, open.current.transactionStatus);
    }
    return isSigned ? null : { type: 'sca-again' };
  } catch (error) {
    // The token of the customer's login with this payment is lost or has ended. Only another login gives one.
    if (!needsLoginAgain(error, operation)) throw error;
    return { type: 'sca-again' };
  }
}

/** What the customer authorises. */
function subjectOf({ calls }: Run, operation: Payment): ScaSubject {
  const { kind, flow, transactionId } = operation;
  return {
    transactionId,
    doing: `authorise the ${calls.name}`,
    whenLate: { hint: 'Continue with:', next: [[kind, 'resume', flow]], flow },
    resourceId: resourceOf(operation).resourceId,
  };
}

/**
 * Takes the customer to a bank whose links lead them. The payment may run as soon as they have a link. What the flow keeps of the links is durable before the customer has one.
 *
 * @returns whether the bank has the confirmation code
 */
export async function authorisePayment(
  run: Run,
  operation: Payment,
  { returnState: state }: Initiation,
  returns: ReturnPorts,
): Promise<boolean> {
  const { open, ports } = run;
  const { kind, flow, links } = operation;
  const whose: { psuId?: string } = returns.psuId === undefined ? {} : { psuId: returns.psuId };
  const subject: LinkedSubject = {
    ...subjectOf(run, operation),
    ...{ kind, flow, state, again: [kind, 'resume', flow] },
  };
  return authoriseByLinks(subject, returns.person ? null : links, ports, returns, {
    approach: announcing<StepEvent>(open, (intent) => ({ type: 'approach-sent', ...intent, ...whose })),
    code: announcing<StepEvent>(open, (intent) => ({ type: 'code-sent', ...intent })),
    async started(found) {
      await open.record({ type: 'sca-started', links: found, ...whose });
    },
    async returned() {
      await open.record({ type: 'sca-returned' });
    },
    async isDecided() {
      const { found, awaitsCustomer, isRefusedHere = false } = await lookAt(ports, open.current);
      return !isPending(found) || !awaitsCustomer || isRefusedHere;
    },
    async refusedLogin(error) {
      if (!(await askDecision(ports, operation))) throw error;
    },
  });
}

/**
 * Asks the bank until the customer has decided, and records what it says.
 *
 * @throws Psd2Error `partly_authorised` if another person must authorise it, too; `authorisation_timeout` if their time is over, `outcome_unknown` if they have authorised it, and the bank does
 *   not say what becomes of it; `usage` if only the return of their browser helps
 */
export async function awaitPayment(
  { open, ports: { bank, customer, world }, calls }: Run,
  operation: Payment,
  subject: ScaSubject,
  sentCode: boolean,
): Promise<void> {
  let last: Awaited<ReturnType<typeof lookAt>> | undefined;
  let looksPartly = 0;
  const ask = async () => {
    last = await lookAt({ bank }, open.current);
    const { found } = last;
    if (!isPending(found)) return found;
    const mayNeedCode = operation.links?.confirmation !== undefined && !sentCode;
    if (mayNeedCode && (await progressOf(bank.sca, subject.resourceId, operation))?.means === 'needs code')
      throw lacksReturn(
        { ...operation, again: [operation.kind, 'resume', operation.flow] },
        "The bank waits for the code that only the customer's browser brings back",
      );
    // The word for the payment can come a moment after that for the last authorisation.
    looksPartly = last.partly === 'ours is over' ? looksPartly + 1 : 0;
    return looksPartly > 1 ? found : null;
  };
  const pause = bank.sca.timing?.pollSeconds;
  const asked = askUntil(world, customer.scaTimeoutMs, ask, pause === undefined ? undefined : pause * 1000);
  const decided = await customer.whileWaiting(
    "Waiting for the customer's decision",
    asked,
    customer.scaTimeoutMs,
  );
  const words = decided ?? last?.found;
  if (words) await open.record(words);
  if (decided && isPending(decided))
    throw othersMust(open.current, calls.name, open.current.transactionStatus);
  if (decided) return;
  // Where psd2 commits, nothing was sent that could have had an effect.
  if (operation.commits === 'on execute' || (last?.awaitsCustomer ?? true)) throw timedOut(customer, subject);
  await recordOutcome(open, { type: 'execute-unanswered' });
  throw outcomeUnknown(operation, `The bank does not say yet whether it executes the ${calls.name}`);
}

/** The error if others must authorise it, too. @param name what it is in messages @param bankStatus the bank's word */
export function othersMust(
  {
    kind,
    flow,
    transactionId,
    authorisations,
  }: Pick<AnyFlow<string>, 'flow' | 'transactionId'> & {
    kind: string;
    authorisations: readonly PersonsAuthorisation[];
  },
  name: string,
  bankStatus: string | null,
): Psd2Error {
  const who = whoAuthorised(authorisations);
  const done =
    who.length === 0 ? `The ${name} has an authorisation` : `${who.join(', ')} authorised the ${name}`;
  return new Psd2Error(
    'partly_authorised',
    `${done}, and the bank waits for another person (${bankStatus})`,
    {
      hint: 'They authorise it at the bank, or with --psu-id and their id here. See whether they have, or take them there:',
      next: [
        [kind, 'resume', flow],
        [kind, 'resume', flow, '--psu-id', 'ID'],
      ],
      flow,
      transactionId,
    },
  );
}

/**
 * The answer to a question about an operation. If the customer commits, the payment may run as soon as they have the link. What the
 * bank refused then is the question, or could not be asked.
 *
 * @throws Psd2Error `outcome_unknown` if the bank does not say, and the customer commits
 */
export async function unknownIfUnsaid<Answer>(
  { open, calls }: Run,
  answer: Promise<Answer>,
): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    const { commits, mayExecuteWithoutUs } = open.current;
    const isUnread = error instanceof Psd2Error && error.refusal === 'unread';
    const isUnanswered = isRefusal(error) || (mayExecuteWithoutUs && (isTrouble(error) || isUnread));
    // Another login brings the answer.
    if (commits === 'on execute' || needsLoginAgain(error, open.current) || !isUnanswered) throw error;
    throw unsaid({ open, calls }, error);
  }
}

/** The error for a payment that may run, if psd2 cannot find out. */
export function unsaid({ open, calls }: Pick<Run, 'open' | 'calls'>, why: unknown): Psd2Error {
  const { current } = open;
  const unknown = outcomeUnknown(current, `The bank does not say what became of the ${calls.name}`, why);
  const logsIn = why instanceof Psd2Error && why.hadToken && !(current.links && isLogin(current.links));
  return logsIn ? unknown.with({ next: [...(why.next ?? []), ...(unknown.next ?? [])] }) : unknown;
}

/** The operator does not want the fees, but the bank may execute the payment all the same. */
export function feesRefused({ kind, flow, transactionId }: Payment, name: string): Psd2Error {
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
