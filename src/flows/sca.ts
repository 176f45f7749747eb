import type { BeforeSend } from '../bank/call/exchange.ts';
import { fetchOperationStatus, startSca } from '../bank/endpoints/operations.ts';
import { type Authorization, isPending, readAuthorization } from '../domain/operation.ts';
import { type ErrorContext, Psd2Error } from '../errors.ts';
import type { Callback, CustomerPorts, FlowPorts, WorldPorts } from './ports.ts';

/** What the customer is waited for, in the words of the messages. */
export interface ScaRequest {
  /** What the customer is to do: `log in`, `authorise the transfer`. */
  doing: string;
  /** What the operator can do when the customer did not. */
  whenLate: Pick<ErrorContext, 'hint' | 'next' | 'flow'>;
  transactionId: string;
}

/** What there is to authorise. */
export interface ScaSubject extends ScaRequest {
  resourceId: string;
}

/** How a flow keeps its journal while the customer is at the bank. */
export interface ScaRecord {
  beforeSend: BeforeSend;
  started(): Promise<void>;
  returned(): Promise<void>;
}

const NO_RECORD: ScaRecord = {
  beforeSend: async () => undefined,
  started: async () => {},
  returned: async () => {},
};

/**
 * Sends the customer to the bank for SCA and waits until the browser is back (interface specification,
 * "Generic operation flow", steps 3 and 4). The return proves nothing: the bank's own status or confirm decides.
 *
 * @returns false where the redirect URI is not on this machine, or the customer isn't, so that there is no return to
 *   wait for
 * @throws Psd2Error `authorisation_timeout` when the customer does not come back in time
 */
export async function sendCustomerToSca(
  ports: FlowPorts,
  subject: ScaSubject,
  record: ScaRecord = NO_RECORD,
): Promise<boolean> {
  const { bank, customer, world } = ports;
  const state = world.newId();
  const redirectUri = new URL(customer.redirectUri);
  redirectUri.searchParams.set('state', state);

  const listener = customer.atAnotherDevice ? null : await customer.listen(state, 'authorisation');
  try {
    const { resourceId, transactionId } = subject;
    const { beforeSend } = record;
    const url = await startSca(bank, {
      resourceId,
      transactionId,
      redirectUri: redirectUri.href,
      beforeSend,
    });
    await record.started();
    await customer.sendBrowser(url);
    if (!listener) return false;
    await awaitCallback(listener, ports, subject);
    await record.returned();
    return true;
  } finally {
    await listener?.close();
  }
}

/** Waits for a callback as long as the customer may take. @throws Psd2Error `authorisation_timeout` */
export async function awaitCallback(
  listener: Callback,
  { customer, world }: { customer: CustomerPorts; world: WorldPorts },
  request: ScaRequest,
): Promise<URLSearchParams> {
  const timeout = AbortSignal.timeout(customer.scaTimeoutMs);
  try {
    return await customer.whileWaiting(
      `Waiting for the customer to ${request.doing}`,
      listener.received(AbortSignal.any([world.signal, timeout])),
      customer.scaTimeoutMs,
    );
  } catch (error) {
    if (!timeout.aborted || world.signal.aborted) throw error;
    throw timedOut(customer, request, ' and come back');
  }
}

/** How often the status is asked for while the customer is still at it: soon at first, then every 3 s. */
const POLL_DELAYS_MS = [500, 1_000, 2_000];
const POLL_DELAY_MS = 3_000;

/**
 * Asks the bank until the authorization is no longer pending (interface specification, "Generic operation
 * flow", step 4).
 *
 * @throws Psd2Error `authorisation_timeout` when it is still pending after the time that the customer has
 */
export async function awaitAuthorization(
  { bank, customer, world }: FlowPorts,
  subject: ScaSubject,
): Promise<Authorization> {
  const deadline = world.now().getTime() + customer.scaTimeoutMs;
  const poll = async () => {
    for (let asked = 0, slept = 0; ; asked += 1) {
      const { authorizationStatus } = await fetchOperationStatus(
        bank,
        subject.resourceId,
        subject.transactionId,
      );
      const authorization = readAuthorization(authorizationStatus);
      if (!isPending(authorization)) return authorization;
      const delay = POLL_DELAYS_MS[asked] ?? POLL_DELAY_MS;
      slept += delay;
      // The clock may have been put back since.
      const isLate = world.now().getTime() + delay > deadline || slept > customer.scaTimeoutMs;
      if (isLate) throw timedOut(customer, subject);
      await world.sleep(delay);
    }
  };
  return customer.whileWaiting(
    'Waiting for the bank to tell how the customer decided',
    poll(),
    customer.scaTimeoutMs,
  );
}

function timedOut(
  { scaTimeoutMs }: CustomerPorts,
  { doing, whenLate, transactionId }: ScaRequest,
  andThen = '',
): Psd2Error {
  return new Psd2Error(
    'authorisation_timeout',
    `The customer did not ${doing}${andThen} within ${scaTimeoutMs / 1000} s`,
    {
      ...whenLate,
      transactionId,
    },
  );
}
