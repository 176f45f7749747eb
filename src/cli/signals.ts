import { Psd2Error } from '../errors.ts';
import { type ErrorStyle, reportError } from './report-error.ts';
import type { Unfinished } from './world.ts';

/** That the operator ends the command, and what it is to come to its end before. */
export interface Interruption {
  /** Aborted when the operator interrupts. */
  readonly signal: AbortSignal;
  /** What the command does not end before, with what is at stake. */
  readonly unfinished: Unfinished;
  /** Is told of the first signal, which then interrupts nothing. */
  gentle: AbortController | undefined;
  /** A pager is shown: Ctrl-C is for it. */
  isPaging: boolean;
  /** How the operator is warned, once there is a way. */
  warn(text: string): void;
}

/** Ends the command on Ctrl-C, on SIGTERM and when its terminal closes; the second time, the process at once. */
export function watchSignals(style: ErrorStyle): Interruption {
  const interrupt = new AbortController();
  const interruption: Interruption = {
    signal: interrupt.signal,
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
      // A terminal that closes says so more than once: by its shell and by the system.
      if (name === 'SIGHUP') return;
      for (const atStake of new Set(unfinished.values())) warn(`${atStake} may be lost.`);
      if (style.asJson) reportError(signal.reason, process.stderr, style);
      process.exit(130);
    }
    interrupt.abort(new Psd2Error('interrupted', 'Interrupted'));
    if (unfinished.size > 0)
      warn(
        'Waiting for the bank to answer a token call, so that no login is lost. Ctrl-C again ends at once.',
      );
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal).on('SIGHUP', onSignal);
  return interruption;
}
