import {
  addCall,
  addCounts,
  type CountedCall,
  type Counts,
  type Down,
  Downtime,
  noCounts,
  type StatKind,
} from './stats.ts';

/** What was counted of a day at a bank, a kind of calls and a route. No line has an id. */
export interface RollUp {
  day: string;
  profile: string;
  host: string;
  kind: StatKind;
  route: string;
  smoke: boolean;
  counts: Counts;
  /** The day has ended: all its calls were counted. Absent: these are of a part of the day. */
  whole?: true | undefined;
}

/** When a bank was down. */
export interface DownLine {
  profile: string;
  host: string;
  down: Down;
}

/** Counts calls by day, bank, kind and route. */
export class Counter {
  readonly #lines = new Map<string, RollUp>();
  readonly #dayOf: (at: string) => string;

  /** @param dayOf the day of a time: ISO 8601, UTC */
  constructor(dayOf: (at: string) => string) {
    this.#dayOf = dayOf;
  }

  add(call: CountedCall & { profile: string }): void {
    const { profile, host, kind, route, method, isSmoke: smoke } = call;
    addCall(
      this.#of({ day: this.#dayOf(call.at), profile, host, kind, route: `${method} ${route}`, smoke }).counts,
      call,
    );
  }

  /** Adds what was counted before. */
  addLine(line: RollUp): void {
    addCounts(this.#of(line).counts, line.counts);
  }

  get lines(): RollUp[] {
    return [...this.#lines.values()];
  }

  #of({ day, profile, host, kind, route, smoke }: Omit<RollUp, 'counts'>): RollUp {
    const key = `${day}\0${profile}\0${host}\0${kind}\0${route}\0${smoke}`;
    const existing = this.#lines.get(key);
    if (existing) return existing;
    const line = { day, profile, host, kind, route, smoke, counts: noCounts() };
    this.#lines.set(key, line);
    return line;
  }
}

/** Finds when banks were down. The calls may come in any order. */
export class DownFinder {
  longestGap = 0;
  readonly #banks = new Map<string, Downtime>();
  readonly #serverErrorsAreDown: boolean;

  constructor(serverErrorsAreDown = false) {
    this.#serverErrorsAreDown = serverErrorsAreDown;
  }

  add(call: CountedCall & { profile: string }): void {
    const key = `${call.profile}\u{0}${call.host}`;
    const bank = this.#banks.get(key) ?? new Downtime(this.#serverErrorsAreDown);
    if (!this.#banks.has(key)) this.#banks.set(key, bank);
    bank.add(call);
  }

  find(): DownLine[] {
    return [...this.#banks].flatMap(([key, bank]) => {
      const [profile = '', host = ''] = key.split('\u{0}');
      const downs = bank.find();
      this.longestGap = Math.max(this.longestGap, bank.longestGap);
      return downs.map((down) => ({ profile, host, down }));
    });
  }
}
