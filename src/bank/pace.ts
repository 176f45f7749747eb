/**
 * When the calls of this process may go to a bank that limits how many it takes (interface specification,
 * "Limits": HTTP 420). One that is turned away holds up all the others, since the bank counts them together:
 * they wait as long as it asked, and then go one after the other, at first far apart, with every answer closer
 * together again.
 */
export class Pace {
  readonly #now: () => Date;
  readonly #sleep: (milliseconds: number) => Promise<void>;
  /** No call begins before this time, in milliseconds since 1970. */
  #nextTurn = 0;
  /** Between the beginnings of two calls, in milliseconds. */
  #gap = 0;
  #turns = 0;
  /** How often the bank has turned a call away. */
  #refusals = 0;

  constructor(world: { now: () => Date; sleep: (milliseconds: number) => Promise<void> }) {
    this.#now = world.now;
    this.#sleep = world.sleep;
  }

  /** How many calls had their turn. */
  get turns(): number {
    return this.#turns;
  }

  /** Resolves when the next call may begin. @throws what `sleep` throws when the operator interrupts */
  async turn(): Promise<void> {
    for (let refusals = -1; refusals !== this.#refusals; ) {
      refusals = this.#refusals;
      const now = this.#now().getTime();
      const turn = Math.max(now, this.#nextTurn);
      this.#nextTurn = turn + this.#gap;
      // Another call may be turned away meanwhile; then this one waits again.
      if (turn > now) await this.#sleep(turn - now);
    }
    this.#turns += 1;
  }

  /** The bank has turned a call away. @param milliseconds how long it is left alone */
  slowDown(milliseconds: number): void {
    this.#refusals += 1;
    this.#nextTurn = Math.max(this.#nextTurn, this.#now().getTime() + milliseconds);
    this.#gap = Math.min(Math.max(this.#gap * 2, SHORTEST_GAP), LONGEST_GAP);
  }

  /** The bank has taken a call. */
  goOn(): void {
    this.#gap = this.#gap < SHORTEST_GAP / 2 ? 0 : this.#gap * 0.9;
  }
}

const SHORTEST_GAP = 20;
const LONGEST_GAP = 2_000;
