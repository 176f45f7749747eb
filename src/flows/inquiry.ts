import type { Bank } from '../bank/call/bank.ts';
import { Psd2Error } from '../errors.ts';
import type { CustomerPorts, WorldPorts } from './ports.ts';
import { awaitAuthorization, sendCustomerToSca } from './sca.ts';

export interface InquiryPorts {
  customer: CustomerPorts;
  world: WorldPorts;
  /** The customer may be sent to the bank: there is a terminal, or the operator said yes beforehand. */
  maySendCustomer: boolean;
  say(text: string): void;
}

/**
 * A bank whose calls, when it answers `PSD2_SCA_REQUIRED`, send the customer to SCA with the resource that came
 * along and are then made once more: SCA lifts the token that is already held. A second such answer is the end,
 * and so is one to a PUT, whose own SCA has been.
 *
 * @returns a bank whose calls throw Psd2Error `sca_required` when the customer can't or may not be sent
 */
export function withScaForInquiries(bank: Bank, ports: InquiryPorts): Bank {
  return {
    exchange: bank.exchange,
    async call(call, schema) {
      try {
        return await bank.call(call, schema);
      } catch (error) {
        if (!isScaRequired(error) || call.method === 'PUT') throw error;
        await authenticate(bank, error, call.transactionId, ports);
      }
      try {
        return await bank.call(call, schema);
      } catch (error) {
        if (!isScaRequired(error)) throw error;
        throw error.with({
          hint: 'The customer came back from SCA, and the bank still wants it. Log in again:',
          next: [['auth', 'login']],
        });
      }
    },
  };
}

function isScaRequired(error: unknown): error is Psd2Error {
  return error instanceof Psd2Error && error.code === 'sca_required';
}

async function authenticate(
  bank: Bank,
  error: Psd2Error,
  transactionId: string,
  ports: InquiryPorts,
): Promise<void> {
  const { resourceId } = error;
  if (!resourceId) {
    throw error.with({
      hint: 'The bank named no resource to authorise. The customer has to log in again:',
      next: [['auth', 'login']],
    });
  }
  if (!ports.maySendCustomer) {
    throw error.with({
      hint: 'On a terminal, or with --yes, the customer is sent to authenticate and the call is made again.',
    });
  }
  ports.say('The bank wants the customer to authenticate again first.');
  const subject = {
    resourceId,
    transactionId,
    doing: 'authenticate',
    whenLate: { hint: 'Run the command again; --sca-timeout gives the customer more time.' },
  };
  const flowPorts = { bank, customer: ports.customer, world: ports.world };
  const returned = await sendCustomerToSca(flowPorts, subject);
  if (!returned) await awaitAuthorization(flowPorts, subject);
}
