import { type PersonsAuthorisation, whoAuthorised } from '../../domain/authorisations.ts';
import type { AnyFlow } from '../../domain/flow.ts';
import { type Initiation, isPending, type Operation, type OrderTarget } from '../../domain/operation.ts';
import { Psd2Error } from '../../errors.ts';
import {
  authoriseByLinks,
  type LinkedSubject,
  lacksReturn,
  type ReturnPorts,
  recordLinksLeft,
} from '../linked-sca.ts';
import { recordOutcome } from '../once.ts';
import { isRefusal, isTrouble } from '../refusals.ts';
import { askUntil, type ScaSubject, timedOut } from '../sca.ts';
import { outcomeUnknown } from '../unknown.ts';
import type { Verifying } from './begin.ts';
import { askDecision } from './outcome.ts';
import { lookAt, progressOf, resourceOf } from './status.ts';

// SCA of a payment at a bank whose links lead it. The payment may run as soon as the customer has a link.

/**
 * Takes the customer to the bank. What the flow keeps of the links is durable before the customer has one.
 *
 * @returns whether the bank has the confirmation code
 */
export async function authorisePayment<Order extends OrderTarget>(
  run: Verifying<Order>,
  operation: Operation<Order>,
  { returnState: state }: Initiation,
  returns: ReturnPorts,
): Promise<boolean> {
  const { open, ports, calls } = run;
  const { kind, flow, transactionId, links } = operation;
  const whose: { psuId?: string } = returns.psuId === undefined ? {} : { psuId: returns.psuId };
  const subject: LinkedSubject = {
    ...{ kind, flow, transactionId, state },
    again: [kind, 'resume', flow],
    resourceId: resourceOf(operation).resourceId,
    doing: `authorise the ${calls.name}`,
    whenLate: { hint: 'Continue with:', next: [[kind, 'resume', flow]], flow },
  };
  return authoriseByLinks(subject, returns.person ? null : links, ports, returns, {
    approach: run.announcing('approach-sent', undefined, whose),
    code: run.announcing('code-sent'),
    async started(found) {
      await open.record({ type: 'sca-started', links: found, ...whose });
    },
    linksLeft: () => recordLinksLeft(open, ports.bank.sca),
    async returned() {
      await open.record({ type: 'sca-returned' });
    },
    async isDecided() {
      const { found, awaitsCustomer } = await lookAt(ports, open.current);
      await recordLinksLeft(open, ports.bank.sca);
      return !isPending(found) || !awaitsCustomer;
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
export async function awaitPayment<Order extends OrderTarget>(
  { open, ports: { bank, customer, world }, calls }: Verifying<Order>,
  operation: Operation<Order>,
  subject: ScaSubject,
  sentCode: boolean,
): Promise<void> {
  let last: Awaited<ReturnType<typeof lookAt>> | undefined;
  let looksPartly = 0;
  const ask = async () => {
    last = await lookAt({ bank }, open.current);
    await recordLinksLeft(open, bank.sca);
    const { found } = last;
    if (!isPending(found)) return found;
    const mayNeedCode = operation.links?.confirmation !== undefined && !sentCode;
    if (mayNeedCode && (await progressOf(bank.sca, operation))?.means === 'needs code')
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
  if (decided && isPending(decided)) throw othersMust(open.current, open.current.transactionStatus);
  if (decided) return;
  if (last?.awaitsCustomer ?? true) throw timedOut(customer, subject);
  await recordOutcome(open, { type: 'execute-unanswered' });
  throw outcomeUnknown(operation, `The bank does not say yet whether it executes the ${calls.name}`);
}

/** The error if others must authorise it, too. @param bankStatus the bank's word */
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
  bankStatus: string | null,
): Psd2Error {
  const who = whoAuthorised(authorisations);
  const done =
    who.length === 0 ? `The ${kind} has an authorisation` : `${who.join(', ')} authorised the ${kind}`;
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
export async function unknownIfUnsaid<Order extends OrderTarget, Answer>(
  { open, calls }: Verifying<Order>,
  answer: Promise<Answer>,
): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    const { commits, mayExecuteWithoutUs } = open.current;
    const isUnanswered = isRefusal(error) || (mayExecuteWithoutUs && isTrouble(error));
    if (commits === 'on execute' || !isUnanswered) throw error;
    throw unsaid({ open, calls }, error);
  }
}

/** The error for a payment that may run, if psd2 cannot find out. */
export function unsaid<Order extends OrderTarget>(
  { open, calls }: Pick<Verifying<Order>, 'open' | 'calls'>,
  why: unknown,
): Psd2Error {
  return outcomeUnknown(open.current, `The bank does not say what became of the ${calls.name}`, why);
}

/** The operator does not want the fees, but the bank may execute the payment all the same. */
export function feesRefused({ kind, flow, transactionId }: Operation<OrderTarget>, name: string): Psd2Error {
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
