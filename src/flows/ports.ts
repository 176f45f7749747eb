import type { Bank } from '../bank/ports/bank.ts';
import type { Gives, PsuIdentification } from '../bank/ports/call.ts';
import type { ClientCredentials, Decides } from '../bank/ports/customer.ts';
import type { PaymentCalls } from '../bank/ports/payment-calls.ts';
import type { LoggedGift, ScaChallenge, ScaMethod } from '../domain/embedded.ts';
import type { Operation, OrderTarget, StepEvent, Verification } from '../domain/operation.ts';
import type { PaymentReading } from '../domain/payment-answers.ts';
import type { TransferOrder } from '../domain/transfer.ts';
import type { Psd2Error } from '../errors.ts';
import type { Secret } from '../secret.ts';
import type { OpenFlow } from '../store/ports/flows.ts';
import type { ReadTokens, StoredTokens, TokenSlot } from '../store/ports/tokens.ts';

/** The callback of a customer's browser after login or SCA. */
export interface Callback {
  /** Resolves with the callback's parameters. Rejects with the signal's reason. */
  received(signal: AbortSignal): Promise<URLSearchParams>;
  close(): Promise<void>;
}

/** How a flow reaches the customer and the operator. */
export interface CustomerPorts {
  /** The address that the customer's browser returns to, exactly as registered at the bank. */
  redirectUri: string;
  /**
   * Starts to wait for the browser at the redirect URI.
   *
   * @param purpose `confirmation`: the customer authorises, and only their browser brings the code that the bank wants
   * @returns null if the redirect URI is not on this machine
   */
  listen(state: string, purpose: 'login' | 'confirmation' | 'authorisation'): Promise<Callback | null>;
  /** Shows the address and opens it in the customer's browser. @throws Psd2Error for an unsafe address */
  sendBrowser(url: string, psuId?: string): Promise<void>;
  /**
   * The customer uses another device, whose browser cannot return to this machine. psd2 asks the bank for the decision
   * instead.
   */
  atAnotherDevice: boolean;
  /** Shows `text` on the terminal while `work` runs, with the time left of `milliseconds`. */
  whileWaiting<T>(text: string, work: Promise<T>, milliseconds?: number): Promise<T>;
  /** How long psd2 waits for the customer. */
  scaTimeoutMs: number;
}

/** Time, randomness and Ctrl-C. */
export interface WorldPorts {
  now: () => Date;
  newId: () => string;
  /** Rejects with the signal's reason if the operator interrupts. Ends early if `early` aborts. */
  sleep: (milliseconds: number, early?: AbortSignal) => Promise<void>;
  /** Aborts if the operator interrupts. */
  signal: AbortSignal;
  /**
   * Runs work whose result cannot be obtained again. The command waits for it even if the operator interrupts.
   *
   * @param atStake what is lost if the operator forces the command to end, as the beginning of a sentence
   */
  finish<T>(atStake: string, work: () => Promise<T>): Promise<T>;
}

/** The ports of all flows. */
export interface FlowPorts {
  bank: Bank;
  customer: CustomerPorts;
  world: WorldPorts;
  /**
   * Whether this machine has written down that a request never left, although its journal could not record this. Absent:
   * nothing is known of it.
   */
  neverLeft?: (tppRequestId: string) => Promise<boolean>;
  /**
   * Whether this machine has written down that a flow sent `execute` or `confirm`, although its journal may no longer say so.
   * Absent: nothing is known of it.
   */
  hasSent?: (transactionId: string) => Promise<boolean>;
  /**
   * What this machine has written down of the initiations of a flow: the bank has answered one with success; one may have
   * reached it, and its answer is not known to be a refusal; or neither. Absent: nothing is known of it.
   */
  initiated?: (transactionId: string) => Promise<KnownInitiation>;
  /** Writes down on this machine that an initiation, or something of the customer's, is about to leave. Never throws for want of a place. */
  announces?: (leaving: { requestId: string; transactionId: string; gives?: Gives }) => Promise<void>;
  /** What this machine has written down that a flow gave the bank of the customer's, the oldest first. Absent: nothing is known of it. */
  given?: (transactionId: string) => Promise<LoggedGift[]>;
  /**
   * Why the operator does not want an operation, now that the bank has said what leaves the account: with its fees it is above
   * their largest amount. Null: nothing is wrong with it. Absent: the operator has no largest amount.
   */
  refusesCost?: (
    operation: Operation<OrderTarget & Partial<Pick<TransferOrder, 'amount' | 'currency' | 'maxCost'>>>,
  ) => Psd2Error | null;
}

/**
 * What the machine knows of the initiations of a flow. `resourceId` is what the bank called the payment, `refused` are the ids of
 * the requests whose refusal proves that nothing began, `announced` of those that it was about to send.
 */
export type KnownInitiation =
  | { answer: 'answered'; resourceId: string | null }
  | { answer: 'lost' | 'no'; refused?: readonly string[]; announced?: readonly string[] };

/** What psd2 needs of the operator for SCA that the bank's links lead. */
export interface ReturnPorts {
  /** The OAuth client, for a bank where the customer logs in with the resource. */
  client(): ClientCredentials;
  /** Makes sure that the tokens of such a login can be stored. @throws Psd2Error `config` */
  readyToKeep(): Promise<void>;
  /** Stores the tokens of such a login. First makes sure that it can: `granted` uses up the code of the login. */
  keepTokens(granted: () => Promise<StoredTokens>): Promise<void>;
  /** Asks the operator for the address that the customer's browser ended at. Undefined: psd2 does not ask. */
  askForReturn: ((state: string) => Promise<URLSearchParams>) | undefined;
  /** Who the bank is told that authorises. Absent: nobody is named. */
  psuId?: string | undefined;
  /** The person whose authorisation begins, if it is not the customer's own. */
  person?: PsuIdentification | undefined;
  /** They take the links of the payment itself, because nobody has authorised it, and psd2 does not know who the customer is. */
  isFirst?: boolean;
  /** Takes credentials, where the bank wants them from psd2. */
  credentials: CredentialPorts;
  say(text: string): void;
  /** Tells the operator what the bank wants the customer to do, in the bank's words. */
  quote(words: string): void;
}

