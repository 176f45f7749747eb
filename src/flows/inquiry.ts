import type { Bank } from '../bank/call/bank.ts';
import { Psd2Error } from '../errors.ts';
import type { CustomerPorts, WorldPorts } from './ports.ts';
import { awaitAuthorization, sendCustomerToSca } from './sca.ts';

export interface InquiryPorts {
  customer: CustomerPorts;
  world: WorldPorts;
  /** psd2 may send the customer to the bank: there is a terminal, or the operator gave `--yes`. */
  maySendCustomer: boolean;
  say(text: string): void;
}

/**
 * Wraps a bank: after the answer `PSD2_SCA_REQUIRED`, psd2 sends the customer to SCA with the resource in the answer, and
 * repeats the call once with the same token. A second such answer is an error. So is one to a PUT, because its SCA is
 * already done.
 *
 * @returns a bank whose calls throw Psd2Error `sca_required` if psd2 cannot or must not send the customer
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
          hint: 'The customer came back from SCA, but the bank still requires it. Log in again:',
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
      hint: 'The bank named no resource to authorise. The customer must log in again:',
      next: [['auth', 'login']],
    });
  }
  if (!ports.maySendCustomer) {
    throw error.with({
      hint: 'On a terminal, or with --yes, psd2 sends the customer to authenticate and repeats the call.',
    });
  }
  ports.say('The bank requires the customer to authenticate again first.');
  const subject = {
    resourceId,
    transactionId,
    doing: 'authenticate',
    whenLate: { hint: 'Run the command again. --sca-timeout gives the customer more time.' },
  };
  const flowPorts = { bank, customer: ports.customer, world: ports.world };
  const returned = await sendCustomerToSca(flowPorts, subject);
  if (!returned) await awaitAuthorization(flowPorts, subject);
}
