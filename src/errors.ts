/**
 * The codes of all errors. `exit-codes.ts` maps each to an exit code. The code is part of the JSON error on stderr, so a
 * script can tell two errors with the same exit code apart.
 */
export type ErrorCode =
  // wrong use
  | 'usage'
  | 'invalid_iban'
  | 'invalid_amount'
  | 'invalid_date'
  | 'invalid_product_id'
  | 'invalid_text'
  | 'confirmation_needed'
  | 'cancelled'
  | 'duplicate_reference'
  | 'further_data_needed'
  | 'flow_not_found'
  // configuration
  | 'no_profile'
  | 'config'
  | 'certificate'
  | 'audit_changed'
  | 'callback_port_busy'
  | 'sandbox'
  // another psd2 has continued the flow, or the sync of the customer, in the meantime
  | 'overtaken'
  // access
  | 'not_logged_in'
  | 'forbidden'
  | 'login_refused'
  | 'not_authorised'
  | 'authorisation_expired'
  | 'authorisation_timeout'
  | 'sca_required'
  // somebody can still authorise it at the bank, without psd2
  | 'still_open'
  // the bank's answers
  | 'bank_refused'
  | 'bank_answer'
  | 'list_changed'
  | 'payment_failed'
  | 'outcome_unknown'
  | 'too_many_calls'
  | 'bank_unreachable'
  | 'bank_failing'
  // nothing is wrong yet
  | 'ends_soon'
  | 'needs_attention'
  | 'reads_used_up'
  | 'smoke_running'
  | 'too_slow'
  | 'drift'
  | 'flaky'
  | 'skipped'
  | 'not_read'
  | 'below_target'
  | 'interrupted';

/** What the operator can do. */
export interface Advice {
  /**
   * What the operator can do, in sentences with full stops. Commands of psd2 belong in `next`; if the hint leads to them, it
   * ends with a colon. It may end with a command of another program.
   */
  hint?: string;
  /**
   * The commands of psd2 to run next, the best first, each as its arguments: `['transfer', 'resume', flow]`. psd2 prints them
   * after the hint, quoted for a shell, with the given profile.
   */
  next?: string[][];
}

/** Why a bank has refused or rejected something. One field at least says something. */
export interface BankReason {
  /** Who it is about: one payment, its group (the payment information of a file), or the whole file. `message`: it came with an answer. */
  level: 'payment' | 'group' | 'file' | 'message';
  /** A code of ISO 20022 (`ExternalStatusReason1Code`). */
  code: string | null;
  /** A code of the bank's own, or of its interface. */
  proprietary: string | null;
  /** The bank's words. */
  text: string | null;
}

/** Details of an error and of the call that failed. A bank's support asks for the ids. */
export interface ErrorContext extends Advice {
  /** What a person reads in place of the message, which then comes below: what it means for them, and the bank's words. */
  meaning?: string;
  /** The local id of the flow. */
  flow?: string;
  httpStatus?: number;
  /** `result.messages[].code` of the bank's answer. */
  bankCode?: string;
  /** Why, as the bank says: what decided first. */
  reasons?: BankReason[];
  /**
   * How the bank refused a call, so that it had no effect: for what the request contains, unread (the token was not valid, or
   * there were too many calls), or for another reason. The interface of the bank says so. Absent: this error is not a refusal.
   */
  refusal?: 'content' | 'unread' | 'other';
  /** The refusal is certainly the bank's own, and not that of a gateway. */
  isBanks?: true;
  /**
   * The bank itself says that it does not know what was asked about: not with this certificate, and not at this minute. It does not say
   * that it is gone. The interface of the bank says so.
   */
  isNotKnown?: true;
  /** The bank refused an initiation in a way that shows that it has begun none. The interface of the bank says so. */
  beganNothing?: true;
  /** The bank does not have the service of the call at all. */
  lacksService?: true;
  /** Why a refusal of an initiation is no proof that the bank has begun none, as a sentence. */
  noProof?: string;
  /** The bank's answer says of the payment what cannot be true together, so that no earlier answer counts either. */
  contradicts?: true;
  /** To go on with the flow leads to the same error again. */
  isDeadEnd?: true;
  /** The bank does not have the call. The interface of the bank says so. */
  isLacking?: true;
  /** The customer has no method for SCA, as the bank itself says. The interface of the bank says so. */
  lacksMethod?: true;
  /** The bank refused the access token that the call had. With a renewed one it may take the call. */
  hadToken?: true;
  /** Since when psd2 could not ask the bank what became of it, ISO 8601: the time was over before the bank answered. */
  unaskedSince?: string;
  /** With `too_many_calls`: the day's readings are used up, so to wait and try again is useless today. */
  lasts?: true;
  /** The bank says that the consent of a reading has ended, or that it does not know it. */
  endsConsent?: true;
  /** `result.requestId` of the bank's answer, every digit. */
  requestId?: string;
  /** Our `TPP-Request-ID`. */
  tppRequestId?: string;
  /** Our `TPP-Transaction-ID`. */
  transactionId?: string;
  /** The transaction resource in the bank's answer: with `sca_required`, the one to authorise. */
  resourceId?: string;
  /** With `duplicate_reference`: the fields in which the two transfers differ, by their names in JSON. */
  differs?: string[];
  cause?: unknown;
}

/** The fields of its context can be read from the error itself. */
export interface Psd2Error extends Readonly<Omit<ErrorContext, 'cause'>> {}

/**
 * The only error that `psd2` throws on purpose. `message` says what happened, in one sentence in the user's words; its full
 * stop is optional. `hint` says what to do. Neither may contain a secret.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the constructor assigns the fields of the interface
export class Psd2Error extends Error {
  override readonly name = 'Psd2Error';
  readonly code: ErrorCode;
  /** Everything but the code and the message. */
  readonly context: ErrorContext;

  constructor(code: ErrorCode, message: string, context: ErrorContext = {}) {
    super(message, context);
    this.code = code;
    this.context = context;
    Object.assign(this, context);
  }

  /** The same error in other words, and without its advice. */
  restated(code: ErrorCode, message: string): Psd2Error {
    const { hint: _hint, next: _next, ...context } = this.context;
    return new Psd2Error(code, message, context);
  }

  /** The same error with more details. */
  with(context: ErrorContext): Psd2Error {
    return new Psd2Error(this.code, this.message, { ...this.context, ...context });
  }
}

/** The advice of an error; null if it has no advice. */
export function adviceIn({ hint, next }: Psd2Error): Advice | null {
  if (hint === undefined && next === undefined) return null;
  return { ...(hint !== undefined && { hint }), ...(next && { next }) };
}

const ENDS = ['.', '!', '?', ':'];

/** Adds a full stop to a message, unless it has an end, for example from the bank's own words. */
export function endSentence(message: string): string {
  return ENDS.some((end) => message.endsWith(end)) ? message : `${message}.`;
}