/** What a credential is asked for: how its question names the person, and what they authorise. */
export interface CredentialQuestion {
  /** The id of whose it is, as the bank was told. Absent: nobody was named. */
  psuId?: string | undefined;
  /** What they authorise. */
  subject:
    | { kind: 'payment' | 'cancellation'; payment: Payment }
    | { kind: 'consent'; flow: string; order: unknown };
  /** What the bank says to the customer, in its own words. */
  message?: string | undefined;
  /** psd2 has sent one for this person and this subject before. A value from a file is never sent twice, not even by a later command. */
  wasSent?: true;
}

/** What became of a credential, by the bank's word. `sent`: it is about to leave. `unknown`: no answer says it. */
export type CredentialResult = 'sent' | 'accepted' | 'refused' | 'unknown';

/**
 * Takes the customer's credentials, at a bank that wants them from psd2 (embedded SCA, docs/embedded.md). Null is an answer that sends
 * nothing: Enter alone, or a file without a value.
 */
export interface CredentialPorts {
  /**
   * Why psd2 must take none here, before anything of it is sent: the bank file or the profile does not allow it, or nobody and no file
   * can answer. Null: it may.
   */
  refusal(): Psd2Error | null;
  /** @throws Psd2Error if refused PINs of this person make a machine stop */
  password(question: CredentialQuestion): Promise<Secret | null>;
  /** Which of several methods. @returns its id */
  method(methods: readonly ScaMethod[], question: CredentialQuestion): Promise<string | null>;
  code(
    challenge: ScaChallenge & { method?: ScaMethod },
    question: CredentialQuestion,
  ): Promise<Secret | null>;
  /** Whether the customer wants another authorisation, because this one cannot go on. */
  beginsAgain(question: CredentialQuestion): Promise<boolean>;
  /** Writes down that a credential leaves, and what became of it: the audit log, and the count of refused PINs. */
  note(what: 'password' | 'code', question: CredentialQuestion, result: CredentialResult): Promise<void>;
  /** Ends the step: the challenge's image goes, echo comes back. */
  close(): Promise<void>;
}

/** A payment, whatever its order says, and its journal. */
export type Payment = Operation<OrderTarget>;
export type OpenPayment = OpenFlow<Payment, StepEvent>;

export interface OperationPorts<Order extends OrderTarget = OrderTarget> extends FlowPorts {
  /** Shows the operator the verified order and asks for confirmation. False means no. */
  accept(operation: Operation<Order>): Promise<boolean>;
  /** Shows the operator the fees that the bank has told, and asks for confirmation. Absent: it needs none. */
  acceptFees?(operation: Operation<Order>): Promise<boolean>;
  /** For SCA at a bank whose links lead it. */
  returns?: ReturnPorts;
}

/** How the bank is asked about a payment. */
export interface PaymentQuestion {
  /** What the answer decides about a call that was sent. */
  decides?: Decides | undefined;
  /** The payment is in a signing basket that the customer has authorised. */
  isInAuthorisedBasket?: boolean;
}

/** One run of a payment: what its steps share, and what it knows that is not in the journal. */
export interface Run {
  readonly open: OpenPayment;
  readonly calls: PaymentCalls;
  readonly ports: OperationPorts;
  /** Asks the bank about the payment (`askBank` in `payment/status.ts`). */
  readonly ask: (payment: Payment, question?: PaymentQuestion) => Promise<PaymentReading>;
  /** As `ask`. Null after an error, which decides nothing: the resource may be removed, or the bank may be failing. */
  readonly askIfAnswered: (payment: Payment, question?: PaymentQuestion) => Promise<PaymentReading | null>;
  /** What the bank calls the payment. @throws Psd2Error `config` if the journal does not have it */
  readonly resource: (payment: Payment) => Verification;
  /** It has sent the customer to SCA. If the status is pending, psd2 waits instead of starting SCA again. */
  customerSent?: boolean;
  /** The customer goes to SCA once more, although they may have authorised it already. */
  goesAgain?: boolean;
  /** The bank was asked to begin an authorisation, and the customer has no link of it. */
  isBeginning?: boolean;
  /** The bank has the confirmation code. */
  sentCode?: boolean;
  /** The bank has reported the authorisation. */
  authorizedNow?: boolean;
  /** The bank has turned `execute` away. psd2 sends it again only once. */
  wasTurnedAway?: boolean;
  /** What the bank said last while the customer was there, if the journal does not have it. */
  lastWord?: StepEvent;
  /** When `execute` ended, in milliseconds since 1970. */
  executeEnded?: number;
}

/** The tokens of one customer, or of the client-credentials application. */
export interface TokenKeeper {
  /** The owner of the tokens, as the beginning of a sentence: `The login of customer 1048262`. */
  whose: string;
  read(): Promise<ReadTokens | undefined>;
  /** As `Tokens.ready`. */
  ready(): Promise<() => Promise<void>>;
  /** As `Tokens.change`. */
  change<T>(work: (slot: TokenSlot) => Promise<T>): Promise<T>;
}
