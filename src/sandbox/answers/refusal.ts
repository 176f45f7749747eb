import { BankRefusal, expectedAndReceived } from './bank-refusal.ts';

/**
 * Every reason why the bank refuses a request: its stable code, and its HTTP status from the interface specification
 * ("HTTP status codes"). `docs/sandbox.md` explains each.
 */
const statuses = {
  // transport
  QWAC_NOT_REGISTERED: 403,
  // the form of the request
  ENDPOINT_UNKNOWN: 404,
  HEADER_MISSING: 400,
  HEADER_DUPLICATE: 400,
  HEADER_MALFORMED: 400,
  DATE_OUT_OF_RANGE: 400,
  REQUEST_ID_REUSED: 400,
  CONTENT_TYPE_UNSUPPORTED: 400,
  ACCEPT_UNSUPPORTED: 400,
  BODY_MISSING: 400,
  BODY_NOT_ALLOWED: 400,
  BODY_TOO_LARGE: 400,
  BODY_MALFORMED: 400,
  // the signature
  TPP_CERTIFICATE_NOT_REGISTERED: 403,
  DIGEST_MISMATCH: 400,
  SIGNATURE_MALFORMED: 400,
  SIGNATURE_ALGORITHM: 400,
  SIGNATURE_HEADERS: 400,
  SIGNATURE_INVALID: 400,
  SIGNATURE_KEY_ID: 400,
  // access
  TOKEN_MISSING: 401,
  TOKEN_INVALID: 401,
  TOKEN_EXPIRED: 401,
  NOT_ALLOWED: 403,
  ROLE_MISSING: 403,
  CONSENT_MISSING: 403,
  PSD2_SCA_REQUIRED: 403,
  TOO_MANY_CALLS: 420,
  // OAuth
  PARAMETER_INVALID: 400,
  CLIENT_INVALID: 400,
  REDIRECT_URI_INVALID: 400,
  GRANT_INVALID: 400,
  // the content
  FIELD_INVALID: 417,
  CHARACTER_NOT_ALLOWED: 422,
  CUSTOMER_UNKNOWN: 412,
  PRODUCT_UNKNOWN: 412,
  PRODUCT_NOT_ENABLED: 412,
  RESOURCE_UNKNOWN: 412,
  FUNDS_INSUFFICIENT: 417,
  // the state of an operation
  SCA_FINISHED: 400,
  NOT_AUTHORIZED: 400,
  ALREADY_CONFIRMED: 400,
  ALREADY_EXECUTED: 400,
  NOT_EXECUTED: 400,
  NOT_INSTANT: 400,
  STEP_MISSING: 400,
  EXECUTION_REFUSED: 400,
  // caused by a magic value
  PLANNED_FAILURE: 500,
} as const;

type RefusalCode = keyof typeof statuses;
type RefusalStatus = (typeof statuses)[RefusalCode];

/** All codes, for the documentation. */
export const refusalCodes: ReadonlyMap<string, RefusalStatus> = new Map(Object.entries(statuses));

/** The first door refuses a request. */
export class Refusal extends BankRefusal<RefusalCode, RefusalStatus> {
  override readonly name = 'Refusal';
  readonly extras: RefusalExtras;

  constructor(code: RefusalCode, message: string, detail = '', extras: RefusalExtras = {}) {
    super(code, statuses[code], message, detail);
    this.extras = extras;
  }
}

/** Fields that only some refusals have. */
interface RefusalExtras {
  /** Sent as `Retry-After`. */
  retryAfterSeconds?: number;
  /** The resource that the customer has to authorise. After that the client repeats the call. */
  resourceId?: string;
}

/** The refusal of a value because another one was expected. */
export function wrongValue(code: RefusalCode, message: string, expected: string, received: string): Refusal {
  return new Refusal(code, message, expectedAndReceived(expected, received));
}
