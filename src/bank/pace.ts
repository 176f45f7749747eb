/**
 * When the calls of this process may go to a bank that limits how many it takes (interface specification,
 * "Limits": HTTP 420). One that is turned away holds up all the others, since the bank counts them together:
 * they wait, and then go one after the other, at first far apart, with every answer closer
 * together again.
 */
export class Pace {
  readonly #clock: () => number;
  readonly #sleep: (milliseconds: number) => Promise<void>;
  readonly #random: () => number;
  /** No call begins before this time of the clock. */
  #nextTurn = 0;
  /** Between the beginnings of two calls, in milliseconds. */
  #gap = 0;
  #turns = 0;
  #heldUntil = 0;
  /** How often all calls were held up since the bank last took one. */
  #holds = 0;

  /** @param world `clock` gives milliseconds, and nobody puts it forward or back; `random` gives from 0 to 1 */
  constructor(world: {
    clock: () => number;
    sleep: (milliseconds: number) => Promise<void>;
    random: () => number;
  }) {
    this.#clock = world.clock;
    this.#sleep = world.sleep;
    this.#random = world.random;
  }

  /** How many calls had their turn. */
  get turns(): number {
    return this.#turns;
  }

  /** Resolves when the next call may begin. @throws what `sleep` throws when the operator interrupts */
  async turn(): Promise<void> {
    for (let held = -1; held !== this.#heldUntil; ) {
      held = this.#heldUntil;
      const now = this.#clock();
      const turn = Math.max(now, this.#nextTurn);
      this.#nextTurn = turn + this.#gap;
      // Another call may be turned away meanwhile; then this one waits again.
      if (turn > now) await this.#sleep(turn - now);
    }
    this.#turns += 1;
  }

  /**
   * The bank has turned a call away. All are held up as long as it asked, or twice as long as the last time.
   *
   * @param asked milliseconds that the bank wants to be left alone, or null when it did not say
   */
  slowDown(asked: number | null): void {
    const now = this.#clock();
    // Calls that were under way together are turned away together: that is one refusal.
    if (now < this.#heldUntil) return;
    const hold = asked ?? Math.min(FIRST_HOLD * 2 ** this.#holds * (0.5 + this.#random()), LONGEST_HOLD);
    this.#holds += 1;
    this.#heldUntil = now + hold;
    this.#nextTurn = Math.max(this.#nextTurn, this.#heldUntil);
    this.#gap = Math.min(Math.max(this.#gap * 2, SHORTEST_GAP), LONGEST_GAP);
  }

  /** The bank has taken a call. */
  goOn(): void {
    this.#holds = 0;
    this.#gap = this.#gap < SHORTEST_GAP / 2 ? 0 : this.#gap * 0.9;
  }
}

const FIRST_HOLD = 250;
const LONGEST_HOLD = 30_000;
const SHORTEST_GAP = 20;
const LONGEST_GAP = 2_000;
