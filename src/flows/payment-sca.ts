import {
  type Initiation,
  isPending,
  type Operation,
  type OrderTarget,
  type StepEvent,
} from '../domain/operation.ts';
import { Psd2Error } from '../errors.ts';
import { authoriseByLinks, type LinkedSubject, lacksReturn, type ReturnPorts } from './linked-sca.ts';
import { askDecision } from './outcome.ts';
import type { FlowPorts } from './ports.ts';
import { progressOf, resourceOf, statusOf } from './resource-status.ts';
import { askUntil, type ScaSubject, timedOut } from './sca.ts';
import type { Verifying } from './verification.ts';

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
  const subject: LinkedSubject = {
    ...{ kind, flow, transactionId, state },
    again: [kind, 'resume', flow],
    resourceId: resourceOf(operation).resourceId,
    doing: `authorise the ${calls.name}`,
    whenLate: { hint: 'Continue with:', next: [[kind, 'resume', flow]], flow },
  };
  return authoriseByLinks(subject, links, ports, returns, {
    approach: run.announcing('approach-sent'),
    code: run.announcing('code-sent'),
    async started(found) {
      await open.record({ type: 'sca-started', links: found });
    },
    async returned() {
      await open.record({ type: 'sca-returned' });
    },
    isDecided: async () => !isPending(await statusOf(ports, operation)),
    async refusedLogin(error) {
      if (!(await askDecision(ports, operation))) throw error;
    },
    isDecided: async () => (await askDecision(ports, open.current)) !== null,
  });
}

/**
 * Asks the bank until the customer has decided.
 *
 * @throws Psd2Error `authorisation_timeout` if their time is over, `usage` if only the return of their browser helps
 */
export async function awaitPayment<Order extends OrderTarget>(
  { bank, customer, world }: FlowPorts,
  operation: Operation<Order>,
  subject: ScaSubject,
  sentCode: boolean,
): Promise<StepEvent> {
  const ask = async () => {
    const found = await statusOf({ bank }, operation);
    if (!isPending(found)) return found;
    const mayNeedCode = operation.links?.confirmation !== undefined && !sentCode;
    if (mayNeedCode && (await progressOf(bank.sca, operation))?.means === 'needs code')
      throw lacksReturn(
        { ...operation, again: [operation.kind, 'resume', operation.flow] },
        "The bank waits for the code that only the customer's browser brings back",
      );
    return null;
  };
  const pause = bank.sca.timing?.pollSeconds;
  const asked = askUntil(world, customer.scaTimeoutMs, ask, pause === undefined ? undefined : pause * 1000);
  const decided = await customer.whileWaiting(
    "Waiting for the customer's decision",
    asked,
    customer.scaTimeoutMs,
  );
  if (!decided) throw timedOut(customer, subject);
  return decided;
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
