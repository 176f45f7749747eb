import type { Bank } from '../bank/call/bank.ts';
import type { ReadTokens, TokenSlot } from '../store/ports/tokens.ts';

/** One callback that a customer's browser makes after login or SCA. */
export interface Callback {
  /** Resolves with the callback's parameters; rejects with the signal's reason. */
  received(signal: AbortSignal): Promise<URLSearchParams>;
  close(): Promise<void>;
}

/** How a flow reaches the customer and the operator. */
export interface CustomerPorts {
  /** Where the customer's browser returns to, exactly as it is registered at the bank. */
  redirectUri: string;
  /**
   * Waits for the browser at the redirect URI, from now on.
   *
   * @returns null when the redirect URI is not on this machine
   */
  listen(state: string, purpose: 'login' | 'authorisation'): Promise<Callback | null>;
  /** Shows the address and opens it in the customer's browser. @throws Psd2Error for an address that is not to be opened */
  sendBrowser(url: string): Promise<void>;
  /**
   * The customer is at another device, whose browser can't come back to this machine: the bank is asked for the
   * decision instead.
   */
  atAnotherDevice: boolean;
  /** Shows `text` on the terminal while `work` runs, and how much of the `milliseconds` is left. */
  whileWaiting<T>(text: string, work: Promise<T>, milliseconds?: number): Promise<T>;
  /** How long the customer may take. */
  scaTimeoutMs: number;
}

/** Time, randomness and Ctrl-C. */
export interface WorldPorts {
  now: () => Date;
  newId: () => string;
  /** Rejects with the signal's reason when the operator interrupts. */
  sleep: (milliseconds: number) => Promise<void>;
  /** Aborted when the operator interrupts. */
  signal: AbortSignal;
  /**
   * Runs what can't be had a second time: the command does not end before it, also when the operator interrupts.
   *
   * @param atStake what is lost where the operator ends the command all the same, as the beginning of a sentence
   */
  finish<T>(atStake: string, work: () => Promise<T>): Promise<T>;
}

/** What the consent and transfer flows run on. */
export interface FlowPorts {
  bank: Bank;
  customer: CustomerPorts;
  world: WorldPorts;
}

/** The tokens of one customer, or of the client-credentials application. */
export interface TokenKeeper {
  /** Whose they are, as the beginning of a sentence: `The login of customer 1048262`. */
  whose: string;
  read(): Promise<ReadTokens | undefined>;
  /** As `Tokens.ready`. */
  ready(): Promise<() => Promise<void>>;
  /** As `Tokens.change`. */
  change<T>(work: (slot: TokenSlot) => Promise<T>): Promise<T>;
}
