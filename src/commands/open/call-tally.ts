import type { Turns } from '../../store/ports/calls.ts';
import type { TokenSlot } from '../../store/ports/tokens.ts';

/** What is counted of the calls of an application; threads share it. */
export class CallTally {
  /** For other threads. */
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

  /** How many seconds calls have waited for their turn, one added to the other. */
  get secondsWaited(): number {
    return Number(Atomics.load(this.#counts, WAITED)) / 1e6;
  }

  /** The same slot; what it stores in the place of spent tokens is counted. */
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
    };
  }

  /** The same turns; the time that is waited for them is counted. @param clock gives milliseconds */
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

/** Where in the state is what; microseconds were waited. */
const [RENEWALS, WAITED] = [0, 1];
