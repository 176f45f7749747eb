/**
 * What can be made to go wrong with a call, whatever it asks for (`docs/sandbox.md`, "Faults"). It is ordered by
 * `psd2 sandbox fault add`, by the header `X-Sandbox-Fault` of a request, or by a magic value.
 */
const kinds = {
  delay: {
    says: 'the answer comes late',
    value: { from: 1, to: 600_000, unit: 'milliseconds', example: 500 },
  },
  'cut-before-effect': { says: 'the connection is cut before the call is made' },
  'cut-in-the-middle': { says: 'the call is made; the connection is cut in the middle of its answer' },
  'cut-after-effect': { says: 'the call is made; the connection is cut before its answer' },
  'wrong-signature': { says: "the answer's Signature does not fit it" },
  'wrong-digest': { says: "the answer's Digest does not fit its body" },
  'stale-token': { says: 'the access token that came has expired from now on' },
  clock: { says: "the bank's clock is off", value: { from: -1440, to: 1440, unit: 'minutes', example: -7 } },
  status: {
    says: 'the call is not made, and answers with this HTTP status',
    value: { from: 400, to: 599, unit: 'HTTP status', example: 503 },
  },
  'truncated-json': { says: 'the call is made; its JSON ends in the middle' },
  firewall: { says: "the call is not made, and answers 403 with a firewall's HTML page" },
  empty: { says: 'the call is made, and answers 200 with an empty body' },
  'no-content': { says: 'the call is made, and answers 204' },
  booking: {
    says: 'before a transactions call, so many transactions are booked on its account',
    value: { from: 1, to: 1000, unit: 'count', example: 1 },
  },
  settling: {
    says: 'before a transactions call, so many of the pending transactions of its account are booked',
    value: { from: 1, to: 1000, unit: 'count', example: 1 },
  },
} as const satisfies Record<string, Kind>;

interface Kind {
  says: string;
  /** The whole number that stands behind `=`. */
  value?: { from: number; to: number; unit: string; example: number };
}

export type FaultKind = keyof typeof kinds;

/** One thing that goes wrong; `value` is the number that was given, in the unit of its kind, else 0. */
export interface Fault {
  kind: FaultKind;
  value: number;
}

/** The kinds, each with what it does, for what is written about them. */
export const faultKinds: ReadonlyMap<string, Kind> = new Map<string, Kind>(Object.entries(kinds));

/** A fault, its target or its conditions that can't be read. The message says what is wrong, the hint what would do. */
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
  const kind = [...faultKinds.keys()].find((known): known is FaultKind => known === name);
  if (kind === undefined) {
    throw new BadFault(`There is no fault ${JSON.stringify(text)}`, `The faults are ${usages().join(', ')}.`);
  }
  const given = rest.length === 0 ? undefined : rest.join('=');
  const { value }: Kind = kinds[kind];
  if (!value) {
    if (given === undefined) return { kind, value: 0 };
    throw new BadFault(`The fault ${kind} has no value`, `Write ${kind} alone.`);
  }
  const { from, to, unit, example } = value;
  const number = given !== undefined && /^[+-]?\d{1,6}$/.test(given) ? Number(given) : Number.NaN;
  if (number >= from && number <= to) return { kind, value: number };
  throw new BadFault(
    `The fault ${kind} needs its ${unit}, a whole number from ${from} to ${to}`,
    `For example ${kind}=${example}.`,
  );
}

/** A fault as {@link parseFault} reads it. */
export function faultText({ kind, value }: Fault): string {
  return kinds[kind] && 'value' in kinds[kind] ? `${kind}=${value}` : kind;
}

/** How each fault is written. */
function usages(): string[] {
  return [...faultKinds].map(([name, { value }]) =>
    value ? `${name}=<${value.unit.replace('HTTP ', '')}>` : name,
  );
}
