import { cleanJson } from './clean.ts';

/**
 * A message of a command beside its data. A person reads the text. A program reads an object on one line of stderr
 * (docs/output.md).
 */
export type TerminalEvent =
  /** Something that the operator may want to know. */
  | { event: 'note'; message: string }
  /** Something that the operator should know. */
  | { event: 'warning'; message: string }
  /** psd2 has begun or continued a flow. */
  | { event: 'flow'; flow: string; kind: string; state: string }
  /** The customer must open this address. */
  | { event: 'open'; url: string }
  /** A call to the bank (`--verbose`). */
  | {
      event: 'call';
      method: string;
      path: string;
      /** The HTTP status, or why there was none. */
      outcome: number | string;
      milliseconds: number;
      tppRequestId: string;
      transactionId: string;
      requestId: string | null;
      apiTrackId: string | null;
    };

/** An event as one line of JSON. */
export function eventLine(event: TerminalEvent): string {
  return cleanJson(JSON.stringify(event));
}
