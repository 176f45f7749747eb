import type { BeforeSend } from '../bank/call/exchange.ts';
import { fetchOperationStatus, startSca } from '../bank/endpoints/operations.ts';
import { type Authorization, isPending, readAuthorization } from '../domain/operation.ts';
import { type ErrorContext, Psd2Error } from '../errors.ts';
import type { Callback, CustomerPorts, FlowPorts, WorldPorts } from './ports.ts';

/** What psd2 waits for, in the words of its messages. */
export interface ScaRequest {
  /** What the customer has to do: `log in`, `authorise the transfer`. */
  doing: string;
  /** What the operator can do if the customer is too late. */
  whenLate: Pick<ErrorContext, 'hint' | 'next' | 'flow'>;
  transactionId: string;
}

/** The resource to authorise. */
export interface ScaSubject extends ScaRequest {
  resourceId: string;
}

/** The journal's callbacks while the customer is at the bank. */
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
 * Sends the customer to the bank for SCA and waits for the return of the browser (interface specification, "Generic
 * operation flow", steps 3 and 4). The return proves nothing: the bank's status, or its answer to `confirm`, decides.
 *
 * @returns false if psd2 does not wait for a return, because the redirect URI or the customer is not on this machine
 * @throws Psd2Error `authorisation_timeout` if the customer does not come back in time
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

/** Waits for a callback until the customer's time is over. @throws Psd2Error `authorisation_timeout` */
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

/** The delays between status calls while the customer decides: short at first, then 3 s. */
const POLL_DELAYS_MS = [500, 1_000, 2_000];
const POLL_DELAY_MS = 3_000;

/**
 * Asks the bank until the authorization is no longer pending (interface specification, "Generic operation flow", step 4).
 *
 * @throws Psd2Error `authorisation_timeout` if it is still pending when the customer's time is over
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
      // The clock may have been set back in the meantime.
      const isLate = world.now().getTime() + delay > deadline || slept > customer.scaTimeoutMs;
      if (isLate) throw timedOut(customer, subject);
      await world.sleep(delay);
    }
  };
  return customer.whileWaiting("Waiting for the customer's decision", poll(), customer.scaTimeoutMs);
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
