import { cleanJson } from './clean.ts';

/**
 * What a command says beside its data. A person reads the text; for a program each is an object on a line of stderr
 * (docs/output.md).
 */
export type TerminalEvent =
  /** What the operator may want to know. */
  | { event: 'note'; message: string }
  /** What the operator should know. */
  | { event: 'warning'; message: string }
  /** A flow was begun or taken up. */
  | { event: 'flow'; flow: string; kind: string; state: string }
  /** The customer has to open this address. */
  | { event: 'open'; url: string }
  /** A call that was made to the bank (`--verbose`). */
  | {
      event: 'call';
      method: string;
      path: string;
      /** HTTP status, or why there was none. */
      outcome: number | string;
      milliseconds: number;
      tppRequestId: string;
      transactionId: string;
      requestId: string | null;
      apiTrackId: string | null;
    };

/** An event as a program reads it. */
export function eventLine(event: TerminalEvent): string {
  return cleanJson(JSON.stringify(event));
}
