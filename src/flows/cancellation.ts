import type { PaymentCalls } from '../bank/ports/payment-calls.ts';
import type { Operation, OperationEvent, OrderTarget, StepEvent } from '../domain/operation.ts';
import { Psd2Error } from '../errors.ts';
import type { OpenFlow } from '../store/ports/flows.ts';
import { announcing } from './announce.ts';
import { authoriseByLinks, type LinkedSubject, type ReturnPorts } from './linked-sca.ts';
import { findOut, recordFound } from './outcome.ts';
import type { FlowPorts } from './ports.ts';
import { isRefusal } from './refusals.ts';
import { resourceOf, statusOf } from './resource-status.ts';
import { askUntil } from './sca.ts';

/**
 * Cancels a payment at a bank where the customer commits (NextGenPSD2, section 2, `DELETE`). If the bank wants it, the customer
 * authorises the cancellation. Only the bank's status ends the payment: an answer to the request alone does not.
 *
 * @returns the operation, which the bank has cancelled or rejected
 * @throws Psd2Error `usage` if the bank does not cancel it, `payment_failed`… as the bank refuses; `outcome_unknown` if the bank
 *   does not say that it is cancelled
 */
export async function cancelAtBank<Order extends OrderTarget>(
  open: OpenFlow<Operation<Order>, OperationEvent<Order>>,
  calls: PaymentCalls,
  ports: FlowPorts,
  returns: ReturnPorts,
): Promise<Operation<Order>> {
  const { sca, cancellation } = calls;
  const { initiation, kind, flow, transactionId } = open.current;
  if (!sca || !cancellation || !initiation) throw new TypeError(`The bank has no cancellation for ${flow}`);
  const { resourceId } = resourceOf(open.current);
  const announced = announcing<Operation<Order>, OperationEvent<Order>>(open, (intent) => ({
    type: 'cancel-sent',
    ...intent,
  }));
  const { returnAddress, returnState: state } = initiation;
  const request = { resourceId, redirectUri: returnAddress, beforeSend: announced };
  const links = await cancellation.request(request).catch(async (error: unknown) => {
    // An earlier request may have done it already, and the bank may have executed it.
    if (isRefusal(error) && (await recordEnd(open, { sca }))) return null;
    throw error;
  });
  if (links) {
    const subject: LinkedSubject = {
      ...{ kind, flow, transactionId, resourceId, returnAddress, state },
      doing: 'authorise the cancellation',
      whenLate: { hint: 'Ask for it again with:', next: [[kind, 'cancel', flow]], flow },
    };
    const at = { ...ports, bank: { ...ports.bank, sca: cancellation.sca } };
    await authoriseByLinks(subject, links, at, returns, {
      approach: announced,
      code: announced,
      started: async () => {},
      returned: async () => {},
      isDecided: () => recordEnd(open, { sca }),
      refusedLogin: (error) => Promise.reject(error),
    });
  }
  // Without SCA the bank needs a moment at most.
  const patience = links ? ports.customer.scaTimeoutMs : Math.min(ports.customer.scaTimeoutMs, 10_000);
  const ended = askUntil(ports.world, patience, async () => ((await recordEnd(open, { sca })) ? true : null));
  if (await ports.customer.whileWaiting('Waiting for the bank to cancel it', ended, patience))
    return open.current;
  throw new Psd2Error('outcome_unknown', `The bank does not say that the ${calls.name} is cancelled`, {
    ...findOut(kind, flow, 'The first command asks the bank, and never pays again.'),
    transactionId,
  });
}

/** Records what the bank says, if it has ended the payment or accepted it for execution. @returns whether it has ended */
async function recordEnd<Order extends OrderTarget>(
  open: OpenFlow<Operation<Order>, OperationEvent<Order>>,
  bank: { sca: NonNullable<PaymentCalls['sca']> },
): Promise<boolean> {
  const found: StepEvent = await statusOf({ bank }, open.current);
  const hasEnded = found.type === 'cancelled' || (found.type === 'settlement' && found.status === 'KO');
  return hasEnded && recordFound(open, found);
}
