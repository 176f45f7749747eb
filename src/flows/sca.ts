import type { Bank } from '../bank/ports/bank.ts';
import type { BeforeSend } from '../bank/ports/call.ts';
import type { Decides } from '../bank/ports/customer.ts';
import { type Authorization, endsUnpaid, isPending } from '../domain/operation.ts';
import type { ResourceStatus } from '../domain/payment-answers.ts';
import { type ErrorContext, Psd2Error } from '../errors.ts';
import { beginTimeLimit } from '../time-limit.ts';
import type { Callback, CustomerPorts, WorldPorts } from './ports.ts';
import { isTrouble } from './refusals.ts';

/** What SCA needs of the bank and of the customer. */
export interface ScaPorts {
  bank: Pick<Bank, 'sca'>;
  customer: CustomerPorts;
  world: WorldPorts;
}

/** What psd2 waits for, in the words of its messages. */
export interface ScaRequest {
  /** What the customer has to do: `log in`, `authorise the transfer`. */
  doing: string;
  /** Who has to do it, by the id that the bank was told. Absent: the customer. */
  who?: string | undefined;
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
  ports: ScaPorts,
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
    const url = await bank.sca.start({
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
export function awaitCallback(
  listener: Callback,
  ports: { customer: CustomerPorts; world: WorldPorts },
  request: ScaRequest,
): Promise<URLSearchParams> {
  return awaitReturn((signal) => listener.received(signal), ports, request);
}

/**
 * Waits for what shows that the customer has come back, until their time is over.
 *
 * @param received rejects with the signal's reason
 * @throws Psd2Error `authorisation_timeout`
 */
export async function awaitReturn<T>(
  received: (signal: AbortSignal) => Promise<T>,
  { customer, world }: { customer: CustomerPorts; world: WorldPorts },
  request: ScaRequest,
): Promise<T> {
  const limit = beginTimeLimit(customer.scaTimeoutMs, world.signal);
  try {
    return await customer.whileWaiting(
      `Waiting for ${request.who ?? 'the customer'} to ${request.doing}`,
      received(limit.signal),
      customer.scaTimeoutMs,
    );
  } catch (error) {
    // The time is over, and psd2 knows more than that.
    if (!limit.isOver() || error instanceof Psd2Error) throw error;
    throw timedOut(customer, request, ' and come back');
  } finally {
    limit.clear();
  }
}

/** The delays between status calls while the customer decides: short at first, then 3 s. */
const POLL_DELAYS_MS = [500, 1_000, 2_000];
const POLL_DELAY_MS = 3_000;

/**
 * Asks the bank, with pauses, until the answer is not null. A bank in trouble is asked again, too.
 *
 * @param pauseMs the pause that the bank wants. After a longer one than psd2's own there is no short one at first
 * @returns null if it still is when the time is over
 * @throws what `ask` throws; of the bank's trouble, only what the last question met
 */
export async function askUntil<T>(
  world: Pick<WorldPorts, 'now' | 'sleep'>,
  milliseconds: number,
  ask: () => Promise<T | null>,
  pauseMs = POLL_DELAY_MS,
): Promise<T | null> {
  const deadline = world.now().getTime() + milliseconds;
  const met = new Trouble(world);
  for (let questions = 0, slept = 0; ; questions += 1) {
    const answer = await ask().then((word) => {
      met.end();
      return word;
    }, met.note);
    if (answer !== null) return answer;
    const early = pauseMs > POLL_DELAY_MS ? undefined : POLL_DELAYS_MS[questions];
    const delay = Math.min(early ?? pauseMs, pauseMs);
    slept += delay;
    // The clock may have been set back in the meantime.
    if (world.now().getTime() + delay > deadline || slept > milliseconds) {
      met.raise();
      return null;
    }
    await world.sleep(delay);
  }
}

/** The bank's trouble while psd2 asks again and again: since when it could not be asked. */
export class Trouble {
  readonly #world: Pick<WorldPorts, 'now'>;
  #last: Psd2Error | undefined;
  #since: string | undefined;

  constructor(world: Pick<WorldPorts, 'now'>) {
    this.#world = world;
  }

  /** Notes that a question had no answer. @throws what is not the bank's trouble */
  readonly note = (error: unknown): null => {
    if (!isTrouble(error)) throw error;
    this.#last = error;
    this.#since ??= `${this.#world.now().toISOString().slice(0, 19)}Z`;
    return null;
  };

  /** The bank has answered. */
  end(): void {
    this.#last = undefined;
    this.#since = undefined;
  }

  /** @throws the last trouble, with since when, if there was no answer after it */
  raise(): void {
    if (this.#last && this.#since !== undefined) throw this.#last.with({ unaskedSince: this.#since });
  }
}

/**
 * Asks the bank until the authorization is no longer pending (interface specification, "Generic operation flow", step 4).
 *
 * @throws Psd2Error `authorisation_timeout` if it is still pending when the customer's time is over
 */
export function awaitAuthorization(ports: ScaPorts, subject: ScaSubject): Promise<Authorization> {
  return awaitDecision(ports, subject, ({ authorization }) => authorization);
}

/** As {@link awaitAuthorization}. @param read what a status means */
export async function awaitDecision<Found extends { type: string; status?: string }>(
  { bank, customer, world }: ScaPorts,
  subject: ScaSubject,
  read: (status: ResourceStatus) => Found,
): Promise<Found> {
  const poll = async () => {
    const decided = await askUntil(world, customer.scaTimeoutMs, async () => {
      const ask = async (decides?: Decides) =>
        read(await bank.sca.status(subject.resourceId, subject.transactionId, decides));
      const event = await ask();
      if (isPending(event)) return null;
      if (!endsUnpaid(event)) return event;
      // It frees a reference, and a gateway may have given the answer to another request.
      const again = await ask('an end');
      return isPending(again) ? null : again;
    });
    if (!decided) throw timedOut(customer, subject);
    return decided;
  };
  return customer.whileWaiting("Waiting for the customer's decision", poll(), customer.scaTimeoutMs);
}

/** The error if the customer's time is over. */
export function timedOut(
  { scaTimeoutMs }: CustomerPorts,
  { doing, who = 'The customer', whenLate, transactionId }: ScaRequest,
  andThen = '',
): Psd2Error {
  return new Psd2Error(
    'authorisation_timeout',
    `${who} did not ${doing}${andThen} within ${scaTimeoutMs / 1000} s`,
    {
      ...whenLate,
      transactionId,
    },
  );
}

export interface InquiryPorts extends ScaPorts {
  /** psd2 may send the customer to the bank: there is a terminal, or the operator gave `--yes`. */
  maySendCustomer: boolean;
  say(text: string): void;
}

/**
 * Makes a call. After the answer that SCA is required, psd2 sends the customer to SCA with the resource in the answer, and makes
 * the call once more with the same token. A second such answer is an error.
 *
 * @throws Psd2Error `sca_required` if psd2 cannot or must not send the customer, and what `call` throws
 */
export async function withSca<T>(
  call: () => Promise<T>,
  transactionId: string,
  ports: InquiryPorts,
): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!isScaRequired(error)) throw error;
    await authenticate(error, transactionId, ports);
  }
  try {
    return await call();
  } catch (error) {
    if (!isScaRequired(error)) throw error;
    throw error.with({
      hint: 'The customer came back from SCA, but the bank still requires it. Log in again:',
      next: [['auth', 'login']],
    });
  }
}

function isScaRequired(error: unknown): error is Psd2Error {
  return error instanceof Psd2Error && error.code === 'sca_required';
}

async function authenticate(error: Psd2Error, transactionId: string, ports: InquiryPorts): Promise<void> {
  const { resourceId } = error;
  if (!resourceId)
    throw error.with({
      hint: 'The bank named no resource to authorise. The customer must log in again:',
      next: [['auth', 'login']],
    });
  if (!ports.maySendCustomer)
    throw error.with({
      hint: 'On a terminal, or with --yes, psd2 sends the customer to authenticate and repeats the call.',
    });
  ports.say('The bank requires the customer to authenticate again first.');
  const subject = {
    resourceId,
    transactionId,
    doing: 'authenticate',
    whenLate: { hint: 'Run the command again. --sca-timeout gives the customer more time.' },
  };
  const returned = await sendCustomerToSca(ports, subject);
  if (!returned) await awaitAuthorization(ports, subject);
}
