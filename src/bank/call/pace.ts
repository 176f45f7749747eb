import type { OwnPace, PaceState } from '../ports/call.ts';

function newPaceState(): PaceState {
  return new SharedArrayBuffer((1 + FIELDS) * Float64Array.BYTES_PER_ELEMENT);
}

/** The indexes of the fields in the state. The first eight bytes are the lock. */
const [NEXT_TURN, GAP, TURNS, HELD_UNTIL, HOLDS, FIELDS] = [0, 1, 2, 3, 4, 5];

/**
 * Decides when calls may go to a bank that limits them (interface specification, "Limits": HTTP 420). The bank counts all
 * calls together, so after one is refused all calls wait. Then they go one by one, with a gap that becomes shorter with each
 * accepted call. Threads that call the same bank share one state.
 */
export class Pace implements OwnPace {
  /** The state, to share with other threads. */
  readonly state: PaceState;
  readonly #clock: () => number;
  readonly #sleep: (milliseconds: number) => Promise<void>;
  readonly #random: () => number;
  readonly #lock: Int32Array<SharedArrayBuffer>;
  readonly #fields: Float64Array<SharedArrayBuffer>;

  /**
   * @param world `clock` gives monotonic milliseconds, the same in all threads that share a state. `random` gives 0 to 1
   */
  constructor(
    world: {
      clock: () => number;
      sleep: (milliseconds: number) => Promise<void>;
      random: () => number;
    },
    state: PaceState = newPaceState(),
  ) {
    this.state = state;
    this.#clock = world.clock;
    this.#sleep = world.sleep;
    this.#random = world.random;
    this.#lock = new Int32Array(state, 0, 1);
    this.#fields = new Float64Array(state, Float64Array.BYTES_PER_ELEMENT, FIELDS);
  }

  /** The number of calls that had their turn. */
  get turns(): number {
    return this.#turns;
  }

  /** Resolves when the next call may start. @throws what `sleep` throws if the operator interrupts */
  async turn(): Promise<void> {
    for (let held = -1; held !== this.#heldUntil; ) {
      const wait = this.#alone(() => {
        held = this.#heldUntil;
        const now = this.#clock();
        const turn = Math.max(now, this.#nextTurn);
        this.#nextTurn = turn + this.#gap;
        return turn - now;
      });
      // If another call is refused in the meantime, this one waits again.
      if (wait > 0) await this.#sleep(wait);
    }
    this.#alone(() => {
      this.#turns += 1;
    });
  }

  /**
   * The bank refused a call because of its limit. All calls wait as long as the bank asked, or twice as long as last time.
   *
   * @param delay the delay in milliseconds that the bank asked for, or null
   */
  async slowDown(delay: number | null): Promise<void> {
    this.#alone(() => {
      const now = this.#clock();
      // Calls that ran at the same time are refused at the same time. Count them as one refusal.
      if (now < this.#heldUntil) return;
      const hold = delay ?? Math.min(FIRST_HOLD * 2 ** this.#holds * (0.5 + this.#random()), LONGEST_HOLD);
      this.#holds += 1;
      this.#heldUntil = now + hold;
      this.#nextTurn = Math.max(this.#nextTurn, this.#heldUntil);
      this.#gap = Math.min(Math.max(this.#gap * 2, SHORTEST_GAP), LONGEST_GAP);
    });
  }

  /** The bank accepted a call. */
  async goOn(): Promise<void> {
    this.#alone(() => {
      this.#holds = 0;
      this.#gap = this.#gap < SHORTEST_GAP / 2 ? 0 : this.#gap * 0.9;
    });
  }

  /** No call starts before this time of the clock. */
  get #nextTurn(): number {
    return this.#read(NEXT_TURN);
  }
  set #nextTurn(time: number) {
    this.#fields[NEXT_TURN] = time;
  }

  /** The time between the starts of two calls, in milliseconds. */
  get #gap(): number {
    return this.#read(GAP);
  }
  set #gap(milliseconds: number) {
    this.#fields[GAP] = milliseconds;
  }

  get #turns(): number {
    return this.#read(TURNS);
  }
  set #turns(turns: number) {
    this.#fields[TURNS] = turns;
  }

  get #heldUntil(): number {
    return this.#read(HELD_UNTIL);
  }
  set #heldUntil(time: number) {
    this.#fields[HELD_UNTIL] = time;
  }

  /** How often all calls had to wait since the bank last accepted one. */
  get #holds(): number {
    return this.#read(HOLDS);
  }
  set #holds(holds: number) {
    this.#fields[HOLDS] = holds;
  }

  #read(field: number): number {
    return this.#fields[field] ?? 0;
  }

  /** Runs `work` on the state, in one thread at a time. */
  #alone<T>(work: () => T): T {
    while (Atomics.compareExchange(this.#lock, 0, 0, 1) !== 0) Atomics.wait(this.#lock, 0, 1, 1);
    try {
      return work();
    } finally {
      Atomics.store(this.#lock, 0, 0);
    }
  }
}

const FIRST_HOLD = 250;
const LONGEST_HOLD = 30_000;
const SHORTEST_GAP = 20;
const LONGEST_GAP = 2_000;
