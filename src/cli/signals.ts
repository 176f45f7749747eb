import { Psd2Error } from '../errors.ts';
import { type ErrorStyle, reportError } from './report-error.ts';
import type { Unfinished } from './world.ts';

/** An interruption by the operator, and the work that must finish before the command ends. */
export interface Interruption {
  /** Aborted when the operator interrupts. */
  readonly signal: AbortSignal;
  /** Work that must finish before the command ends, and what would be lost without it. */
  readonly unfinished: Unfinished;
  /** Aborts `signal`. */
  interrupt(reason: Error): void;
  /** If set, the first signal aborts this instead of interrupting the command. */
  gentle: AbortController | undefined;
  /** A pager is open and handles Ctrl-C itself. */
  isPaging: boolean;
  /** Warns the operator, once a terminal is open. */
  warn(text: string): void;
}

/** Ends the command on Ctrl-C, on SIGTERM and when its terminal closes; the second time, the process at once. */
export function watchSignals(style: ErrorStyle): Interruption {
  const interrupt = new AbortController();
  const interruption: Interruption = {
    signal: interrupt.signal,
    interrupt: (reason) => interrupt.abort(reason),
    unfinished: new Map(),
    gentle: undefined,
    isPaging: false,
    warn: () => {},
  };
  const onSignal = (name: NodeJS.Signals) => {
    if (interruption.isPaging && name === 'SIGINT') return;
    const { signal, unfinished, warn, gentle } = interruption;
    if (gentle && (!gentle.signal.aborted || name === 'SIGHUP')) {
      gentle.abort(name);
      return;
    }
    if (signal.aborted) {
      // A closing terminal sends SIGHUP twice: once by its shell, once by the system.
      if (name === 'SIGHUP') return;
      for (const atStake of new Set(unfinished.values())) warn(`${atStake} may be lost.`);
      if (style.asJson) reportError(signal.reason, process.stderr, style);
      process.exit(130);
    }
    interrupt.abort(new Psd2Error('interrupted', 'Interrupted'));
    if (unfinished.size > 0)
      warn(
        'Waiting for the bank to answer a token call, so that no login is lost. Press Ctrl-C again to end at once.',
      );
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal).on('SIGHUP', onSignal);
  return interruption;
}
