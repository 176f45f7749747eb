import { type BeforeSend, fetchOperationStatus, startSca } from '../bank/operations.ts';
import { type AuthorizationStatus, readAuthorizationStatus } from '../domain/transfer.ts';
import { Psd2Error } from '../errors.ts';
import type { Callback, CustomerPorts, FlowPorts, WorldPorts } from './ports.ts';

/** What there is to authorise. */
export interface ScaSubject {
  resourceId: string;
  transactionId: string;
  /** Local id of the flow, for the messages. */
  flow: string;
  kind: 'consent' | 'transfer';
}

/** How a flow keeps its journal while the customer is at the bank. */
export interface ScaRecord {
  beforeSend: BeforeSend;
  started(): void;
  returned(): void;
}

/**
 * Sends the customer to the bank for SCA and waits until the browser is back (interface specification,
 * "Generic operation flow", steps 3 and 4). The return proves nothing: the bank's own status or confirm decides.
 * Where the redirect URI is not on this machine there is no return to wait for.
 *
 * @throws Psd2Error `authorisation_timeout` when the customer does not come back in time
 */
export async function sendCustomerToSca(
  ports: FlowPorts,
  subject: ScaSubject,
  record: ScaRecord,
): Promise<void> {
  const { bank, customer, world } = ports;
  const state = world.newId();
  const redirectUri = new URL(customer.redirectUri);
  redirectUri.searchParams.set('state', state);

  const listener = await customer.listen(state, 'authorisation');
  try {
    const url = await startSca(bank, {
      ...subject,
      redirectUri: redirectUri.href,
      beforeSend: record.beforeSend,
    });
    record.started();
    await customer.sendBrowser(url);
    if (listener) {
      await awaitCallback(listener, { ports, doing: `authorise the ${subject.kind}` }, subject);
      record.returned();
    }
  } finally {
    await listener?.close();
  }
}

/** Waits for a callback as long as the customer may take. @throws Psd2Error `authorisation_timeout` */
export async function awaitCallback(
  listener: Callback,
  how: { ports: { customer: CustomerPorts; world: WorldPorts }; doing: string },
  subject?: ScaSubject,
): Promise<URLSearchParams> {
  const { customer, world } = how.ports;
  const timeout = AbortSignal.timeout(customer.scaTimeoutMs);
  try {
    return await customer.whileWaiting(
      `Waiting for the customer to ${how.doing}`,
      listener.received(AbortSignal.any([world.signal, timeout])),
    );
  } catch (error) {
    if (!timeout.aborted || world.signal.aborted) throw error;
    throw timedOut(customer, how.doing, subject);
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
): Promise<{ status: AuthorizationStatus; bankStatus: string }> {
  const deadline = world.now().getTime() + customer.scaTimeoutMs;
  const poll = async () => {
    for (let asked = 0; ; asked += 1) {
      const { authorizationStatus } = await fetchOperationStatus(
        bank,
        subject.resourceId,
        subject.transactionId,
      );
      const status = readAuthorizationStatus(authorizationStatus);
      if (status !== 'PENDING') return { status, bankStatus: authorizationStatus };
      const delay = POLL_DELAYS_MS[asked] ?? POLL_DELAY_MS;
      if (world.now().getTime() + delay > deadline)
        throw timedOut(customer, `authorise the ${subject.kind}`, subject);
      await world.sleep(delay);
    }
  };
  return customer.whileWaiting('Waiting for the bank to tell how the customer decided', poll());
}

function timedOut(customer: CustomerPorts, doing: string, subject?: ScaSubject): Psd2Error {
  return new Psd2Error(
    'authorisation_timeout',
    `The customer did not ${doing} within ${customer.scaTimeoutMs / 1000} s`,
    subject
      ? {
          hint: `Go on with: psd2 ${subject.kind} resume ${subject.flow}`,
          transactionId: subject.transactionId,
        }
      : { hint: 'Run psd2 auth login again; --sca-timeout gives the customer more time.' },
  );
}
