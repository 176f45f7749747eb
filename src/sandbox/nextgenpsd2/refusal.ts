import { BankRefusal, expectedAndReceived } from '../answers/bank-refusal.ts';

/**
 * Every reason why the second door refuses a call: the standard's message code, and the HTTP status that it has here
 * (NextGenPSD2, "Message codes"). `docs/sandbox.md` explains each.
 */
const statuses = {
  FORMAT_ERROR: 400,
  TIMESTAMP_INVALID: 400,
  PERIOD_INVALID: 400,
  PARAMETER_NOT_SUPPORTED: 400,
  SCA_INVALID: 400,
  SCA_METHOD_UNKNOWN: 400,
  PAYMENT_FAILED: 400,
  EXECUTION_DATE_INVALID: 400,
  REFERENCE_MIX_INVALID: 400,
  SESSIONS_NOT_SUPPORTED: 400,
  CERTIFICATE_INVALID: 401,
  CERTIFICATE_MISSING: 401,
  SIGNATURE_INVALID: 401,
  SIGNATURE_MISSING: 401,
  PSU_CREDENTIALS_INVALID: 401,
  CONSENT_INVALID: 401,
  CONSENT_EXPIRED: 401,
  TOKEN_UNKNOWN: 401,
  TOKEN_INVALID: 401,
  TOKEN_EXPIRED: 401,
  CONSENT_UNKNOWN: 403,
  RESOURCE_UNKNOWN: 404,
  PRODUCT_UNKNOWN: 404,
  SERVICE_INVALID: 405,
  CANCELLATION_INVALID: 405,
  REQUESTED_FORMATS_INVALID: 406,
  STATUS_INVALID: 409,
  REFERENCE_STATUS_INVALID: 409,
  ACCESS_EXCEEDED: 429,
  INTERNAL_SERVER_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
} as const;

export type MessageCode = keyof typeof statuses;

/** All codes and their statuses, for the documentation. */
export const messageCodes: ReadonlyMap<string, number> = new Map(Object.entries(statuses));

/** What a refusal may say besides its code. */
interface RefusalExtras {
  /** The header, parameter or field of the body that is wrong, with its path. */
  path?: string;
  /** Sent instead of the code's own status: the standard has some codes with several. */
  status?: number;
  /** What the TPP can do next. */
  links?: Readonly<Record<string, object>>;
}

/** The second door refuses a call. */
export class DoorRefusal extends BankRefusal<MessageCode> {
  override readonly name = 'DoorRefusal';
  readonly path: string | undefined;
  readonly links: RefusalExtras['links'];

  constructor(code: MessageCode, message: string, detail = '', { path, status, links }: RefusalExtras = {}) {
    super(code, status ?? statuses[code], message, detail);
    this.path = path;
    this.links = links;
  }
}

/** The refusal of a value because another one was expected. @param path the header, parameter or field */
export function unexpected(
  code: MessageCode,
  path: string,
  message: string,
  expected: string,
  received: string | undefined,
): DoorRefusal {
  return new DoorRefusal(code, message, expectedAndReceived(expected, received ?? 'nothing'), { path });
}

/** The longest text of a message (NextGenPSD2, `tppMessageText`). */
const MAX_TEXT = 500;

/** The whole text of a refusal. The answer may have only its beginning. */
export function refusalText({ message, detail }: Pick<DoorRefusal, 'message' | 'detail'>): string {
  return detail === '' ? `${message}.` : `${message}. ${detail}`;
}

/** Whether the answer has only the beginning of a refusal's text. */
export function isCut(refusal: DoorRefusal): boolean {
  return refusalText(refusal).length > MAX_TEXT;
}

/** The body of a refusal: `tppMessages`, or RFC 7807 with the same content. */
export function refusalBody(
  { code, status, message, detail, path, links }: DoorRefusal,
  form: 'tppMessages' | 'problem',
): Record<string, unknown> {
  const text = refusalText({ message, detail }).slice(0, MAX_TEXT);
  const where = path === undefined ? {} : { path };
  const next = links && { _links: links };
  if (form === 'tppMessages') return { tppMessages: [{ category: 'ERROR', code, ...where, text }], ...next };
  return {
    type: `https://berlingroup.com/error-codes/${code}`,
    title: message,
    detail: text,
    code,
    status,
    additionalErrors: [{ code, detail: text, ...where }],
    ...next,
  };
}
