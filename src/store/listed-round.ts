import type { Dealt, Round, RoundNote, RoundShare } from './ports/sync.ts';

/** A round over a list of customers that the threads of one process share. */
export class ListedRound implements Round {
  readonly share: Extract<RoundShare, { customers: readonly string[] }>;
  readonly #note: (done: RoundNote) => void;
  /** Customers of this thread who get another turn. */
  readonly #again: string[] = [];

  /** @param note stores the progress for `psd2 sync status` */
  constructor(
    customers: readonly string[],
    counters = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)),
    note: (done: RoundNote) => void = () => {},
  ) {
    this.share = { customers, taken: counters };
    this.#note = note;
  }

  get size(): number {
    return this.share.customers.length;
  }

  async next(): Promise<Dealt | 'over'> {
    const { customers, taken: counters } = this.share;
    const customerId = customers[Atomics.add(counters, TAKEN, 1)] ?? this.#again.shift();
    if (customerId === undefined) return 'over';
    return {
      customerId,
      finish: async () => void Atomics.add(counters, FINISHED, 1),
      again: () => void this.#again.push(customerId),
    };
  }

  async counts(): Promise<{ due: number; atWork: number }> {
    const dealt = Math.min(this.size, Atomics.load(this.share.taken, TAKEN));
    return { due: this.size - dealt, atWork: dealt - Atomics.load(this.share.taken, FINISHED) };
  }

  async note(done: RoundNote): Promise<void> {
    this.#note(done);
  }

  async leave(): Promise<void> {}
}

/** The indexes of the shared state. */
const [TAKEN, FINISHED] = [0, 1];
