import { randomUUID } from 'node:crypto';
import { Psd2Error } from '../../src/errors.ts';
import type { GiftRecord } from '../../src/flows/gifts.ts';
import type { CredentialPorts, CustomerPorts, ReturnPorts, WorldPorts } from '../../src/flows/ports.ts';
import type { OpenFlow } from '../../src/store/ports/flows.ts';

/** Time that passes only when someone sleeps. */
export interface FakeWorld extends WorldPorts {
  /** Milliseconds of each pause. */
  sleeps: number[];
  /** Milliseconds that have passed. */
  elapsed(): number;
  /** Lets time pass. */
  pass(milliseconds: number): void;
  interrupt: AbortController;
}

export function fakeWorld(): FakeWorld {
  // The bank accepts only requests that were signed just now.
  const start = Math.floor(Date.now() / 1000) * 1000;
  let elapsed = 0;
  const sleeps: number[] = [];
  const interrupt = new AbortController();
  return {
    now: () => new Date(start + elapsed),
    newId: randomUUID,
    async sleep(milliseconds) {
      interrupt.signal.throwIfAborted();
      sleeps.push(milliseconds);
      elapsed += milliseconds;
    },
    signal: interrupt.signal,
    finish: (_, work) => work(),
    interrupt,
    sleeps,
    elapsed: () => elapsed,
    pass(milliseconds) {
      elapsed += milliseconds;
    },
  };
}

/** A customer with a browser. */
export interface FakeCustomer extends CustomerPorts {
  /** The addresses that the browser was sent to. */
  visited: string[];
  /** The listeners that were opened. */
  listeners: { state: string; purpose: 'login' | 'confirmation' | 'authorisation'; closed: boolean }[];
}

/**
 * @param comesBack what the browser brings back in addition to the state; null if it never comes back
 */
export function fakeCustomer(
  settings: Partial<CustomerPorts> = {},
  comesBack: Record<string, string> | null = {},
): FakeCustomer {
  const visited: string[] = [];
  const listeners: FakeCustomer['listeners'] = [];
  return {
    redirectUri: 'http://127.0.0.1:8910/callback',
    scaTimeoutMs: 300_000,
    atAnotherDevice: false,
    visited,
    listeners,
    async listen(state, purpose) {
      const listener = { state, purpose, closed: false };
      listeners.push(listener);
      return {
        received: (signal) =>
          comesBack
            ? Promise.resolve(new URLSearchParams({ state, ...comesBack }))
            : new Promise((_, reject) => {
                if (signal.aborted) reject(signal.reason);
                signal.addEventListener('abort', () => reject(signal.reason));
              }),
        async close() {
          listener.closed = true;
        },
      };
    },
    async sendBrowser(url) {
      visited.push(url);
    },
    whileWaiting: (_, work) => work,
    ...settings,
  };
}

/** Nobody gives a credential. @param refusal why psd2 may take none */
export function untaken(
  refusal: Psd2Error | null = new Psd2Error('config', 'The profile allows no embedded SCA'),
): CredentialPorts {
  return {
    refusal: () => refusal,
    password: async () => null,
    method: async () => null,
    code: async () => null,
    beginsAgain: async () => false,
    note: async () => {},
    close: async () => {},
  };
}

/** What psd2 needs when a customer returns: an application, and a place for tokens. */
export function returnsTo(changes: Partial<ReturnPorts> = {}): ReturnPorts {
  return {
    client: () => ({ clientId: 'PSDIT-1', clientSecret: '' }),
    readyToKeep: async () => {},
    keepTokens: async (granted) => void (await granted()),
    askForReturn: undefined,
    credentials: untaken(),
    say: () => {},
    quote: () => {},
    ...changes,
  };
}

/** For SCA in which the customer gives psd2 nothing. */
export const NO_GIFTS: GiftRecord = {
  subject: { kind: 'consent', flow: 'co-1', order: null },
  sent: () => [],
  announce: () => async () => undefined,
  answered: async () => {},
  kept: async () => {},
  look: async () => ({ scaStatus: null, decided: null }),
  stop: (why) => (typeof why === 'string' ? new Psd2Error('still_open', why) : why),
};

/** Keeps what psd2 shows on the terminal while it waits. */
export function waitsOf(): { waits: string[]; whileWaiting: CustomerPorts['whileWaiting'] } {
  const waits: string[] = [];
  return {
    waits,
    whileWaiting: (text, work) => {
      waits.push(text);
      return work;
    },
  };
}

/**
 * An open flow.
 *
 * @param happens what happens before an event is recorded, or before the first byte of the call that decides. Another psd2 may
 *   write meanwhile. It may also throw, as the store does if the disk is full: a test cannot fill the disk
 */
export function disturbed<Flow extends { state: string }, Event extends { type: string }>(
  open: OpenFlow<Flow, Event>,
  happens: (before: Event['type'] | 'the first byte') => unknown,
): OpenFlow<Flow, Event> {
  return {
    get current() {
      return open.current;
    },
    async record(event) {
      await happens(event.type);
      return open.record(event);
    },
    async assertOurs() {
      if (['executing', 'confirming'].includes(open.current.state)) await happens('the first byte');
      await open.assertOurs();
    },
    reread: () => open.reread(),
  };
}

/** What the operator gets to know of the error that a run ends with. */
export async function errorOf(run: Promise<unknown>) {
  const error = await run.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Psd2Error)) throw new TypeError(`The run ended with ${error}`);
  const { code, message, hint, next, flow, transactionId } = error;
  return { code, message, hint, next, flow, transactionId };
}

/** A customer whose browser comes back to another machine. */
export function customerElsewhere(settings: Partial<CustomerPorts> = {}): FakeCustomer {
  return fakeCustomer({
    redirectUri: 'https://tpp.example/back?to=psd2',
    listen: async () => null,
    ...settings,
  });
}
