/**
 * The faults that the sandbox can apply to any call (`docs/sandbox.md`, "Faults"). They come from `psd2 sandbox fault add`,
 * from the header `X-Sandbox-Fault` of a request, or from a magic value.
 */
const kinds = {
  delay: {
    says: 'the bank processes the call, and answers late',
    value: { from: 1, to: 600_000, unit: 'milliseconds', example: 500 },
  },
  'cut-before-effect': { says: 'the bank cuts the connection, and neither checks nor records the call' },
  'cut-in-the-middle': {
    says: 'the bank processes the call, sends the headers and half of the body, then cuts the connection',
  },
  'cut-after-effect': {
    says: 'the bank processes the call, then cuts the connection before the first byte of its answer',
  },
  'wrong-signature': { says: 'the Signature does not match the answer. Answers to GET get a wrong one too' },
  'wrong-digest': { says: 'the Digest does not match the body. The Signature over this Digest is valid' },
  'stale-token': { says: "the call's access token has expired from now on. Its refresh token stays valid" },
  clock: {
    says: "for this call the bank's clock is this many minutes ahead, or behind with -",
    value: { from: -1440, to: 1440, unit: 'minutes', example: -7 },
  },
  status: {
    says: 'the bank does not process the call, and answers with this status: 401 as TOKEN_INVALID, 420 and 429 as TOO_MANY_CALLS, others as PLANNED_FAILURE. 420, 429 and 503 have Retry-After: 1',
    value: { from: 400, to: 599, unit: 'HTTP status', example: 503 },
  },
  'delivered-twice': {
    says: 'a gateway delivers the call twice, and the client gets the second answer: for execute, consent-confirm and token a refusal, for verify and consent-request another resource',
  },
  'delivered-twice-status': {
    says: 'the same, but the bank refuses the second with this status, as in status',
    value: { from: 400, to: 599, unit: 'HTTP status', example: 409 },
  },
  'truncated-json': {
    says: 'the bank sends only half of its JSON. Content-Length and Digest match this half',
  },
  firewall: { says: 'the bank does not process the call, and answers 403 with the HTML page of a firewall' },
  empty: { says: 'a call that succeeds gets 200 with an empty body' },
  'no-content': { says: 'a call that succeeds gets 204' },
  booking: {
    says: 'before a transactions call, the bank books this many new transactions of 1.00 EUR (BOOKED MEANWHILE 1, 2, …)',
    value: { from: 1, to: 1000, unit: 'count', example: 1 },
  },
  'problem-json': { says: 'a refusal of the second door has the form of RFC 7807' },
  'no-sca': { says: 'the second door executes the payment at once, without SCA' },
  'executes-late': {
    says: 'the second door executes the payment this many minutes after SCA',
    value: { from: 1, to: 10_080, unit: 'minutes', example: 60 },
  },
  'other-account': {
    says: 'the second door answers a reading of an account with another account of the consent',
  },
  'other-request-id': { says: "the second door answers with another X-Request-ID than the call's" },
  'other-sca-status': { says: 'the second door answers with the SCA status of another authorisation' },
  'link-stays': {
    says: 'the second door leaves the links of a payment working after it has cancelled it, and executes what the customer authorises then',
  },
  'credentials-invalid': {
    says: 'after PIN, method or TAN the second door does what follows, and answers 401 PSU_CREDENTIALS_INVALID',
  },
  'sca-fails': {
    says: 'a right TAN is answered with `failed`, and the payment stays RCVD',
  },
  'one-method': { says: 'an authorisation takes no second method' },
  'encrypted-pin': { says: 'the second door takes only an encrypted PIN' },
  'second-password': { says: 'after the PIN the second door wants another password' },
  'sca-fee': {
    says: 'a fee comes with the chosen method',
    value: { from: 1, to: 999_999, unit: 'cents', example: 150 },
  },
  'no-sca-status': { says: 'the answer has no SCA status' },
  'finished-unknown': {
    says: 'the SCA status of an authorisation that is over is RESOURCE_UNKNOWN, with this status',
    value: { from: 403, to: 404, unit: 'HTTP status', example: 403 },
  },
  latin1: { says: 'the answer is in ISO-8859-1, and Content-Type says so' },
  'latin1-undeclared': { says: 'the same, and Content-Type does not say so' },
  settling: {
    says: 'before a transactions call, the bank books this many pending transactions, the oldest first',
    value: { from: 1, to: 1000, unit: 'count', example: 1 },
  },
} as const satisfies Record<string, Kind>;

interface Kind {
  says: string;
  /** The whole number after `=`. */
  value?: { from: number; to: number; unit: string; example: number };
}

export type FaultKind = keyof typeof kinds;

/** One fault. `value` is its number in the unit of its kind, or 0 if the kind has none. */
export interface Fault {
  kind: FaultKind;
  value: number;
}

/** All kinds, for help and documentation. */
export const faultKinds: ReadonlyMap<string, Kind> = new Map<string, Kind>(Object.entries(kinds));

/** A fault, its target or its conditions are invalid. The hint says what is valid. */
export class BadFault extends Error {
  override readonly name = 'BadFault';
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

/**
 * Reads `<kind>` or `<kind>=<number>`, for example `cut-after-effect`, `delay=500`, `clock=-7`, `status=503`.
 *
 * @throws BadFault
 */
export function parseFault(text: string): Fault {
  const [name = '', ...rest] = text.trim().split('=');
  const kind = [...faultKinds.keys()].find((each): each is FaultKind => each === name);
  if (kind === undefined)
    throw new BadFault(`There is no fault ${JSON.stringify(text)}`, `The faults are ${usages().join(', ')}.`);
  const written = rest.length === 0 ? undefined : rest.join('=');
  const { value }: Kind = kinds[kind];
  if (!value) {
    if (written === undefined) return { kind, value: 0 };
    throw new BadFault(`The fault ${kind} has no value`, `Write ${kind} alone.`);
  }
  const { from, to, unit, example } = value;
  const number = written !== undefined && /^[+-]?\d{1,6}$/.test(written) ? Number(written) : Number.NaN;
  if (number >= from && number <= to) return { kind, value: number };
  throw new BadFault(
    `The fault ${kind} needs its ${unit}, a whole number from ${from} to ${to}`,
    `For example ${kind}=${example}.`,
  );
}

/** Writes a fault in the form that {@link parseFault} reads. */
export function faultText({ kind, value }: Fault): string {
  return kinds[kind] && 'value' in kinds[kind] ? `${kind}=${value}` : kind;
}

/** The syntax of each fault. */
function usages(): string[] {
  return [...faultKinds].map(([name, kind]) => usageOf(name, kind));
}

/** The syntax of a fault: `delay=<milliseconds>`. */
export function usageOf(name: string, { value }: Pick<Kind, 'value'>): string {
  return value ? `${name}=<${value.unit.replace('HTTP ', '')}>` : name;
}
