/**
 * The codes of all errors. `cli/exit-codes.ts` maps each to an exit code. The code is part of the JSON error on stderr, so a
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
  | 'reads_used_up'
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

/** Details of an error and of the call that failed. A bank's support asks for the ids. */
export interface ErrorContext extends Advice {
  /** The local id of the flow. */
  flow?: string;
  httpStatus?: number;
  /** `result.messages[].code` of the bank's answer. */
  bankCode?: string;
  /** `result.outcome` of the bank's answer is `ERROR`. */
  outcome?: 'ERROR';
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

/**
 * The only error that `psd2` throws on purpose. `message` says what happened, in one sentence in the user's words; its full
 * stop is optional. `hint` says what to do. Neither may hold a secret.
 */
export class Psd2Error extends Error {
  override readonly name = 'Psd2Error';
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly next: string[][] | undefined;
  readonly flow: string | undefined;
  readonly httpStatus: number | undefined;
  readonly bankCode: string | undefined;
  readonly outcome: 'ERROR' | undefined;
  readonly requestId: string | undefined;
  readonly tppRequestId: string | undefined;
  readonly transactionId: string | undefined;
  readonly resourceId: string | undefined;
  readonly differs: string[] | undefined;

  constructor(code: ErrorCode, message: string, context: ErrorContext = {}) {
    super(message, context.cause === undefined ? undefined : { cause: context.cause });
    this.code = code;
    this.hint = context.hint;
    this.next = context.next;
    this.flow = context.flow;
    this.httpStatus = context.httpStatus;
    this.bankCode = context.bankCode;
    this.outcome = context.outcome;
    this.requestId = context.requestId;
    this.tppRequestId = context.tppRequestId;
    this.transactionId = context.transactionId;
    this.resourceId = context.resourceId;
    this.differs = context.differs;
  }

  /** Everything but the code and the message. */
  get context(): ErrorContext {
    const { hint, next, flow, httpStatus, bankCode, outcome, requestId, tppRequestId, transactionId } = this;
    const { resourceId, differs, cause } = this;
    const ids = { requestId, tppRequestId, transactionId, resourceId };
    const fields = { hint, next, flow, httpStatus, bankCode, outcome, ...ids, differs, cause };
    return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  }

  /** The same error with more details. */
  with(context: ErrorContext): Psd2Error {
    return new Psd2Error(this.code, this.message, { ...this.context, ...context });
  }
}

/** What an error advises; null if it has no advice. */
export function adviceIn({ hint, next }: Psd2Error): Advice | null {
  if (hint === undefined && next === undefined) return null;
  return { ...(hint !== undefined && { hint }), ...(next && { next }) };
}
