import type { Turns } from '../../store/ports/calls.ts';
import type { TokenSlot } from '../../store/ports/tokens.ts';

/** Counts what the calls of an application do. Threads share the counters. */
export class CallTally {
  /** The counters, for other threads. */
  readonly state: SharedArrayBuffer;
  readonly #counts: BigInt64Array<SharedArrayBuffer>;

  constructor(state = new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.state = state;
    this.#counts = new BigInt64Array(state);
  }

  /** How often tokens were renewed. */
  get renewals(): number {
    return Number(Atomics.load(this.#counts, RENEWALS));
  }

  /** The total time that calls have waited for their turn, in seconds. */
  get secondsWaited(): number {
    return Number(Atomics.load(this.#counts, WAITED)) / 1e6;
  }

  /** Wraps a slot: counts the renewed tokens that it stores. */
  countingRenewals(slot: TokenSlot): TokenSlot {
    return {
      takenOverFrom: slot.takenOverFrom,
      read: () => slot.read(),
      isOurs: (read) => slot.isOurs(read),
      write: (tokens) => slot.write(tokens),
      replace: async (spent, tokens) => {
        const stored = await slot.replace(spent, tokens);
        Atomics.add(this.#counts, RENEWALS, 1n);
        return stored;
      },
      refuse: (tokens) => slot.refuse(tokens),
      prove: (tokens, isOwn) => slot.prove(tokens, isOwn),
    };
  }

  /** Wraps turns: counts the time that calls wait for them. @param clock gives milliseconds */
  timing(turns: Turns, clock: () => number): Turns {
    return {
      turn: async () => {
        const begun = clock();
        try {
          await turns.turn();
        } finally {
          Atomics.add(this.#counts, WAITED, BigInt(Math.round((clock() - begun) * 1000)));
        }
      },
      slowDown: (asked) => turns.slowDown(asked),
      goOn: () => turns.goOn(),
    };
  }
}

/** The indexes of the counters. `WAITED` is in microseconds. */
const [RENEWALS, WAITED] = [0, 1];
