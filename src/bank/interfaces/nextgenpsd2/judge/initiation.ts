import type { BankDescription } from '../description/schema.ts';

/** An initiation as it left psd2. */
export interface SentInitiation {
  /** As sent, below the base URL, with the query. */
  path: string;
  /** Names in lower case, as on the wire. */
  headers: Readonly<Record<string, string>>;
  /** JSON or pain.001. */
  body: string;
  firstByteAt: Date;
  /** When the certificate of the connection or that of the signature ends: the earlier. */
  certificateEnds: Date;
}

/** An answer as it came. */
export interface GivenAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  /** The connection had more bytes after the answer. */
  more: boolean;
}

/** What answers prove of an initiation. `why` is a sentence for the operator: why this is a proof, or none. */
export type InitiationVerdict =
  | { says: 'began' }
  | { says: 'nothing began' | 'unknown' | 'ask again'; why: string };

/**
 * Judges what the answers to an initiation prove.
 *
 * @param answers to the same bytes with the same `X-Request-ID`, in their order
 */
export function judgeInitiation(
  _sent: SentInitiation,
  _answers: readonly GivenAnswer[],
  _bank: BankDescription,
): InitiationVerdict {
  return { says: 'unknown', why: 'psd2 could not tell what the answer means.' };
}
